package dev.parley.engine.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.Priority;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

final class PrioritizedQueueTest {
    @Test
    void aPriorityThatBeginsToWaitIsServedNextIfItIsTheHighest() {
        var queue = new PrioritizedQueue<Priority>(priority -> priority);
        fill(queue, Priority.LOW, 100);
        for (int i = 0; i < 50; i++) {
            assertThat(queue.poll()).isEqualTo(Priority.LOW);
        }

        queue.add(Priority.CRITICAL);

        assertThat(queue.peek()).isEqualTo(Priority.CRITICAL);
        assertThat(queue.poll()).isEqualTo(Priority.CRITICAL);
        assertThat(queue).hasSize(50);
    }

    @Test
    void eachPriorityGetsItsShareAndNoneIsStarved() {
        var queue = new PrioritizedQueue<Priority>(priority -> priority);
        for (Priority priority : Priority.values()) {
            fill(queue, priority, 1_000);
        }
        Map<Priority, Integer> served = new EnumMap<>(Priority.class);
        for (int i = 0; i < 150; i++) {
            served.merge(queue.remove(), 1, Integer::sum);
        }

        assertThat(served)
                .containsEntry(Priority.CRITICAL, 80)
                .containsEntry(Priority.HIGH, 40)
                .containsEntry(Priority.MEDIUM, 20)
                .containsEntry(Priority.LOW, 10);
    }

    @Test
    void elementsOfOnePriorityKeepTheirOrder() {
        var queue = new PrioritizedQueue<Integer>(number -> number % 2 == 0 ? Priority.HIGH : Priority.LOW);
        for (int i = 0; i < 10; i++) {
            queue.add(i);
        }

        assertThat(queue.stream().filter(number -> number % 2 == 0)).isSorted();
        Integer before = -2;
        for (Integer next = queue.poll(); next != null; next = queue.poll()) {
            if (next % 2 == 0) {
                assertThat(next).isEqualTo(before + 2);
                before = next;
            }
        }
        assertThat(queue.poll()).isNull();
    }

    @Test
    void theLastOfSeveralSlotsIsForCriticalElements() {
        var slots = new Slots<Priority>(4, 10, new ReentrantLock(), priority -> priority);

        for (int ordinary = 0; ordinary < 3; ordinary++) {
            assertThat(slots.take("one", Priority.LOW)).isTrue();
        }
        assertThat(slots.take("one", Priority.HIGH)).isFalse();
        enqueue(slots, "one", Priority.HIGH);
        assertThat(slots.next()).isNull();
        enqueue(slots, "other", Priority.CRITICAL);
        assertThat(slots.next()).isEqualTo(Priority.CRITICAL);
        slots.giveBack("other");
        slots.giveBack("one");
        assertThat(slots.next()).isEqualTo(Priority.HIGH);
    }

    @Test
    void ofFewSlotsNoneIsKept() {
        var slots = new Slots<Priority>(3, 10, new ReentrantLock(), priority -> priority);

        for (int ordinary = 0; ordinary < 3; ordinary++) {
            assertThat(slots.take("group " + ordinary, Priority.LOW)).isTrue();
        }
    }

    @Test
    void aGroupGainsNothingOverOthersByCallingItsElementsCritical() {
        var slots = new Slots<Priority>(1, 1_000, new ReentrantLock(), priority -> priority);
        assertThat(slots.take("first", Priority.LOW)).isTrue();
        for (int i = 0; i < 20; i++) {
            enqueue(slots, "loud", Priority.CRITICAL);
            enqueue(slots, "quiet", Priority.LOW);
        }
        slots.giveBack("first");
        int quiet = 0;
        for (int i = 0; i < 20; i++) {
            Priority next = slots.next();
            quiet += next == Priority.LOW ? 1 : 0;
            slots.giveBack(next == Priority.LOW ? "quiet" : "loud");
        }

        assertThat(quiet).isEqualTo(10);
    }

    private static void enqueue(Slots<Priority> slots, String group, Priority priority) {
        assertThat(slots.takePlace(group, true)).isTrue();
        slots.enqueue(group, priority);
    }

    private static void fill(PrioritizedQueue<Priority> queue, Priority priority, int count) {
        for (int i = 0; i < count; i++) {
            queue.add(priority);
        }
    }
}

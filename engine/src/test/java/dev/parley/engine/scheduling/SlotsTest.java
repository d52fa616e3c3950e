package dev.parley.engine.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

final class SlotsTest {
    @Test
    void aGroupThatTakesAllItCanLeavesSlotsToTheOthers() {
        var slots = new Slots<String>(1_000, 10_000, new ReentrantLock());

        assertThat(take(slots, "greedy")).isEqualTo(875);
        assertThat(take(slots, "second")).isEqualTo(110);
        assertThat(slots.take("third")).isTrue();
    }

    @Test
    void aGroupMayTakeAllOfAFewSlots() {
        var slots = new Slots<String>(4, 10, new ReentrantLock());

        assertThat(take(slots, "only")).isEqualTo(4);
        assertThat(slots.take("other")).isFalse();
        slots.giveBack("only");
        assertThat(slots.take("other")).isTrue();
    }

    @Test
    void aGroupThatWaitsForMoreThanItsShareDelaysNoOther() {
        var slots = new Slots<String>(1_000, 10_000, new ReentrantLock());
        take(slots, "greedy");
        enqueue(slots, "greedy", "too much");
        enqueue(slots, "other", "one");

        assertThat(slots.next()).isEqualTo("one");
        assertThat(slots.next()).isNull();
        slots.giveBack("greedy");
        slots.giveBack("greedy");
        assertThat(slots.next()).isEqualTo("too much");
    }

    @Test
    void aGroupThatFillsTheQueueLeavesPlacesToTheOthers() {
        var slots = new Slots<String>(1, 100, new ReentrantLock());
        slots.take("greedy");
        int places = 0;
        while (slots.takePlace("greedy", true)) {
            places++;
        }

        assertThat(places).isBetween(80, 90);
        assertThat(slots.takePlace("other", true)).isTrue();
        assertThat(slots.load()).isEqualTo(new Slots.Load(1, places + 1));
    }

    private static int take(Slots<String> slots, String group) {
        int taken = 0;
        while (slots.take(group)) {
            taken++;
        }
        return taken;
    }

    private static void enqueue(Slots<String> slots, String group, String element) {
        assertThat(slots.takePlace(group, true)).isTrue();
        slots.enqueue(group, element);
    }
}

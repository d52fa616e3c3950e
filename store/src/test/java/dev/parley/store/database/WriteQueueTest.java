package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WriteQueueTest {
    private record Named(String group, String name, boolean isBarrier) implements Work {
        static Named of(String name) {
            return new Named(name.substring(0, 1), name, false);
        }

        static Named barrier(String name) {
            return new Named("", name, true);
        }

        @Override
        public void write(DatabaseSession session) {}

        @Override
        public void committed() {}

        @Override
        public void failed(Exception cause) {}

        @Override
        public boolean isPatient() {
            return name.endsWith("~");
        }
    }

    private final WriteQueue queue = new WriteQueue(80);

    private void add(String... names) {
        for (String name : names) {
            assertThat(queue.add(Named.of(name))).isTrue();
        }
    }

    private List<String> take(int most) throws InterruptedException {
        var taken = new ArrayDeque<Work>();
        queue.take(taken, most, 0);
        return taken.stream().map(work -> ((Named) work).name()).toList();
    }

    @Test
    void groupsTakeTurnsAndKeepTheirOrder() throws InterruptedException {
        add("a1", "a2", "a3", "b1", "c1", "b2");

        assertThat(take(4)).containsExactly("a1", "b1", "c1", "a2");
        add("d1");
        assertThat(take(10)).containsExactly("b2", "a3", "d1");
        assertThat(take(10)).isEmpty();
    }

    @Test
    void whatWasNotWrittenComesBeforeTheRestOfItsGroupAndAfterOtherGroups() throws InterruptedException {
        add("a1", "a2", "a3", "a4");
        var taken = new ArrayDeque<Work>();
        queue.take(taken, 3, 0);
        add("b1");

        taken.remove();
        queue.giveBack(taken);

        assertThat(queue.size()).isEqualTo(4);
        assertThat(take(10)).containsExactly("b1", "a2", "a3", "a4");
    }

    @Test
    void aBarrierIsWrittenBetweenWhatCameBeforeAndWhatCameAfter() throws InterruptedException {
        add("a1", "b1");
        queue.addUnbounded(Named.barrier("all"));
        add("b2", "a2");

        assertThat(take(10)).containsExactly("a1", "b1");
        assertThat(take(10)).containsExactly("all");
        assertThat(take(10)).containsExactly("b2", "a2");
    }

    @Test
    void aBarrierThatIsRemovedHoldsUpNothing() throws InterruptedException {
        Named barrier = Named.barrier("all");
        add("a1");
        queue.addUnbounded(barrier);
        add("a2");

        assertThat(queue.remove(barrier)).isTrue();
        assertThat(queue.remove(barrier)).isFalse();

        assertThat(take(10)).containsExactly("a1");
        assertThat(take(10)).containsExactly("a2");
        assertThat(queue.size()).isZero();
    }

    @Test
    void aGroupLeavesRoomForOthers() {
        int own = 0;
        while (queue.add(Named.of("a"))) {
            own++;
        }

        assertThat(own).isEqualTo(70);
        add("b1", "c1");
    }

    private List<String> await(int most) throws InterruptedException {
        var taken = new ArrayDeque<Work>();
        queue.take(taken, most, Long.MAX_VALUE);
        return taken.stream().map(work -> ((Named) work).name()).toList();
    }

    @Test
    void aGroupWhoseWorkTookLongDoesNotHoldUpEachWorkOfAnother() throws InterruptedException {
        add("b1", "a1");
        assertThat(await(10)).containsExactly("b1", "a1");
        queue.rest("a", Duration.ofMinutes(1).toNanos());
        add("a2", "a3", "b2");

        assertThat(await(10)).containsExactly("b2");
        add("b3");
        assertThat(await(10)).containsExactly("b3");
        assertThat(await(1)).as("when no other group has written for a second").containsExactly("a2");
        assertThat(await(10)).containsExactly("a3");
    }

    @Test
    void aGroupRestsOnlyForSevenTimesAsLongAsItsWorkTook() throws InterruptedException {
        add("b1", "a1");
        assertThat(await(10)).hasSize(2);
        long begun = System.nanoTime();
        queue.rest("a", Duration.ofMillis(10).toNanos());
        add("a2");

        assertThat(await(10)).containsExactly("a2");
        assertThat(System.nanoTime() - begun)
                .isGreaterThanOrEqualTo(Duration.ofMillis(70).toNanos());
    }

    @Test
    void aGroupWithoutOthersDoesNotRest() throws InterruptedException {
        add("a1");
        assertThat(await(10)).hasSize(1);
        queue.rest("a", Duration.ofMinutes(1).toNanos());
        add("a2");

        assertThat(await(10)).containsExactly("a2");
    }

    @Test
    void aBarrierDoesNotWaitForGroupsThatRest() throws InterruptedException {
        add("b1", "a1");
        assertThat(await(10)).hasSize(2);
        queue.rest("a", Duration.ofMinutes(1).toNanos());
        add("a2", "b2");
        queue.addUnbounded(Named.barrier("all"));

        assertThat(await(10)).containsExactly("a2", "b2");
        assertThat(await(10)).containsExactly("all");
    }

    @Test
    void patientWorksWaitForOneThatIsNot() throws InterruptedException {
        add("a1~", "b1~", "a2");

        assertThat(await(10)).containsExactly("a1~", "b1~", "a2");
        assertThat(queue.size()).isZero();
    }

    @Test
    void patientWorksAloneAreTakenTogetherWhenTheirTimeIsOver() throws InterruptedException {
        long begun = System.nanoTime();
        add("a1~", "a2~");

        assertThat(await(10)).containsExactly("a1~", "a2~");
        assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(WriteQueue.PATIENCE_NANOS);
    }
}

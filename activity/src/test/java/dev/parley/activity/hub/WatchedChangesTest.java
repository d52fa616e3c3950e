package dev.parley.activity.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.hub.WatchedChanges.Newest;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditPosition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The newest changes of a group, over numbered changes in memory. */
@Timeout(60)
class WatchedChangesTest {
    private static final Scope SCOPE = new Scope("sales", "ann");
    private static final Instant AT = Instant.parse("2026-11-27T06:00:00Z");
    private static final long PATIENCE = Duration.ofSeconds(20).toNanos();

    /** Changes that a test adds. Counts its reads. */
    private static final class Numbered implements Moves {
        private final List<Move> all = new CopyOnWriteArrayList<>();
        private final AtomicInteger reads = new AtomicInteger();

        void add(String taskId, TaskState state) {
            all.add(new Move(
                    SCOPE,
                    new Change(
                            all.size() + 1L,
                            null,
                            AT,
                            Change.Kind.TASK,
                            taskId,
                            "echo",
                            "context",
                            state,
                            null,
                            "ann",
                            null,
                            SCOPE.group(),
                            null,
                            null),
                    AuditPosition.of(all.size() + 1L)));
        }

        @Override
        public Page after(@Nullable String group, @Nullable String taskId, AuditPosition place, int limit) {
            reads.incrementAndGet();
            List<Move> moves = all.stream()
                    .filter(move -> !place.includes(move.change().number()))
                    .filter(move ->
                            taskId == null || taskId.equals(move.change().taskId()))
                    .limit(limit)
                    .toList();
            return new Page(moves, moves.isEmpty() ? place : moves.getLast().place(), moves.size() < limit, false);
        }

        @Override
        public AuditPosition newest() {
            return AuditPosition.of(all.size());
        }
    }

    private static TaskKey task(String id) {
        return new TaskKey(SCOPE, "echo", id);
    }

    private static Moves.Move progress(String taskId) {
        return new Moves.Move(SCOPE, Change.progress(AT, taskId, "echo", SCOPE.group(), "forty percent"));
    }

    private static Newest awaited(WatchedChanges tail, Predicate<Newest> wanted) throws InterruptedException {
        Newest newest = tail.newest();
        while (!wanted.test(newest)) {
            newest = requireNonNull(tail.await(() -> false, newest.reads(), newest.place(), PATIENCE));
        }
        return newest;
    }

    @Test
    void watchersThatAreBehindShareTheirReads() throws InterruptedException {
        var source = new Numbered();
        for (int i = 0; i < 5_000; i++) {
            source.add("task-" + i, TaskState.COMPLETED);
        }
        var tail = new WatchedChanges(source, SCOPE.group(), source.newest());

        for (int watcher = 0; watcher < 200; watcher++) {
            AuditPosition place = AuditPosition.of(watcher * 7L);
            var numbers = new ArrayList<Long>();
            while (!place.includes(tail.newest().from())) {
                Moves.Page page = tail.after(place, null);
                page.moves().forEach(move -> numbers.add(move.change().number()));
                place = page.next();
            }
            assertThat(numbers).hasSize(5_000 - watcher * 7).isSorted().doesNotHaveDuplicates();
        }
        assertThat(source.reads).hasValueLessThan(20);
        assertThat(tail.after(AuditPosition.BEGINNING, "task-4999").moves())
                .extracting(move -> move.change().number())
                .containsExactly(5_000L);
    }

    @Test
    void changesComeToWatchersInOrderAndFromMemory() throws InterruptedException {
        var source = new Numbered();
        var tail = new WatchedChanges(source, SCOPE.group(), AuditPosition.BEGINNING);
        tail.enter();
        try {
            for (int i = 0; i < 1_200; i++) {
                source.add("task-" + i, TaskState.COMPLETED);
                tail.changed();
            }

            Newest newest = awaited(tail, each -> each.read().includes(1_200));
            assertThat(newest.moves(0)).hasSize(1_200);
            assertThat(newest.moves(1_000))
                    .extracting(move -> move.change().number())
                    .hasSize(200)
                    .startsWith(1_001L)
                    .isSorted();
            assertThat(newest.moves(1_200)).isEmpty();
        } finally {
            assertThat(tail.leave()).isTrue();
        }
    }

    @Test
    void progressOfATaskDoesNotComeBehindItsEnd() throws InterruptedException {
        var source = new Numbered();
        var tail = new WatchedChanges(source, SCOPE.group(), AuditPosition.BEGINNING);
        tail.enter();
        try {
            tail.note(task("one"), () -> progress("one"));
            tail.note(task("two"), () -> progress("two"));
            assertThat(awaited(tail, each -> each.place() == 2).notes(0)).hasSize(2);

            source.add("one", TaskState.COMPLETED);
            tail.changed();
            assertThat(awaited(tail, each -> each.read().includes(1)).notes(0))
                    .extracting(note -> note.move().change().taskId())
                    .containsExactly("two");

            tail.note(task("one"), () -> progress("one"));
            tail.note(task("three"), () -> progress("three"));
            assertThat(awaited(tail, each -> each.place() == 3).notes(2))
                    .extracting(note -> note.move().change().taskId())
                    .containsExactly("three");
        } finally {
            tail.close();
        }
    }

    @Test
    void notesThatAreLeftOutAreTold() throws InterruptedException {
        var source = new Numbered();
        var tail = new WatchedChanges(source, SCOPE.group(), AuditPosition.BEGINNING);
        for (int i = 0; i < 2_000; i++) { // before there is a reader, which would take them
            String id = "task-" + i;
            tail.note(task(id), () -> progress(id));
        }
        tail.enter();
        try {
            Newest newest = awaited(tail, each -> each.place() > 0);
            assertThat(newest.dropped()).isPositive();
            assertThat(newest.notes()).hasSizeLessThanOrEqualTo(1_024);
        } finally {
            tail.close();
        }
        assertThat(tail.await(() -> false, 0, 0, PATIENCE)).isNull();
    }
}

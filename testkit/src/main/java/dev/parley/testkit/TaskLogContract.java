package dev.parley.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Claim;
import dev.parley.engine.spi.TaskLog.Count;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Naming;
import dev.parley.engine.spi.TaskLog.Page;
import dev.parley.engine.spi.TaskLog.Position;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.Selection;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract test of {@link TaskLog}. A subclass opens the log. */
public abstract class TaskLogContract {
    private static final Scope ALICE = new Scope("t1", "alice");
    private static final MessageKey MESSAGE = new MessageKey(ALICE, "agent", "m-1");
    private static final Scope MALLORY = new Scope("t2", "mallory");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final SettableClock clock = new SettableClock(START);
    private TaskLog log = new MemoryTaskLog();

    /** Opens an empty log. */
    protected abstract TaskLog open(InstantSource clock, Once once) throws Exception;

    @BeforeEach
    final void openLog() throws Exception {
        log = open(clock, Once.INDEX);
    }

    private void openForClaims() throws Exception {
        log.close();
        log = open(clock, Once.CLAIM);
    }

    @AfterEach
    final void closeLog() {
        log.close();
    }

    @Test
    void whatWasWrittenIsReadBackInOrder() {
        TaskKey key = key(ALICE, "task-1");
        List<TaskEvent> events =
                List.of(created(key), chunk(key, "a"), chunk(key, "b"), moved(key, TaskState.COMPLETED));

        write(key, 1, events.subList(0, 2));
        write(key, 3, events.subList(2, 4));

        assertThat(log.read(key, 0, 100)).extracting(LoggedEvent::event).containsExactlyElementsOf(events);
        assertThat(log.read(key, 0, 100)).extracting(LoggedEvent::sequence).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void aReadBeginsBehindAnyEventAndEndsAtItsLimit() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key), chunk(key, "a"), chunk(key, "b")));
        write(key, 4, List.of(chunk(key, "c"), chunk(key, "d")));

        assertThat(sequences(log.read(key, 1, 100))).containsExactly(2L, 3L, 4L, 5L);
        assertThat(sequences(log.read(key, 2, 2))).containsExactly(3L, 4L);
        assertThat(sequences(log.read(key, 3, 1))).containsExactly(4L);
        assertThat(log.read(key, 5, 100)).isEmpty();
    }

    @Test
    void aReadOfFewBytesHasAnEventAtLeast() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key), chunk(key, "a")));
        write(key, 3, List.of(chunk(key, "b"), chunk(key, "c")));

        var read = new ArrayList<LoggedEvent>();
        List<LoggedEvent> page = log.read(key, 0, 100, 1);
        while (!page.isEmpty()) {
            read.addAll(page);
            page = log.read(key, read.getLast().sequence(), 100, 1);
        }
        assertThat(sequences(read)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(sequences(log.read(key, 0, 100, 1 << 20))).containsExactly(1L, 2L, 3L, 4L);
        assertThat(sequences(log.read(key, 1, 1, 1))).containsExactly(2L);
    }

    @Test
    void whatAnotherScopeOrAgentWroteDoesNotExist() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key)));

        assertThat(log.find(key)).isPresent();
        assertThat(log.find(key(MALLORY, "task-1"))).isEmpty();
        assertThat(log.find(ALICE.group(), "task-1").map(Head::key)).contains(key);
        assertThat(log.find("other", "task-1")).isEmpty();
        assertThat(log.find(ALICE.group(), "task-2")).isEmpty();
        assertThat(log.find(new TaskKey(ALICE, "other", "task-1"))).isEmpty();
        assertThat(log.read(key(MALLORY, "task-1"), 0, 100)).isEmpty();
        assertThat(log.list(query(MALLORY, null, null, null, null)).total()).isZero();
    }

    @Test
    void theHeadFollowsTheLastSegment() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key)));
        clock.advance(Duration.ofSeconds(5));
        write(key, 2, List.of(moved(key, TaskState.INPUT_REQUIRED)));

        assertThat(log.find(key)).contains(new Head(key, "context", TaskState.INPUT_REQUIRED, START.plusSeconds(5), 2));
    }

    @Test
    void aMessageLeadsToItsTaskForADay() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key)), MESSAGE);

        assertThat(log.taskOf(MESSAGE)).contains("task-1");
        assertThat(log.taskOf(new MessageKey(MALLORY, "agent", "m-1"))).isEmpty();
        assertThat(log.taskOf(new MessageKey(ALICE, "other", "m-1"))).isEmpty();
        // Hour by hour: a clock that jumps ahead is not accepted at once.
        for (int hour = 1; hour <= 23; hour++) {
            clock.advance(Duration.ofHours(1));
            assertThat(log.taskOf(MESSAGE)).contains("task-1");
        }
        clock.advance(Duration.ofHours(1));
        log.taskOf(MESSAGE);
        clock.advance(Duration.ofHours(1));
        assertThat(log.taskOf(MESSAGE)).isEmpty();
    }

    @Test
    void aMessageLeadsToItsTaskAlsoWhenTheClockIsPutBackOverMidnight() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key)), MESSAGE);

        clock.advance(Duration.ofMinutes(-30));

        assertThat(log.taskOf(MESSAGE)).contains("task-1");
    }

    @Test
    void aListShowsTheNewestStatusFirstAndCountsAll() {
        for (int i = 0; i < 10; i++) {
            TaskKey key = key(ALICE, "task-" + i);
            write(key, 1, List.of(created(key)));
            clock.advance(Duration.ofSeconds(1));
        }
        TaskKey oldest = key(ALICE, "task-0");
        write(oldest, 2, List.of(moved(oldest, TaskState.COMPLETED)));

        Page page = log.list(query(ALICE, null, null, null, null));

        assertThat(page.total()).isEqualTo(10);
        assertThat(ids(page)).containsExactly("task-0", "task-9", "task-8");
        Head last = page.heads().getLast();
        var position = new Position(last.statusTime(), last.key().taskId());
        assertThat(ids(log.list(query(ALICE, null, null, null, position))))
                .containsExactly("task-7", "task-6", "task-5");
    }

    @Test
    void aListIsFilteredByStateContextAndTime() {
        for (int i = 0; i < 4; i++) {
            TaskKey key = key(ALICE, "task-" + i);
            write(key, 1, List.of(created(key)));
            clock.advance(Duration.ofSeconds(1));
            if (i % 2 == 0) {
                write(key, 2, List.of(moved(key, TaskState.COMPLETED)));
            }
        }

        Page completed = log.list(query(ALICE, null, TaskState.COMPLETED, null, null));
        Page recent = log.list(query(ALICE, null, null, START.plusSeconds(3), null));

        assertThat(ids(completed)).containsExactly("task-2", "task-0");
        assertThat(completed.total()).isEqualTo(2);
        assertThat(ids(recent)).containsExactly("task-3", "task-2");
        assertThat(recent.total()).isEqualTo(2);
        assertThat(log.list(query(ALICE, "context", null, null, null)).total()).isEqualTo(4);
        assertThat(log.list(query(ALICE, "no such context", null, null, null)).total())
                .isZero();
    }

    @Test
    void aListWithoutAnOwnerHasTheTasksOfItsGroupAndAgent() {
        List<TaskKey> keys = List.of(
                key(ALICE, "task-1"),
                key(new Scope(ALICE.group(), "bob"), "task-2"),
                key(MALLORY, "task-3"),
                new TaskKey(ALICE, "other", "task-4"));
        for (TaskKey key : keys) {
            write(key, 1, List.of(created(key)));
            clock.advance(Duration.ofSeconds(1));
        }
        write(keys.getFirst(), 2, List.of(moved(keys.getFirst(), TaskState.COMPLETED)));

        Page all = log.list(new Query(ALICE.group(), null, "agent", null, null, null, null, 3));
        Page completed = log.list(new Query(ALICE.group(), null, "agent", null, TaskState.COMPLETED, null, null, 3));

        assertThat(ids(all)).containsExactly("task-1", "task-2");
        assertThat(all.total()).isEqualTo(2);
        assertThat(ids(completed)).containsExactly("task-1");
        assertThat(completed.total()).isEqualTo(1);
    }

    @Test
    void aWalkVisitsTheTasksOfAllAgentsNewestFirstAndGoesOnBehindAPosition() {
        var expected = new ArrayList<Head>();
        for (int i = 0; i < 24; i++) {
            Scope scope = i % 4 == 3 ? MALLORY : i % 5 == 0 ? new Scope(ALICE.group(), "bob") : ALICE;
            var key = new TaskKey(scope, "agent-" + i % 7, "task-%02d".formatted(i));
            write(key, 1, List.of(created(key), moved(key, i % 3 == 0 ? TaskState.COMPLETED : TaskState.WORKING)));
            expected.add(log.find(key).orElseThrow());
            clock.advance(Duration.ofMillis(i % 2)); // pairs have the same time
        }
        expected.sort(Comparator.comparing(Head::statusTime)
                .thenComparing(head -> head.key().taskId())
                .reversed());

        for (Selection selection : List.of(
                selection(null, Set.of(), Set.of()),
                selection(ALICE.group(), Set.of(), Set.of()),
                selection(ALICE.group(), Set.of(ALICE.owner(), "bob"), Set.of(TaskState.COMPLETED)),
                selection(ALICE.group(), Set.of("bob"), Set.of(TaskState.COMPLETED, TaskState.WORKING)))) {
            assertThat(walked(selection, 5))
                    .isEqualTo(expected.stream()
                            .filter(head -> selection.group() == null
                                    || selection
                                            .group()
                                            .equals(head.key().scope().group()))
                            .filter(head -> selection.owners().isEmpty()
                                    || selection
                                            .owners()
                                            .contains(head.key().scope().owner()))
                            .filter(head -> selection.states().isEmpty()
                                    || selection.states().contains(head.state()))
                            .filter(head -> !head.key().agent().equals("agent-2"))
                            .toList());
        }
        Head middle = expected.get(12);
        var until = new Selection(
                null, Set.of(), middle.key().agent(), Set.of(), "context", START, middle.statusTime(), null);
        assertThat(walked(until, 2)).first().isEqualTo(middle);
        assertThat(log.counts(null, Set.of(), "agent-1", 100).stream()
                        .mapToLong(Count::tasks)
                        .sum())
                .isEqualTo(4);
        assertThat(log.counts(ALICE.group(), Set.of("bob"), null, 100))
                .allSatisfy(count -> assertThat(count.scope().owner()).isEqualTo("bob"));
    }

    @Test
    void aWalkFindsItsTasksBehindThoseOfManyAgentsThatItDoesNotVisit() {
        var written = new ArrayList<CompletableFuture<Segment>>();
        for (int i = 0; i < 1_300; i++) { // more agents than are merged at once
            var key = new TaskKey(ALICE, (i < 100 ? "shown-" : "hidden-") + i, "task-%04d".formatted(i));
            written.add(submit(key, 1, List.of(created(key), moved(key, TaskState.COMPLETED)), null));
            clock.advance(Duration.ofMillis(1));
        }
        written.forEach(CompletableFuture::join);

        var asked = new ArrayList<String>();
        var visited = new ArrayList<String>();
        log.walk(
                selection(ALICE.group(), Set.of(), Set.of()),
                (scope, agent) -> {
                    asked.add(agent);
                    return agent.startsWith("shown-");
                },
                task -> visited.add(task.head().key().taskId()));

        assertThat(visited)
                .isEqualTo(IntStream.rangeClosed(0, 99)
                        .mapToObj(i -> "task-%04d".formatted(99 - i))
                        .toList());
        assertThat(asked).doesNotHaveDuplicates();
    }

    @Test
    void theTimesOfSegmentsAreKept() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key), moved(key, TaskState.WORKING)));
        clock.advance(Duration.ofSeconds(2));
        write(key, 3, List.of(chunk(key, "a"), chunk(key, "b")));
        clock.advance(Duration.ofSeconds(3));
        write(key, 5, List.of(moved(key, TaskState.COMPLETED)));

        assertThat(log.times(key, 1, 100))
                .containsExactly(
                        Map.entry(1L, START), Map.entry(3L, START.plusSeconds(2)), Map.entry(5L, START.plusSeconds(5)));
        assertThat(log.times(key, 4, 100)).containsOnlyKeys(3L, 5L);
        assertThat(log.times(key, 4, 1)).containsOnlyKeys(3L);
        assertThat(log.times(key(MALLORY, "task-1"), 1, 100)).isEmpty();
    }

    private static Selection selection(@Nullable String group, Set<String> owners, Set<TaskState> states) {
        return new Selection(group, owners, null, states, null, null, null, null);
    }

    /** Walks over all tasks but those of an agent, a few at a time. */
    private List<Head> walked(Selection selection, int size) {
        var all = new ArrayList<Head>();
        Selection rest = selection;
        while (true) {
            var page = new ArrayList<Listed>();
            log.walk(rest, (scope, agent) -> !agent.equals("agent-2"), task -> page.add(task) && page.size() < size);
            if (page.isEmpty()) {
                return all;
            }
            page.forEach(task -> all.add(task.head()));
            assertThat(page).extracting(Listed::caller).containsOnly(SegmentWriter.CAUSE.caller());
            Head last = page.getLast().head();
            rest = rest.after(new Position(last.statusTime(), last.key().taskId()));
        }
    }

    @Test
    void tasksWithTheSameStatusTimeAreListedOnceEach() {
        for (int i = 0; i < 9; i++) {
            TaskKey key = key(ALICE, "task-" + i);
            write(key, 1, List.of(created(key)));
        }

        var seen = new ArrayList<String>();
        Position position = null;
        Page page;
        do {
            page = log.list(query(ALICE, null, null, null, position));
            seen.addAll(ids(page));
            position = page.heads().isEmpty()
                    ? null
                    : new Position(
                            page.heads().getLast().statusTime(),
                            page.heads().getLast().key().taskId());
        } while (position != null);

        assertThat(seen).hasSize(9).doesNotHaveDuplicates();
    }

    @Test
    void tasksThatHaveNotEndedNorWaitForTheirCallerAreUnfinished() {
        for (TaskState state : TaskState.values()) {
            TaskKey key = key(ALICE, "task-" + state);
            write(key, 1, List.of(created(key), moved(key, state)));
        }

        assertThat(log.unfinished())
                .extracting(head -> head.key().taskId())
                .containsExactlyInAnyOrder("task-UNSPECIFIED", "task-SUBMITTED", "task-WORKING");
    }

    @Test
    void endedTasksAreRemovedOldestFirstWithAllThatBelongsToThem() {
        var message = new MessageKey(ALICE, "agent", "m-0");
        for (int i = 0; i < 5; i++) {
            TaskKey key = key(ALICE, "task-" + i);
            TaskState state = i == 4 ? TaskState.WORKING : TaskState.COMPLETED;
            if (i == 0) {
                write(key, 1, List.of(created(key), moved(key, state)), message);
            } else {
                write(key, 1, List.of(created(key), moved(key, state)));
            }
            clock.advance(Duration.ofSeconds(1));
        }

        assertThat(log.removeEnded(clock.instant(), 3)).isEqualTo(3);

        assertThat(log.find(key(ALICE, "task-0"))).isEmpty();
        assertThat(log.read(key(ALICE, "task-0"), 0, 100)).isEmpty();
        assertThat(log.taskOf(message)).isEmpty();
        assertThat(ids(log.list(query(ALICE, null, null, null, null)))).containsExactly("task-4", "task-3");
        assertThat(log.list(query(ALICE, null, null, null, null)).total()).isEqualTo(2);
        assertThat(log.removeEnded(clock.instant(), 3)).isEqualTo(1);
        assertThat(log.removeEnded(clock.instant(), 3)).isZero();
    }

    @Test
    void tasksAboutSomebodyAreFoundAndErased() {
        var message = new MessageKey(ALICE, "agent", "m-0");
        TaskKey hers = key(ALICE, "task-1");
        TaskKey another = key(ALICE, "task-2");
        TaskKey his = key(MALLORY, "task-3");
        write(hers, 1, List.of(created(hers)), message);
        write(another, 1, List.of(created(another), moved(another, TaskState.COMPLETED)));
        write(his, 1, List.of(created(his)));
        var alice = new Subject(ALICE.group(), ALICE.owner(), null);

        assertThat(log.about(alice, null, 9)).extracting(Head::key).containsExactly(hers, another);
        assertThat(log.about(alice, "task-1", 9)).extracting(Head::key).containsExactly(another);
        assertThat(log.about(new Subject("elsewhere", ALICE.owner(), null), null, 9))
                .isEmpty();
        assertThat(log.about(new Subject(ALICE.group(), null, "no such context"), null, 9))
                .isEmpty();
        String context = log.about(alice, null, 1).getFirst().contextId();
        assertThat(log.about(new Subject(ALICE.group(), null, context), null, 9))
                .isNotEmpty();

        log.erase(List.of(hers, another));

        assertThat(log.about(alice, null, 9)).isEmpty();
        assertThat(log.find(hers)).isEmpty();
        assertThat(log.read(hers, 0, 100)).isEmpty();
        assertThat(log.taskOf(message)).isEmpty();
        assertThat(log.list(query(ALICE, null, null, null, null)).total()).isZero();
        assertThat(log.find(his)).isPresent();
    }

    @Test
    void aForgottenPrincipalKeepsTheTasksThatItHas() {
        var name = new TaskName(ALICE, "agent", "mine");
        TaskKey named = key(ALICE, "task-1");
        TaskKey said = key(ALICE, "task-2");
        write(named, 1, List.of(created(named)), name);
        write(said, 1, List.of(created(said)), MESSAGE);

        log.forget(ALICE.group(), ALICE.owner());

        assertThat(log.taskNamed(name)).contains("task-1");
        assertThat(log.taskOf(MESSAGE)).contains("task-2");
        assertThat(log.list(query(ALICE, null, null, null, null)).total()).isEqualTo(2);
    }

    @Test
    void theMessagesOfAContextAreCounted() {
        TaskKey first = key(ALICE, "task-1");
        TaskKey second = key(ALICE, "task-2");
        TaskKey his = key(MALLORY, "task-3");
        write(first, 1, List.of(created(first)), new MessageKey(ALICE, "agent", "m-1"));
        write(first, 2, List.of(chunk(first, "a")));
        write(
                first,
                3,
                List.of(chunk(first, "b")),
                new MessageKey(ALICE, "agent", "m-2"),
                new MessageKey(ALICE, "agent", "m-3"));
        write(second, 1, List.of(created(second)), new MessageKey(ALICE, "agent", "m-4"));
        write(his, 1, List.of(created(his)), new MessageKey(MALLORY, "agent", "m-5"));

        assertThat(log.turns(ALICE, "agent", "context")).isEqualTo(4);
        assertThat(log.turns(MALLORY, "agent", "context")).isEqualTo(1);
        assertThat(log.turns(ALICE, "other", "context")).isZero();
        assertThat(log.turns(ALICE, "agent", "another")).isZero();

        log.erase(List.of(first));

        assertThat(log.turns(ALICE, "agent", "context")).isEqualTo(1);
    }

    @Test
    void aNameLeadsToItsTaskInItsScopeAndAgentOnly() {
        var name = new TaskName(ALICE, "agent", "mine");
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key)), name);
        write(key, 2, List.of(chunk(key, "a")));

        assertThat(log.taskNamed(name)).contains("task-1");
        assertThat(log.taskNamed(new TaskName(MALLORY, "agent", "mine"))).isEmpty();
        assertThat(log.taskNamed(new TaskName(ALICE, "other", "mine"))).isEmpty();
        assertThat(log.taskNamed(new TaskName(ALICE, "agent", "yours"))).isEmpty();
        assertThat(log.taskNamed(new TaskName(ALICE, "agent", "task-1"))).isEmpty();
    }

    @Test
    void tasksOfATraceAreOfAllScopesOrOfAGroupTheOldestFirst() {
        for (TaskKey key : List.of(key(ALICE, "task-2"), key(MALLORY, "task-3"), key(ALICE, "task-1"))) {
            write(key, 1, List.of(created(key)));
        }
        String trace = "0af7651916cd43dd8448eb211c80319c";

        assertThat(log.inTrace(null, trace, 10))
                .extracting(head -> head.key().taskId())
                .containsExactly("task-1", "task-2", "task-3");
        assertThat(log.inTrace(null, trace, 2))
                .extracting(head -> head.key().taskId())
                .containsExactly("task-1", "task-2");
        assertThat(log.inTrace(MALLORY.group(), trace, 1))
                .extracting(head -> head.key().taskId())
                .containsExactly("task-3");
        assertThat(log.inTrace(null, "4bf92f3577b34da6a3ce929d0e0e4736", 10)).isEmpty();
    }

    @Test
    void whoBeganATaskAndUnderWhichTraceIsKept() {
        TaskKey key = key(ALICE, "task-1");
        write(key, 1, List.of(created(key)));

        TaskLog.Cause began = log.cause(key).orElseThrow();
        assertThat(began.caller()).isEqualTo(SegmentWriter.CAUSE.caller());
        assertThat(began.traceparent()).isEqualTo(SegmentWriter.CAUSE.traceparent());
        assertThat(began.chain()).isEqualTo(SegmentWriter.CAUSE.chain());
        assertThat(log.cause(key(MALLORY, "task-1"))).isEmpty();
    }

    @Test
    void theSameNameInTwoScopesIsTwoTasks() {
        write(key(ALICE, "task-1"), 1, List.of(created(key(ALICE, "task-1"))), new TaskName(ALICE, "agent", "mine"));
        write(
                key(MALLORY, "task-2"),
                1,
                List.of(created(key(MALLORY, "task-2"))),
                new TaskName(MALLORY, "agent", "mine"));

        assertThat(log.taskNamed(new TaskName(ALICE, "agent", "mine"))).contains("task-1");
        assertThat(log.taskNamed(new TaskName(MALLORY, "agent", "mine"))).contains("task-2");
    }

    @Test
    void aNameMovesFromTheTaskThatHasItToTheNextOne() {
        var name = new TaskName(ALICE, "agent", "mine");
        TaskKey first = key(ALICE, "task-1");
        TaskKey second = key(ALICE, "task-2");
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), name);
        submit(second, 1, List.of(created(second)), new Naming(name, "task-1")).join();

        assertThat(log.taskNamed(name)).contains("task-2");
        assertThat(log.find(first)).isPresent();
    }

    @Test
    void aTaskThatBeginsForANameOfAnotherIsRefused() {
        var name = new TaskName(ALICE, "agent", "mine");
        TaskKey first = key(ALICE, "task-1");
        TaskKey second = key(ALICE, "task-2");
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), name);

        for (String before : Arrays.asList(null, "task-3")) {
            var message = new MessageKey(ALICE, "agent", "m-1");
            assertTaken(submit(second, 1, List.of(created(second)), new Naming(name, before), message), false);
            assertThat(log.taskOf(message)).isEmpty();
        }

        assertThat(log.taskNamed(name)).contains("task-1");
        assertThat(log.find(second)).isEmpty();
    }

    @Test
    void aTaskThatBeginsForAMessageOfAnotherIsRefused() {
        var name = new TaskName(ALICE, "agent", "mine");
        TaskKey first = key(ALICE, "task-1");
        TaskKey second = key(ALICE, "task-2");
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), MESSAGE);

        assertTaken(submit(second, 1, List.of(created(second)), new Naming(name, null), MESSAGE), false);

        assertThat(log.taskOf(MESSAGE)).contains("task-1");
        assertThat(log.taskNamed(name)).isEmpty();
        assertThat(log.find(second)).isEmpty();
    }

    @Test
    void ofTasksThatBeginForAMessageAtOnceOneIsWritten() {
        List<CompletableFuture<Segment>> written = IntStream.range(0, 20)
                .mapToObj(i -> key(ALICE, "task-" + i))
                .map(key -> submit(key, 1, List.of(created(key)), null, MESSAGE))
                .toList();
        written.forEach(each -> each.exceptionally(refused -> null).join());

        assertThat(written).filteredOn(each -> !each.isCompletedExceptionally()).hasSize(1);
        assertThat(log.list(query(ALICE, null, null, null, null)).total()).isEqualTo(1);
        assertThat(log.taskOf(MESSAGE))
                .contains(written.stream()
                        .filter(each -> !each.isCompletedExceptionally())
                        .findFirst()
                        .orElseThrow()
                        .join()
                        .head()
                        .key()
                        .taskId());
    }

    @Test
    void aMessageWhoseTaskIsErasedLeadsToTheNextOne() {
        TaskKey first = key(ALICE, "task-1");
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), MESSAGE);
        write(key(ALICE, "task-3"), 1, List.of(created(key(ALICE, "task-3"))));
        clock.advance(Duration.ofSeconds(1));
        log.removeEnded(clock.instant(), 9);

        TaskKey second = key(ALICE, "task-2");
        write(second, 1, List.of(created(second)), MESSAGE);

        assertThat(log.taskOf(MESSAGE)).contains("task-2");
    }

    @Test
    void aClaimedMessageLeadsToItsTaskOnceThatIsWritten() throws Exception {
        openForClaims();
        TaskKey first = key(ALICE, "task-1");

        log.claim(new Claim(MESSAGE, "task-1", null)).join();
        assertThat(log.taskOf(MESSAGE)).isEmpty();
        assertTaken(log.claim(new Claim(MESSAGE, "task-2", null)), true);
        assertTaken(submit(key(ALICE, "task-2"), 1, List.of(created(key(ALICE, "task-2"))), null, MESSAGE), true);
        write(first, 1, List.of(created(first)), MESSAGE);

        assertThat(log.taskOf(MESSAGE)).contains("task-1");
        assertTaken(log.claim(new Claim(MESSAGE, "task-2", null)), false);
        assertThat(log.find(key(ALICE, "task-2"))).isEmpty();
    }

    @Test
    void ofClaimsOfAMessageAtOnceOneIsGranted() throws Exception {
        openForClaims();

        List<CompletableFuture<?>> claims = IntStream.range(0, 20)
                .<CompletableFuture<?>>mapToObj(i -> log.claim(new Claim(MESSAGE, "task-" + i, null)))
                .toList();
        claims.forEach(each -> each.exceptionally(refused -> null).join());

        assertThat(claims).filteredOn(each -> !each.isCompletedExceptionally()).hasSize(1);
    }

    @Test
    void aReleasedClaimIsFree() throws Exception {
        openForClaims();
        var naming = new Naming(new TaskName(ALICE, "agent", "mine"), null);
        log.claim(new Claim(MESSAGE, "task-1", naming)).join();

        log.release(new Claim(MESSAGE, "task-1", naming));

        log.claim(new Claim(MESSAGE, "task-2", naming)).join();
        TaskKey second = key(ALICE, "task-2");
        submit(second, 1, List.of(created(second)), naming, MESSAGE).join();
        assertThat(log.taskOf(MESSAGE)).contains("task-2");
        assertThat(log.taskNamed(naming.name())).contains("task-2");
    }

    @Test
    void aClaimWhoseTaskIsThereIsNotReleased() throws Exception {
        openForClaims();
        TaskKey first = key(ALICE, "task-1");
        log.claim(new Claim(MESSAGE, "task-1", null)).join();
        submit(first, 1, List.of(created(first)), null, MESSAGE).join();

        log.release(new Claim(MESSAGE, "task-1", null)); // as a hub does that has not heard of the commit

        assertTaken(log.claim(new Claim(MESSAGE, "task-2", null)), false);
        assertThat(log.taskOf(MESSAGE)).contains("task-1");
    }

    @Test
    void aClaimOfATaskThatCannotBeWrittenIsFree() throws Exception {
        openForClaims();
        var name = new TaskName(ALICE, "agent", "mine");
        TaskKey first = key(ALICE, "task-1");
        TaskKey second = key(ALICE, "task-2");
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), name);
        log.claim(new Claim(MESSAGE, "task-2", null)).join();
        assertTaken(submit(second, 1, List.of(created(second)), new Naming(name, null), MESSAGE), false);

        log.claim(new Claim(MESSAGE, "task-3", null)).join();
    }

    @Test
    void aMessageWhoseTaskIsGoneCanBeClaimed() throws Exception {
        openForClaims();
        TaskKey first = key(ALICE, "task-1");
        log.claim(new Claim(MESSAGE, "task-1", null)).join();
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), MESSAGE);
        write(key(ALICE, "task-3"), 1, List.of(created(key(ALICE, "task-3"))));
        clock.advance(Duration.ofSeconds(1));
        log.removeEnded(clock.instant(), 9);

        log.claim(new Claim(MESSAGE, "task-2", null)).join();

        assertTaken(log.claim(new Claim(MESSAGE, "task-4", null)), true);
    }

    @Test
    void aNameIsClaimedTogetherWithTheMessage() throws Exception {
        openForClaims();
        var name = new TaskName(ALICE, "agent", "mine");
        var naming = new Naming(name, null);
        TaskKey first = key(ALICE, "task-1");
        var begins = new MessageKey(ALICE, "agent", "m-1");
        var follows = new MessageKey(ALICE, "agent", "m-2");
        log.claim(new Claim(begins, "task-1", naming)).join();

        assertTaken(log.claim(new Claim(follows, "task-2", naming)), true);
        log.claim(new Claim(follows, "task-3", null)).join(); // nothing of the refused claim is left
        assertThat(log.taskNamed(name)).isEmpty();
        submit(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), naming, begins)
                .join();

        assertThat(log.taskNamed(name)).contains("task-1");
        var next = new MessageKey(ALICE, "agent", "m-3");
        assertTaken(log.claim(new Claim(next, "task-4", naming)), false);
        log.claim(new Claim(next, "task-4", new Naming(name, "task-1"))).join();
    }

    @Test
    void aClaimCountsOverMidnightAndForADay() throws Exception {
        clock.advance(Duration.ofHours(12));
        openForClaims();
        var early = new MessageKey(ALICE, "agent", "m-1");
        var late = new MessageKey(ALICE, "agent", "m-2");
        var pending = new MessageKey(ALICE, "agent", "m-3");
        log.claim(new Claim(early, "task-1", null)).join();
        write(key(ALICE, "task-1"), 1, List.of(created(key(ALICE, "task-1"))), early);
        advanceHours(11);
        clock.advance(Duration.ofMinutes(59).plusSeconds(30));
        log.claim(new Claim(late, "task-2", null)).join();
        write(key(ALICE, "task-2"), 1, List.of(created(key(ALICE, "task-2"))), late);
        log.claim(new Claim(pending, "task-3", null)).join();

        clock.advance(Duration.ofSeconds(40)); // 10 s after midnight

        assertTaken(log.claim(new Claim(early, "task-4", null)), false);
        assertTaken(log.claim(new Claim(late, "task-4", null)), false);
        assertTaken(log.claim(new Claim(pending, "task-4", null)), true);
        advanceHours(11);
        assertTaken(log.claim(new Claim(early, "task-4", null)), false);
        advanceHours(2);
        log.claim(new Claim(early, "task-4", null)).join();
        assertTaken(log.claim(new Claim(late, "task-5", null)), false);
    }

    /** Hour by hour: a clock that jumps ahead is not accepted at once. */
    private void advanceHours(int hours) {
        for (int hour = 0; hour < hours; hour++) {
            clock.advance(Duration.ofHours(1));
            log.taskOf(new MessageKey(ALICE, "agent", "other"));
        }
    }

    /** Requires that what a task was to get leads to another one. */
    private static void assertTaken(CompletableFuture<?> refused, boolean isPending) {
        assertThat(refused)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(
                        KeyTakenException.class,
                        taken -> assertThat(taken.isPending()).isEqualTo(isPending));
    }

    @Test
    void aNameIsRemovedWithItsTaskUnlessAnotherHasIt() {
        var kept = new TaskName(ALICE, "agent", "kept");
        var lost = new TaskName(ALICE, "agent", "lost");
        TaskKey first = key(ALICE, "task-1");
        TaskKey second = key(ALICE, "task-2");
        TaskKey third = key(ALICE, "task-3");
        write(first, 1, List.of(created(first), moved(first, TaskState.COMPLETED)), kept);
        submit(second, 1, List.of(created(second)), new Naming(kept, "task-1")).join();
        write(third, 1, List.of(created(third), moved(third, TaskState.COMPLETED)), lost);
        clock.advance(Duration.ofSeconds(1));

        assertThat(log.removeEnded(clock.instant(), 9)).isEqualTo(2);

        assertThat(log.taskNamed(kept)).contains("task-2");
        assertThat(log.taskNamed(lost)).isEmpty();
    }

    @Test
    void manyWritersAtOnceAreAllWritten() {
        List<CompletableFuture<Segment>> written = IntStream.range(0, 500)
                .mapToObj(i -> key(ALICE, "task-%03d".formatted(i)))
                .map(key -> submit(key, 1, List.of(created(key), moved(key, TaskState.COMPLETED)), null))
                .toList();
        written.forEach(CompletableFuture::join);

        assertThat(log.list(query(ALICE, null, TaskState.COMPLETED, null, null)).total())
                .isEqualTo(500);
        assertThat(log.read(key(ALICE, "task-499"), 0, 10)).hasSize(2);
    }

    // ---- Data of the tests

    private static TaskKey key(Scope scope, String id) {
        return new TaskKey(scope, "agent", id);
    }

    private Task created(TaskKey key) {
        return new Task(
                key.taskId(),
                "context",
                TaskStatus.of(TaskState.WORKING, clock.instant()),
                List.of(),
                List.of(Message.user(Part.text("hello"))),
                Map.of());
    }

    private static TaskEvent chunk(TaskKey key, String text) {
        return new TaskArtifactUpdateEvent(
                key.taskId(), "context", Artifact.of("a", Part.text(text)), true, false, Map.of());
    }

    private TaskEvent moved(TaskKey key, TaskState state) {
        return new TaskStatusUpdateEvent(
                key.taskId(), "context", TaskStatus.of(state, clock.instant()), Map.of("progress", 100));
    }

    private void write(TaskKey key, long first, List<TaskEvent> events, MessageKey... messages) {
        submit(key, first, events, null, messages).join();
    }

    private void write(TaskKey key, long first, List<TaskEvent> events, TaskName name) {
        submit(key, first, events, new Naming(name, null)).join();
    }

    private CompletableFuture<Segment> submit(
            TaskKey key, long first, List<TaskEvent> events, @Nullable Naming naming, MessageKey... messages) {
        Segment plain = SegmentWriter.segment(key, first, events, clock.instant());
        return SegmentWriter.submit(
                log, new Segment(plain.head(), plain.events(), List.of(messages), naming, plain.cause(), List.of()));
    }

    private static Query query(
            Scope scope,
            @Nullable String contextId,
            @Nullable TaskState state,
            @Nullable Instant since,
            @Nullable Position before) {
        return new Query(scope.group(), scope.owner(), "agent", contextId, state, since, before, 3);
    }

    private static List<String> ids(Page page) {
        return page.heads().stream().map(head -> head.key().taskId()).toList();
    }

    private static List<Long> sequences(List<LoggedEvent> events) {
        return events.stream().map(LoggedEvent::sequence).toList();
    }
}

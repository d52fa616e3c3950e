package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Cast;
import dev.parley.mesh.workflow.WorkflowOperation.DeleteDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.GetVote;
import dev.parley.mesh.workflow.WorkflowOperation.ListDefinitions;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.SaveDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.StartVote;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.Eventually;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs, definitions and votes at two hubs that work with one PostgreSQL database at the same time. */
@Timeout(180)
@Tag("heavy")
final class SharedRunsTest {
    private static final CallContext ANYONE = CallContext.anonymous();

    @TempDir
    private Path data;

    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final List<AutoCloseable> open = new ArrayList<>();
    /** Tasks of the agent "work" that were begun in this process. */
    private final Set<String> worked = ConcurrentHashMap.newKeySet();

    private final Semaphore permits = new Semaphore(0);
    private String database;

    @BeforeEach
    void make() throws Exception {
        database = PostgresqlServer.url();
    }

    @AfterEach
    void close() throws Exception {
        permits.release(1_000_000);
        for (AutoCloseable part : open.reversed()) {
            part.close();
        }
        callers.close();
    }

    private <T extends AutoCloseable> T added(T part) {
        open.add(part);
        return part;
    }

    /** A client of the agent "one" of a hub in this process. */
    private AgentClient hub(String name) {
        Agent work = Agent.named("work", "Waits for a permit").resumable(true).handle((request, reply) -> {
            worked.add(request.taskId());
            permits.acquire();
            reply.complete(request.text() + ".");
        });
        Agent bomb = Agent.named("bomb", "Not called").handle((request, reply) -> reply.complete(""));
        Hub hub = added(Hub.builder()
                .data(data.resolve(name))
                .secrets(data)
                .database(database)
                .set("cluster", "true")
                .drain(Duration.ofMillis(100))
                .port(0)
                .agents(work, bomb)
                .start());
        return added(AgentClient.connect(hub.url() + "/one"));
    }

    /** A hub of another process, which makes the secrets. */
    private Process child(int permits) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrashedWorkflowHub.class.getName(),
                        data.toString(),
                        String.valueOf(permits),
                        database)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        open.add(process::destroyForcibly);
        return process;
    }

    private static BufferedReader output(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private void makeSecrets() {
        Hub.builder().data(data).database(database).port(0).start().close();
    }

    /** A chain with a side branch at each step. */
    private static Map<String, @Nullable Object> document(int steps) {
        var list = new ArrayList<Map<String, Object>>();
        for (int i = 0; i < steps; i++) {
            list.add(
                    i == 0
                            ? Map.of("id", "s0", "agent", "work", "task", "x", "parameters", Map.of("text", "t"))
                            : Map.of(
                                    "id",
                                    "s" + i,
                                    "agent",
                                    "work",
                                    "task",
                                    "x",
                                    "depends",
                                    List.of("s" + (i - 1) / 2)));
        }
        return Map.of("workflow", Map.of("steps", list));
    }

    private static RunView run(AgentClient one, String id) {
        return one.call(new Get(id), ANYONE);
    }

    private static RunView ended(AgentClient one, String id) throws InterruptedException {
        try (Feed<RunView> events = one.watch(new Watch(id, null), ANYONE)) {
            while (true) {
                List<RunView> next = events.next(Duration.ofSeconds(60));
                if (next == null) {
                    return run(one, id);
                }
                assertThat(next).as("run " + id + " after 60 s").isNotEmpty();
                if (next.getLast().state().isTerminal()) {
                    return run(one, id);
                }
            }
        }
    }

    private static Set<String> tasks(RunView run, StepState state) {
        var tasks = new HashSet<String>();
        for (StepView step : run.steps()) {
            if (step.state() == state) {
                tasks.add(requireNonNull(step.taskId()));
            }
        }
        return tasks;
    }

    @Test
    void runsOfAHubThatWasKilledGoOnAtTheOtherAndNoStepThatHadEndedRunsAgain() throws Exception {
        int ended = 12;
        Process killed = child(ended);
        BufferedReader output = output(killed);
        String line = output.readLine();
        assertThat(line).startsWith("ready ");
        AgentClient other = hub("other");
        var ids = new ArrayList<String>();
        try (AgentClient one = AgentClient.connect(line.substring("ready ".length()) + "/one")) {
            for (int i = 0; i < 4; i++) {
                ids.add(one.call(new Run(document(7)), ANYONE).workflowId());
            }
            for (int i = 0; i < ended; i++) {
                assertThat(output.readLine()).isEqualTo("ended");
            }
        }
        var before = new HashSet<String>();
        Eventually.holds("the steps that have ended are in their runs", () -> {
            ids.forEach(id -> before.addAll(tasks(run(other, id), StepState.COMPLETED)));
            return before.size() == ended;
        });

        killed.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
        permits.release(1_000_000);

        for (String id : ids) {
            RunView run = ended(other, id);
            assertThat(run.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(run.steps())
                    .allSatisfy(step -> assertThat(step.attempts()).isOne());
        }
        assertThat(worked).hasSize(4 * 7 - ended).doesNotContainAnyElementsOf(before);
    }

    @Test
    void aRunIsReadWatchedAndCanceledAtTheOtherHub() throws Exception {
        makeSecrets();
        AgentClient one = hub("one");
        AgentClient other = hub("other");
        String id = one.call(new Run(document(3)), ANYONE).workflowId();
        permits.release();
        CompletableFuture<RunView> watched = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return ended(other, id);
                    } catch (InterruptedException stopped) {
                        throw new IllegalStateException(stopped);
                    }
                },
                callers);
        Eventually.holds(
                "the run is at its second steps",
                () -> tasks(run(other, id), StepState.RUNNING).size() == 2);
        assertThat(run(other, id)).isEqualTo(run(one, id));

        RunView canceled = other.call(new Cancel(id), ANYONE);

        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        assertThat(run(one, id).state()).isEqualTo(TaskState.CANCELED);
        assertThat(watched.get(30, TimeUnit.SECONDS).state()).isEqualTo(TaskState.CANCELED);
        for (String task : tasks(run(one, id), StepState.RUNNING)) {
            try (AgentClient work = AgentClient.connect(
                    one.card().supportedInterfaces().getFirst().url().replace("/one", "/agents/work"))) {
                Eventually.holds(
                        "the task of the step is canceled",
                        () -> work.task(task).state() == TaskState.CANCELED);
            }
        }
    }

    @Test
    void aDefinitionThatIsChangedAtOneHubHoldsAtTheOther() throws Exception {
        makeSecrets();
        AgentClient one = hub("one");
        AgentClient other = hub("other");
        for (int version = 1; version <= 3; version++) {
            Map<String, @Nullable Object> document = Map.of(
                    "name",
                    "report",
                    "description",
                    "version " + version,
                    "workflow",
                    requireNonNull(document(1).get("workflow")));
            AgentClient saving = version % 2 == 0 ? other : one;
            AgentClient reading = version % 2 == 0 ? one : other;

            assertThat(saving.call(new SaveDefinition(document), ANYONE).version())
                    .isEqualTo(version);

            String id = reading.call(new Run(Map.of("definition", "report")), ANYONE)
                    .workflowId();
            permits.release();
            assertThat(ended(saving, id).state()).isEqualTo(TaskState.COMPLETED);
            assertThat(reading.call(new ListDefinitions(null, null), ANYONE).definitions())
                    .singleElement()
                    .satisfies(view -> assertThat(view.description()).startsWith("version "));
        }

        one.call(new DeleteDefinition("report", null), ANYONE);

        assertThat(other.call(new ListDefinitions(null, null), ANYONE).definitions())
                .isEmpty();
    }

    @Test
    void ballotsThatAreCastAtBothHubsAtOnceAreAllCounted() throws Exception {
        makeSecrets();
        AgentClient one = hub("one");
        AgentClient other = hub("other");
        List<String> voters = List.of("a", "b", "c", "d", "e", "f");
        for (int i = 0; i < 5; i++) {
            String vote = one.call(
                            new StartVote(Map.of(
                                    "vote",
                                    Map.of(
                                            "question",
                                            "Which?",
                                            "options",
                                            List.of("red", "blue"),
                                            "voters",
                                            voters,
                                            "quorum",
                                            voters.size()))),
                            ANYONE)
                    .voteId();
            var ballots = new ArrayList<CompletableFuture<?>>();
            for (String voter : voters) {
                AgentClient hub = voters.indexOf(voter) % 2 == 0 ? one : other;
                ballots.add(CompletableFuture.runAsync(() -> hub.call(new Cast(vote, "red", voter), ANYONE), callers));
            }

            CompletableFuture.allOf(ballots.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);

            assertThat(other.call(new GetVote(vote), ANYONE).voted()).containsExactlyElementsOf(voters);
            assertThat(one.call(new GetVote(vote), ANYONE).state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void aVoteOfAHubThatWasKilledEndsAtItsDeadline() throws Exception {
        Process killed = child(0);
        BufferedReader output = output(killed);
        String line = output.readLine();
        AgentClient other = hub("other");
        Instant deadline = Instant.now().plusSeconds(4);
        String vote;
        try (AgentClient one = AgentClient.connect(line.substring("ready ".length()) + "/one")) {
            vote = one.call(
                            new StartVote(Map.of(
                                    "vote",
                                    Map.of(
                                            "question",
                                            "Which?",
                                            "options",
                                            List.of("red", "blue"),
                                            "voters",
                                            List.of("a"),
                                            "deadline",
                                            deadline.toEpochMilli()))),
                            ANYONE)
                    .voteId();
        }

        killed.destroyForcibly().waitFor(30, TimeUnit.SECONDS);

        Eventually.holds(
                "the vote has ended",
                () -> other.call(new GetVote(vote), ANYONE).state().isTerminal());
        assertThat(Instant.now()).isBetween(deadline, deadline.plusSeconds(5));
    }
}

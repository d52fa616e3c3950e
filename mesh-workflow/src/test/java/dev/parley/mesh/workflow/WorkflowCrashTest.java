package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a hub while it runs workflows. */
@Timeout(600)
@Tag("heavy")
final class WorkflowCrashTest {
    private static final CallContext ANYONE = CallContext.anonymous();

    @TempDir
    private Path data;

    @Test
    @DisplayName("ONE36 each step of runs that were killed ends exactly once, and no run is stuck")
    void few() throws Exception {
        killAndCheck(10, 6);
    }

    @Test
    @Tag("heavy")
    @DisplayName("ONE36 each step of 100 runs of 20 steps that were killed ends exactly once, and no run is stuck")
    void many() throws Exception {
        killAndCheck(100, 20);
    }

    @Test
    @Tag("heavy")
    @DisplayName("ONE36 a step at another hub is taken up, and not repeated, after the hub of its run was killed")
    void stepElsewhere() throws Exception {
        var begun = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        var calls = new ConcurrentLinkedQueue<String>();
        Agent slow = Agent.named("slow", "Waits for the test").handle((request, reply) -> {
            calls.add(request.message().messageId());
            begun.countDown();
            end.await();
            reply.complete("done");
        });
        try (Hub other = Hub.builder().port(0).inMemory().agents(slow).start()) {
            Map<String, Object> step =
                    Map.of("id", "far", "agent", other.url() + "/agents/slow", "task", "x", "onError", "retry");
            String id;
            try (var hub = new Child(data, 0);
                    AgentClient one = AgentClient.connect(hub.url + "/one")) {
                id = one.call(new Run(Map.of("workflow", Map.of("steps", List.of(step)))), ANYONE)
                        .workflowId();
                assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
            }
            try (var hub = new Child(data, 0);
                    AgentClient one = AgentClient.connect(hub.url + "/one")) {
                end.countDown();

                assertThat(last(one, id)).isEqualTo(TaskState.COMPLETED);
                assertThat(calls).containsExactly(id + "/far/1");
            }
        }
    }

    @Test
    @Tag("heavy")
    @DisplayName("ONE36 all steps of a run are canceled though the hub is killed after the first of them")
    void killedWhileCanceling() throws Exception {
        var steps = new ArrayList<Map<String, Object>>();
        steps.add(Map.of("id", "bomb", "agent", "bomb", "task", "x"));
        for (int i = 0; i < 10; i++) {
            steps.add(Map.of("id", "s" + i, "agent", "work", "task", "x"));
        }
        String id;
        try (var hub = new Child(data, 0);
                AgentClient one = AgentClient.connect(hub.url + "/one")) {
            id = one.call(new Run(Map.of("workflow", Map.of("steps", steps))), ANYONE)
                    .workflowId();
            awaitRunning(one, id, steps.size());

            assertThatThrownBy(() -> one.call(new Cancel(id), ANYONE)).isInstanceOf(ClientException.class);
        }
        try (var hub = new Child(data, 0);
                AgentClient one = AgentClient.connect(hub.url + "/one");
                AgentClient work = AgentClient.connect(hub.url + "/agents/work")) {
            assertThat(last(one, id)).isEqualTo(TaskState.CANCELED);
            for (StepView step : one.call(new Get(id), ANYONE).steps()) {
                if ("work".equals(step.agent())) {
                    assertThat(ended(work, requireNonNull(step.taskId()))).isEqualTo(TaskState.CANCELED);
                }
            }
        }
    }

    private static void awaitRunning(AgentClient one, String id, int steps) throws InterruptedException {
        var running = new HashSet<String>();
        try (Feed<RunView> events = one.watch(new Watch(id, null), ANYONE)) {
            while (running.size() < steps) {
                List<RunView> next = events.next(Duration.ofSeconds(60));
                assertThat(next).as("events of run " + id + " after 60 s").isNotEmpty();
                requireNonNull(next)
                        .forEach(run -> run.steps().stream()
                                .filter(step -> step.state() == StepState.RUNNING)
                                .forEach(step -> running.add(step.id())));
            }
        }
    }

    private static TaskState ended(AgentClient agent, String task) throws InterruptedException {
        try (Feed<LoggedEvent> events = agent.watch(SubscribeToTask.of(task), ANYONE)) {
            List<LoggedEvent> next = events.next(Duration.ofSeconds(60));
            while (next != null) {
                assertThat(next).as("events of task " + task + " after 60 s").isNotEmpty();
                next = events.next(Duration.ofSeconds(60));
            }
        } catch (A2AException alreadyEnded) {
            assertThat(alreadyEnded.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
        }
        return agent.task(task).state();
    }

    private void killAndCheck(int runs, int steps) throws Exception {
        var ids = new ArrayList<String>();
        int third = runs * steps / 3;
        try (var hub = new Child(data, third);
                AgentClient one = AgentClient.connect(hub.url + "/one")) {
            for (int i = 0; i < runs; i++) {
                ids.add(one.call(new Run(document(steps)), ANYONE).workflowId());
            }
            hub.awaitEnded(third);
        }
        try (var hub = new Child(data, third)) {
            hub.awaitEnded(third);
        }
        try (var hub = new Child(data, Integer.MAX_VALUE);
                AgentClient one = AgentClient.connect(hub.url + "/one");
                AgentClient work = AgentClient.connect(hub.url + "/agents/work")) {
            for (String id : ids) {
                assertThat(last(one, id)).isEqualTo(TaskState.COMPLETED);
            }
            Map<String, String> bySteps = tasks(work);

            assertThat(bySteps).hasSize(runs * steps);
            for (RunView run : all(one)) {
                assertThat(run.steps()).hasSize(steps);
                for (StepView step : run.steps()) {
                    assertThat(step.attempts()).isEqualTo(1);
                    assertThat(bySteps).containsEntry(run.workflowId() + "/" + step.id(), step.taskId());
                }
                assertThat(run.progress()).isEqualTo(100);
            }
        }
    }

    private static List<RunView> all(AgentClient one) {
        var all = new ArrayList<RunView>();
        String token = null;
        do {
            WorkflowOperation.RunPage page = one.call(new ListRuns(null, 100, token), ANYONE);
            all.addAll(page.workflows());
            token = page.nextPageToken();
        } while (!token.isEmpty());
        return all;
    }

    /** The tasks of the steps by run and step; fails if a step has two. */
    private static Map<String, String> tasks(AgentClient work) {
        var tasks = new HashMap<String, String>();
        ListTasks list = new ListTasks(null, null, null, 100, null, null, null, false);
        String token = "";
        do {
            TaskPage page = work.call(list.from(token), ANYONE);
            for (Task task : page.tasks()) {
                assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
                var metadata = task.history().getFirst().metadata();
                assertThat(tasks.put(metadata.get("one/run") + "/" + metadata.get("one/step"), task.id()))
                        .isNull();
            }
            token = page.nextPageToken();
        } while (!token.isEmpty());
        return tasks;
    }

    /** A chain with a side branch at each step, and all joined at the end. */
    private static Map<String, @Nullable Object> document(int steps) {
        var list = new ArrayList<Map<String, Object>>();
        for (int i = 0; i < steps; i++) {
            var step = new HashMap<String, Object>(Map.of("id", "s" + i, "agent", "work", "task", "x"));
            if (i == 0) {
                step.put("parameters", Map.of("text", "t"));
            } else {
                step.put("depends", List.of("s" + (i - 1) / 2));
            }
            list.add(step);
        }
        return Map.of("workflow", Map.of("steps", list));
    }

    private static TaskState last(AgentClient one, String id) throws InterruptedException {
        try (Feed<RunView> events = one.watch(new Watch(id, null), ANYONE)) {
            TaskState state = TaskState.WORKING;
            while (state == TaskState.WORKING) {
                List<RunView> next = events.next(Duration.ofSeconds(60));
                assertThat(next).as("run " + id + " after 60 s").isNotEmpty();
                state = requireNonNull(next).getLast().state();
            }
            return state;
        }
    }

    /** A hub in another process. */
    private static final class Child implements AutoCloseable {
        private final Process process;
        private final BufferedReader output;
        private final String url;
        private int ended;

        Child(Path data, int permits) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            CrashedWorkflowHub.class.getName(),
                            data.toString(),
                            String.valueOf(permits))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = output.readLine();
            while ("ended".equals(line)) { // of steps that were taken up before the port was open
                ended++;
                line = output.readLine();
            }
            assertThat(line).startsWith("ready ");
            url = line.substring("ready ".length());
        }

        void awaitEnded(int count) throws IOException {
            for (; ended < count; ended++) {
                assertThat(output.readLine()).isEqualTo("ended");
            }
        }

        @Override
        public void close() throws InterruptedException, IOException {
            process.destroyForcibly();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            output.close();
        }
    }
}

package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation.ListTasks;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a hub while it runs workflows. */
@Timeout(600)
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
                assertThat(last(one, id)).isEqualTo("completed");
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

    private static String last(AgentClient one, String id) throws InterruptedException {
        try (Feed<RunView> events = one.watch(new Watch(id, null), ANYONE)) {
            String state = "working";
            while (state.equals("working")) {
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

package dev.parley.mcp.server;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpTask;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Tasks in memory, for tests of the protocol. */
final class FixtureTasks implements McpTasks, AutoCloseable {
    private final Map<String, One> tasks = new ConcurrentHashMap<>();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    private static final class One {
        final String owner;
        final Map<String, @Nullable Object> state;
        final Map<String, InputResponse> answers = new LinkedHashMap<>();
        final CopyOnWriteArrayList<Consumer<McpTask>> listeners = new CopyOnWriteArrayList<>();
        Function<Map<String, InputResponse>, String> whenAnswered = answers -> "";

        One(String owner, Map<String, @Nullable Object> state) {
            this.owner = owner;
            this.state = state;
        }

        synchronized Map<String, @Nullable Object> state() {
            return new LinkedHashMap<>(state);
        }

        void change(String status, String member, Object value) {
            Map<String, @Nullable Object> now;
            synchronized (this) {
                if (!"working".equals(state.get("status")) && !"input_required".equals(state.get("status"))) {
                    return;
                }
                state.put("status", status);
                state.put("lastUpdatedAt", now());
                state.remove("inputRequests");
                if (!member.isEmpty()) {
                    state.put(member, value);
                }
                now = new LinkedHashMap<>(state);
            }
            listeners.forEach(each -> each.accept(ResultModel.TASK.fromJson(now)));
        }
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
    }

    private One begin(CallContext caller) {
        String id = UUID.randomUUID().toString();
        var task = new One(
                RequestState.owner(caller),
                new RawJson()
                        .with("taskId", id)
                        .with("status", "working")
                        .with("createdAt", now())
                        .with("lastUpdatedAt", now())
                        .with("ttlMs", 600_000)
                        .with("pollIntervalMs", 100));
        tasks.put(id, task);
        return task;
    }

    /** A task that ends after a while. */
    McpTask after(Duration time, String status, String member, Object value, CallContext caller) {
        One task = begin(caller);
        Map<String, @Nullable Object> begun = task.state();
        var unused = timer.schedule(() -> task.change(status, member, value), time.toMillis(), TimeUnit.MILLISECONDS);
        return ResultModel.TASK.fromJson(begun);
    }

    /** A task that waits for answers, and completes with a text made of them. */
    McpTask asking(
            Map<String, InputRequest> questions,
            Function<Map<String, InputResponse>, String> whenAnswered,
            CallContext caller) {
        One task = begin(caller);
        Map<String, @Nullable Object> begun = task.state();
        task.whenAnswered = whenAnswered;
        task.change("input_required", "inputRequests", Trees.map(ResultModel.INPUT_REQUESTS.toJson(questions)));
        return ResultModel.TASK.fromJson(begun);
    }

    private One of(String id, CallContext caller) {
        One task = tasks.get(id);
        if (task == null || !task.owner.equals(RequestState.owner(caller))) {
            throw McpException.notFound("task", id);
        }
        return task;
    }

    @Override
    public McpTask get(String taskId, CallContext caller) {
        return ResultModel.TASK.fromJson(of(taskId, caller).state());
    }

    @Override
    public void update(String taskId, Map<String, InputResponse> answers, CallContext caller) {
        One task = of(taskId, caller);
        Map<String, @Nullable Object> open = Trees.map(task.state().get("inputRequests"));
        answers.forEach((key, answer) -> {
            if (open.containsKey(key)) {
                task.answers.put(key, answer);
            }
        });
        var left = new LinkedHashMap<>(open);
        left.keySet().removeAll(task.answers.keySet());
        if (!open.isEmpty() && left.isEmpty()) {
            task.change("completed", "result", ConformanceProvider.text(task.whenAnswered.apply(task.answers)));
        } else if (!open.isEmpty()) {
            task.change("input_required", "inputRequests", left);
        }
    }

    @Override
    public void cancel(String taskId, CallContext caller) {
        of(taskId, caller).change("cancelled", "", "");
    }

    @Override
    public AutoCloseable onChange(String taskId, CallContext caller, Consumer<McpTask> listener) {
        One task = of(taskId, caller);
        task.listeners.add(listener);
        return () -> task.listeners.remove(listener);
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}

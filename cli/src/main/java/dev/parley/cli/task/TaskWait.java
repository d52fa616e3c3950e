package dev.parley.cli.task;

import dev.parley.cli.command.ClientFlags.Request;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.output.Interruption;
import dev.parley.client.spi.ClientException;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a task has ended or needs its caller: by its stream, or by polling if there is no stream or it breaks.
 *
 * <p>Source: a2a-cli specification 0.2, section 9.
 */
public final class TaskWait {
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(15);
    /** Errors of agents that have no stream of an existing task. */
    private static final Set<A2AError> NO_STREAM =
            Set.of(A2AError.UNSUPPORTED_OPERATION, A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_ALLOWED);
    /** Errors that a GetTask would only repeat. */
    private static final Set<A2AError> ABOUT_THE_CALLER =
            Set.of(A2AError.UNAUTHENTICATED, A2AError.PERMISSION_DENIED, A2AError.TASK_NOT_FOUND);

    private static final Set<ClientException.Problem> BROKEN = Set.of(
            ClientException.Problem.STREAM_CUT, ClientException.Problem.LOST, ClientException.Problem.UNREACHABLE);

    private final AgentEndpoint agent;
    private final boolean streams;
    private final Invocation call;
    private final Consumer<TaskEvent> sink;
    private final long end;
    private final Duration timeout;
    private final Duration interval;
    private @Nullable Task task;
    private @Nullable Message answer;
    private boolean idTold;

    /** @param sink sees every event as it comes, and the whole task whenever it was read by GetTask */
    TaskWait(AgentConnection connection, Invocation call, Consumer<TaskEvent> sink) {
        this.agent = connection.client();
        this.streams = connection.streams();
        this.call = call;
        this.sink = sink;
        Request request = call.request();
        this.timeout = request.limit();
        this.end = System.nanoTime() + timeout.toNanos();
        this.interval = request.pollInterval();
        call.around().interruption().react(this::interrupted);
    }

    /** Sends a message and waits for its outcome. */
    public SendResult send(Operation.SendMessage request) throws InterruptedException {
        if (!streams) {
            if (call.isStreaming()) {
                call.output().note("the agent does not stream: polling instead");
            }
            return sendAndPoll(request);
        }
        var watch = new Operation.SendStreamingMessage(
                null, request.message(), Operation.SendConfiguration.DEFAULTS, request.metadata());
        try {
            read(watch);
        } catch (A2AException refused) {
            // A task that takes no more messages is refused in the same words, so only a new one is tried again.
            boolean mayBeSent =
                    task == null && answer == null && request.message().taskId() == null;
            if (!mayBeSent || !NO_STREAM.contains(refused.error())) {
                throw refused;
            }
            call.output().note("the agent does not stream after all: polling instead (" + refused.getMessage() + ")");
            return sendAndPoll(request);
        }
        return outcome();
    }

    private SendResult sendAndPoll(Operation.SendMessage request) throws InterruptedException {
        SendResult first = agent.call(request, CallContext.anonymous());
        see((TaskEvent) first);
        return first instanceof Task created && !created.state().isSettled() ? poll(created.id()) : first;
    }

    /** Follows a task that exists, from its present state on. */
    public Task subscribe(String taskId) throws InterruptedException {
        if (!streams) {
            call.output().note("the agent does not stream: polling instead");
            return poll(taskId);
        }
        read(Operation.SubscribeToTask.of(taskId));
        return (Task) outcome();
    }

    private SendResult outcome() throws InterruptedException {
        if (answer != null) {
            return answer;
        }
        if (task == null) {
            throw CommandException.failed("InvalidAgentResponseError", "the stream ended without an event", null);
        }
        return task.state().isSettled() ? task : poll(task.id());
    }

    private void read(Operation.TaskWatch watch) throws InterruptedException {
        try (Feed<LoggedEvent> events = agent.watch(watch, CallContext.anonymous())) {
            while (!isSettled()) {
                var more = events.next(left());
                if (more == null) {
                    return;
                }
                if (more.isEmpty()) {
                    throw timedOut();
                }
                for (LoggedEvent event : more) {
                    if (!isSettled()) {
                        see(event.event());
                    }
                }
            }
        } catch (A2AException refused) {
            if (task == null || !isLeftToPolling(refused.error())) {
                throw refused;
            }
            call.output().note("the agent ended the stream: polling instead (" + refused.getMessage() + ")");
        } catch (ClientException cut) {
            if (task == null || !BROKEN.contains(cut.problem())) {
                throw cut;
            }
            call.output().note("the stream broke: polling instead (" + cut.getMessage() + ")");
        }
    }

    /**
     * Whether a wait goes on by polling when the agent ends a stream with {@code error}. A command that
     * requested the stream itself reports the error, unless the error only says that the stream has ended.
     */
    private boolean isLeftToPolling(ErrorKind error) {
        return NO_STREAM.contains(error) || !call.isStreaming() && !ABOUT_THE_CALLER.contains(error);
    }

    private boolean isSettled() {
        return answer != null || task != null && task.state().isSettled();
    }

    /** Polls the task until it is settled, with longer pauses while nothing changes. */
    public Task poll(String taskId) throws InterruptedException {
        var pauses = new Backoff(interval, interval.plus(LONGEST_PAUSE));
        int idle = 0;
        while (true) {
            Task before = task;
            Task now = agent.call(
                    new Operation.GetTask(null, taskId, call.number("--history", 0, Integer.MAX_VALUE)),
                    CallContext.anonymous());
            if (before == null
                    || !before.status().equals(now.status())
                    || !before.artifacts().equals(now.artifacts())) {
                see(now);
                idle = 0;
            } else {
                idle++;
            }
            if (now.state().isSettled()) {
                return now;
            }
            Duration pause = pauses.bound(idle + 1);
            if (left().compareTo(pause) < 0) {
                Thread.sleep(left());
                throw timedOut();
            }
            Thread.sleep(pause);
        }
    }

    private void see(TaskEvent event) {
        switch (event) {
            case Task whole -> task = whole;
            case Message message -> answer = message;
            case TaskStatusUpdateEvent moved -> apply(moved);
            case TaskArtifactUpdateEvent produced -> apply(produced);
        }
        Task now = task;
        if (now != null && !now.state().isSettled()) {
            if (!idTold) {
                idTold = true;
                call.output().noteBesideTerminal("Task-ID: " + now.id());
            }
            call.output().progress(progress(now, event));
        }
        sink.accept(event);
    }

    private void apply(TaskEvent event) {
        try {
            task = event.applyTo(task);
        } catch (IllegalStateException unordered) {
            // A stream without its beginning; the task will be read by GetTask.
            call.output().note("the agent's stream is out of order: " + unordered.getMessage());
        }
    }

    private static String progress(Task now, TaskEvent event) {
        String line = TextView.name(now.state());
        if (event instanceof TaskStatusUpdateEvent moved) {
            if (moved.metadata().get("progress") instanceof Number percent) {
                int done = Math.clamp(percent.intValue(), 0, 100) / 5;
                line = "[" + "#".repeat(done) + ".".repeat(20 - done) + "] " + percent + "%";
            }
            Message note = moved.status().message();
            line += note == null ? "" : " " + note.text();
        }
        return line;
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, end - System.nanoTime()));
    }

    private CommandException timedOut() {
        Task now = task;
        boolean wholeSeconds = timeout.toMillisPart() == 0;
        String allowed = wholeSeconds ? timeout.toSeconds() + " s" : timeout.toMillis() + " ms";
        String what = now == null
                ? "no answer within " + allowed
                : "task " + now.id() + " is still in " + TextView.name(now.state()) + " after " + allowed;
        return CommandException.of(Kind.TIMEOUT, what, now == null ? "allow more time with --timeout" : waitAgain(now));
    }

    private String waitAgain(Task now) {
        return "the task goes on; wait again with: "
                + call.command("task", "get", "--wait", Invocation.quoted(now.id()));
    }

    /** Prints the command that waits again, because the task goes on. */
    private int interrupted() {
        Task now = task;
        if (call.output().isJson()) {
            call.output()
                    .failure(CommandException.of(
                            Kind.INTERRUPTED,
                            now == null ? "interrupted" : "interrupted; task " + now.id() + " goes on",
                            now == null ? null : waitAgain(now)));
        } else if (now != null) {
            call.output()
                    .result(
                            () -> new byte[0],
                            page -> TextView.identity(page, now)
                                    .field("Poll", call.command("task", "get", "--wait", Invocation.quoted(now.id()))));
        }
        return Interruption.BY_SIGNAL;
    }
}

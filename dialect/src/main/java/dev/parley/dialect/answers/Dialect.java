package dev.parley.dialect.answers;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Server-side behaviour of one dialect. Stateless. */
public abstract class Dialect {
    /** Takes the frames of an event. */
    @FunctionalInterface
    public interface Sink {
        /** @param name of the server-sent event; null for none */
        void frame(@Nullable String name, LoggedEvent.Bytes json);

        default <T> void frame(@Nullable String name, Codec<T> codec, T value) {
            frame(name, JsonText.write(codec, value));
        }

        default void frame(@Nullable String name, byte[] json) {
            frame(name, new LoggedEvent.Bytes(json, 0, json.length));
        }
    }

    /** Converts the events of one stream to frames. May keep state; belongs to that stream. */
    @FunctionalInterface
    public interface Telling {
        /** Writes an event as zero or more frames. */
        public void tell(LoggedEvent event, Sink out);
    }

    /** Tells a task by the events that led to it, for streams that show neither tasks nor messages. */
    public abstract static class Retelling implements Telling {
        @Override
        public final void tell(LoggedEvent event, Sink out) {
            switch (event.event()) {
                case Task task -> {
                    var status = new TaskStatusUpdateEvent(task.id(), task.contextId(), task.status(), Map.of());
                    if (!task.state().isTerminal()) {
                        status(status, out);
                    }
                    conversation(task, out);
                    for (Artifact artifact : task.artifacts()) {
                        produced(
                                new TaskArtifactUpdateEvent(
                                        task.id(), task.contextId(), artifact, false, true, Map.of()),
                                out);
                    }
                    if (task.state().isTerminal()) {
                        status(status, out); // readers stop after it
                    }
                }
                case Message answer -> {
                    if (event.sequence() == 0) {
                        String id = answer.taskId() == null ? "" : answer.taskId();
                        var status = new TaskStatus(TaskState.COMPLETED, answer, null);
                        status(new TaskStatusUpdateEvent(id, "", status, Map.of()), out);
                    }
                }
                case TaskStatusUpdateEvent update -> moved(update, out);
                case TaskArtifactUpdateEvent update -> produced(update, out);
            }
        }

        /** Writes the messages of a task, if the dialect shows them. */
        public void conversation(Task task, Sink out) {}

        /** Writes a change of the status. */
        public void moved(TaskStatusUpdateEvent update, Sink out) {
            status(update, out);
        }

        /** Writes a status. */
        public abstract void status(TaskStatusUpdateEvent update, Sink out);

        public abstract void produced(TaskArtifactUpdateEvent update, Sink out);
    }

    public static final Dialect V1 = new Dialect("1.0", EnumSet.of(Trait.WRAPS_FRAMES, Trait.NUMBERS_FRAMES)) {
        @Override
        public Telling telling() {
            return (event, out) -> {
                // A message that the task received is not shown, only one that is the whole answer.
                if (!(event.event() instanceof Message) || event.sequence() == 0) {
                    out.frame(null, event.bytes(V1Model::write));
                }
            };
        }
    };

    /** Differences between dialects that need no code of their own. */
    public enum Trait {
        /** Clients name their tasks themselves. */
        NAMES_TASKS,
        /** The frames of a stream over JSON-RPC are JSON-RPC answers. */
        WRAPS_FRAMES,
        /** Frames carry the numbers of their events, so that a stream can be resumed. */
        NUMBERS_FRAMES
    }

    private final String name;
    private final Set<Trait> traits;

    protected Dialect(Dialect base) {
        this(base.name, base.traits);
    }

    protected Dialect(String name, Set<Trait> traits) {
        this.name = name;
        this.traits = traits;
    }

    /** Name in settings, metrics and logs. */
    public String name() {
        return name;
    }

    public abstract Telling telling();

    public final boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /** Writes the failure of a stream in a form of the dialect, or returns false for the usual form of errors. */
    public boolean tellFailure(A2AException problem, Sink out) {
        return false;
    }

    /** The headers of a stream that its dialect has particular values for. */
    public Map<String, String> streamHeaders() {
        return Map.of("Cache-Control", "no-store");
    }

    /** The header in which extensions are activated. */
    public String extensionsHeader() {
        return Headers.EXTENSIONS;
    }

    /** The JSON-RPC code of an error. */
    public int code(ErrorKind error) {
        return error.code();
    }

    /** The status of an error over REST. */
    public int httpStatus(ErrorKind error, boolean statusesOf100) {
        return statusesOf100 ? error.httpStatusOf100() : error.httpStatus();
    }

    /** The error as callers of this dialect see it. */
    public A2AException shown(A2AException problem) {
        return problem;
    }

    /** The HTTP status of an error over JSON-RPC. */
    public int rpcStatus(A2AException problem) {
        return Problem.HTTP_ERRORS.contains(problem.error()) ? problem.error().httpStatus() : 200;
    }

    /** The HTTP status of an error over REST. */
    public int restStatus(A2AException problem, boolean statusesOf100) {
        return httpStatus(problem.error(), statusesOf100);
    }

    /** Data of an error over JSON-RPC. */
    public Object rpcErrorData(A2AException problem) {
        return Problem.details(problem);
    }

    /** The body of an error over REST. */
    public Map<String, Object> restError(A2AException problem, int status) {
        var error = new LinkedHashMap<String, Object>();
        error.put("code", status);
        error.put("status", problem.error().grpcStatus());
        error.put("message", String.valueOf(problem.getMessage()));
        List<Map<String, Object>> details = Problem.details(problem);
        error.put(Problem.DETAILS, details);
        return Map.of("error", error);
    }

    /** The agent as clients of this dialect expect it to behave, for one operation. */
    public AgentEndpoint before(AgentEndpoint agent, Operation operation) {
        return agent;
    }
}

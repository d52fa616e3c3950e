package dev.parley.dialect.legacy;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.spi.Headers;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The versions before 1.0, and the Agentic Kernel, when a server speaks them.
 *
 * <p>Source: A2A specifications 0.1.0, 0.2.6 and 0.3.0.
 */
public final class LegacyDialect extends Dialect {
    /** 0.3 and 0.2 over JSON-RPC, and over REST as some peers speak it. */
    public static final LegacyDialect KIND = new LegacyDialect("0.3", LegacyOperations.KIND, LegacyModel.KIND, false);

    /** 0.3 for callers that may be of 0.1. */
    public static final LegacyDialect MERGED =
            new LegacyDialect("0.3", LegacyOperations.MERGED, LegacyModel.MERGED, false);

    /** 0.3 over REST as most peers speak it. */
    public static final LegacyDialect PROTO =
            new LegacyDialect("0.3", LegacyOperations.PROTO, LegacyModel.PROTO, false);

    public static final LegacyDialect TYPE = new LegacyDialect("0.1", LegacyOperations.TYPE, LegacyModel.TYPE, true);
    public static final LegacyDialect KERNEL =
            new LegacyDialect("kernel", LegacyOperations.KERNEL, LegacyModel.KERNEL, true);

    /** The Agentic Kernel for clients that want the frames of streams to be JSON-RPC answers. */
    public static final LegacyDialect KERNEL_WRAPPED =
            new LegacyDialect("kernel", LegacyOperations.KERNEL, LegacyModel.KERNEL, true, true);

    private final OperationTable operations;
    private final LegacyModel model;
    private final boolean first;

    private LegacyDialect(String name, OperationTable operations, LegacyModel model, boolean first) {
        this(name, operations, model, first, !model.equals(LegacyModel.KERNEL));
    }

    private LegacyDialect(String name, OperationTable operations, LegacyModel model, boolean first, boolean wraps) {
        super(name, traits(first, wraps));
        this.operations = operations;
        this.model = model;
        this.first = first;
    }

    private static Set<Trait> traits(boolean first, boolean wraps) {
        Set<Trait> traits = EnumSet.of(first ? Trait.NAMES_TASKS : Trait.NUMBERS_FRAMES);
        if (wraps) {
            traits.add(Trait.WRAPS_FRAMES);
        }
        return traits;
    }

    public OperationTable operations() {
        return operations;
    }

    boolean isFinal(TaskState state) {
        return model.isFinal(state);
    }

    @Override
    public String extensionsHeader() {
        return "X-" + Headers.EXTENSIONS;
    }

    // ---- Errors

    @Override
    public int code(ErrorKind error) {
        return switch (error) {
            // Neither 0.3 nor 0.1 has these, and in 0.1 their numbers mean something else.
            case A2AError.EXTENSION_SUPPORT_REQUIRED -> A2AError.INVALID_REQUEST.code();
            case A2AError.VERSION_NOT_SUPPORTED -> first ? A2AError.INVALID_REQUEST.code() : error.code();
            case A2AError.INVALID_AGENT_RESPONSE -> first ? A2AError.INTERNAL.code() : error.code();
            case A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED ->
                first ? A2AError.UNSUPPORTED_OPERATION.code() : error.code();
            default -> error.code();
        };
    }

    @Override
    public int httpStatus(ErrorKind error, boolean statusesOf100) {
        return switch (error) {
            case A2AError.INVALID_PARAMS -> 422;
            case A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED -> 404;
            case A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED, A2AError.UNSUPPORTED_OPERATION -> 501;
            default -> error.httpStatusOf100();
        };
    }

    /** Until 1.0 this may be anything, but the Go SDK of 0.3 cannot read an error in which it is not an object. */
    @Override
    public Object rpcErrorData(A2AException problem) {
        return Map.of(Problem.DETAILS, Problem.details(problem));
    }

    @Override
    public Map<String, Object> restError(A2AException problem, int status) {
        var error = new LinkedHashMap<String, Object>();
        error.put("error", Problem.nameInJava(problem.error()));
        error.put("code", code(problem.error()));
        error.put("message", String.valueOf(problem.getMessage()));
        error.put("data", Problem.details(problem));
        return error;
    }

    @Override
    public A2AException shown(A2AException problem) {
        return first ? problem.inWords(this::field, DialectErrorsAgent::withoutTaskId) : problem;
    }

    /** The name that a field of 1.0 has in 0.1 or, in snake_case, in the Agentic Kernel. */
    private String field(String field) {
        boolean snakeCase = model.equals(LegacyModel.KERNEL);
        return switch (field) {
            case "message.taskId", "taskId" -> "id";
            case "message.contextId", "contextId" -> snakeCase ? "session_id" : "sessionId";
            default ->
                field.replaceFirst(
                        "^configuration\\.taskPushNotificationConfig\\b",
                        snakeCase ? "push_notification" : "pushNotification");
        };
    }

    // ---- Behaviour

    @Override
    public AgentEndpoint before(AgentEndpoint agent, Operation operation) {
        if (operation instanceof Operation.Extension) {
            return agent;
        }
        var older = new LegacyEndpoint(
                model.equals(LegacyModel.PROTO) ? agent : DialectErrorsAgent.older(agent),
                first,
                model.equals(LegacyModel.KERNEL) ? null : model::isFinal);
        return first ? new FormedTasks(older, new TaskForm(LegacyEndpoint.nameIn(operation), null)) : older;
    }

    @Override
    public Telling telling() {
        return first ? new FirstTelling() : model.equals(LegacyModel.MERGED) ? new MergedTelling() : this::tell;
    }

    private void tell(LoggedEvent event, Sink out) {
        switch (event.event()) {
            case Message received when event.sequence() > 0 -> {
                // received messages are not shown
            }
            case Task task -> {
                out.frame(null, model.event, task);
                if (model.isFinal(task.state())) {
                    // A client waits for an event that says it was the last.
                    var end = new TaskStatusUpdateEvent(task.id(), task.contextId(), task.status(), Map.of());
                    out.frame(null, model.event, end);
                }
            }
            case TaskEvent other -> out.frame(null, model.event, other);
        }
    }

    /** The place of each artifact in its task, by which 0.1 tells them apart. */
    private final class Places {
        private final Map<String, Integer> places = new HashMap<>();

        int of(Artifact artifact) {
            return places.computeIfAbsent(artifact.artifactId(), id -> places.size());
        }

        void frame(TaskArtifactUpdateEvent update, Sink out) {
            out.frame(null, model.indexedUpdate, new LegacyModel.IndexedUpdate(update, of(update.artifact())));
        }
    }

    private final class MergedTelling implements Telling {
        private final Places places = new Places();

        @Override
        public void tell(LoggedEvent event, Sink out) {
            if (event.event() instanceof TaskArtifactUpdateEvent update) {
                places.frame(update, out);
                return;
            }
            if (event.event() instanceof Task task) {
                task.artifacts().forEach(places::of);
            }
            LegacyDialect.this.tell(event, out);
        }
    }

    /** Streams of 0.1 show neither tasks nor messages. */
    private final class FirstTelling extends Retelling {
        private final Places places = new Places();

        @Override
        public void status(TaskStatusUpdateEvent update, Sink out) {
            out.frame(null, model.statusUpdate, update);
        }

        @Override
        public void produced(TaskArtifactUpdateEvent update, Sink out) {
            places.frame(update, out);
        }
    }
}

package dev.parley.store.tasks;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;

import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskMail.Answer;
import dev.parley.engine.spi.TaskMail.Request;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.ObjectCodec.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** JSON of calls for the owners of tasks, and of their answers. It has the token and the deadline of no caller. */
final class MailBodies {
    private static final Codec<CallContext> CALLER = ObjectCodec.<CallContext>of()
            .required("name", TEXT, CallContext::caller)
            .required("group", TEXT, caller -> caller.scope().group())
            .required("owner", TEXT, caller -> caller.scope().owner())
            .optional("grants", TEXTS, List.of(), caller -> List.copyOf(caller.grants()))
            .optional("address", TEXT, "", CallContext::address)
            .required("dialect", TEXT, CallContext::dialect)
            .optional("extensions", TEXTS, List.of(), caller -> List.copyOf(caller.extensions()))
            .optional("namesTasks", BOOLEAN, false, CallContext::namesTasks)
            .optional("knowsOnlyTasks", BOOLEAN, false, CallContext::knowsOnlyTasks)
            .optional("literalIds", BOOLEAN, false, CallContext::literalIds)
            .optional("idempotencyKey", TEXT, CallContext::idempotencyKey)
            .optional("traceparent", TEXT, CallContext::traceparent)
            .optional("agents", TEXT, caller -> caller.chain().baggage())
            .as(MailBodies::caller);

    /** A cancellation has no message. */
    private static final Codec<Request> REQUEST = ObjectCodec.<Request>of()
            .required("agent", TEXT, request -> request.task().agent())
            .required("task", TEXT, request -> request.task().taskId())
            .required("caller", CALLER, Request::caller)
            .required(
                    "patienceMs",
                    COUNT,
                    request -> Math.max(0, request.patience().toMillis()))
            .optional("tenant", TEXT, request -> request.operation().tenant())
            .optional("metadata", STRUCT, Map.of(), MailBodies::metadata)
            .optional("message", InstalledExtensions.<Message>codec(Message.class), MailBodies::message)
            .optional(
                    "outputModes",
                    TEXTS,
                    List.of(),
                    request -> configuration(request).acceptedOutputModes())
            .optional(
                    "webhook",
                    InstalledExtensions.<PushConfig>codec(PushConfig.class),
                    request -> configuration(request).pushConfig())
            .as(MailBodies::request);

    private static final Codec<Violation> VIOLATION = ObjectCodec.<Violation>of()
            .required("field", TEXT, Violation::field)
            .required("description", TEXT, Violation::description)
            .as(v -> new Violation(v.next(), v.next()));

    private static final Codec<A2AException> REFUSAL = ObjectCodec.<A2AException>of()
            .required("error", TEXT, refusal -> refusal.error().name())
            .required("code", Codecs.INT, refusal -> refusal.error().code())
            .required("httpStatus", Codecs.INT, refusal -> refusal.error().httpStatus())
            .required("grpcStatus", TEXT, refusal -> refusal.error().grpcStatus())
            .required("message", TEXT, refusal -> String.valueOf(refusal.getMessage()))
            .optional("metadata", Codecs.map(TEXT), Map.of(), A2AException::metadata)
            .optional("violations", Codecs.list(VIOLATION), List.of(), A2AException::violations)
            .optional("retryAfterMs", COUNT, MailBodies::retryAfterMs)
            .as(MailBodies::refusal);

    private static final Codec<Answer> ANSWER = ObjectCodec.<Answer>of()
            .optional("task", TEXT, answer -> answer instanceof Answer.Done done ? done.taskId() : null)
            .optional("refusal", REFUSAL, answer -> answer instanceof Answer.Failed failed ? failed.refusal() : null)
            .as(MailBodies::answer);

    /** An error of an extension, which may not be installed here. */
    private record OtherError(String name, Row row) implements ErrorKind {}

    private MailBodies() {}

    static byte[] write(Request request) {
        return JsonText.write(REQUEST, request);
    }

    static Request readRequest(byte[] json) {
        return JsonText.read(json, REQUEST);
    }

    /** @param answer of the owner */
    static byte[] write(Answer answer) {
        return JsonText.write(ANSWER, answer);
    }

    static Answer readAnswer(byte[] json) {
        return JsonText.read(json, ANSWER);
    }

    private static CallContext caller(Values v) {
        String name = v.next();
        var scope = new CallContext.Scope(v.next(), v.next());
        List<String> grants = v.next();
        var principal = new CallContext.Caller(name, Set.copyOf(grants), v.next());
        String dialect = v.next();
        List<String> extensions = v.next();
        var wire = new CallContext.Wire(dialect, Set.copyOf(extensions), v.next(), v.next(), v.next(), v.next());
        var trace = new CallContext.Trace(v.next(), CallChain.read(v.next()));
        return new CallContext(principal, scope, wire, trace, null);
    }

    private static Map<String, @Nullable Object> metadata(Request request) {
        return switch (request.operation()) {
            case SendMessage send -> send.metadata();
            case CancelTask cancel -> cancel.metadata();
            default ->
                throw new IllegalArgumentException(
                        request.operation().name() + " (expected: a message or a cancellation)");
        };
    }

    private static @Nullable Message message(Request request) {
        return request.operation() instanceof SendMessage send ? send.message() : null;
    }

    private static SendConfiguration configuration(Request request) {
        return request.operation() instanceof SendMessage send ? send.configuration() : SendConfiguration.DEFAULTS;
    }

    private static Request request(Values v) {
        String agent = v.next();
        String taskId = v.next();
        CallContext caller = v.next();
        Duration patience = Duration.ofMillis(v.<Long>next());
        String tenant = v.next();
        Map<String, @Nullable Object> metadata = v.next();
        Message message = v.next();
        var configuration = new SendConfiguration(v.next(), v.next(), null, true);
        Operation.Call<?> operation = message == null
                ? new CancelTask(tenant, taskId, metadata)
                : new SendMessage(tenant, message, configuration, metadata);
        return new Request(new TaskKey(caller.scope(), agent, taskId), operation, caller, patience);
    }

    private static @Nullable Long retryAfterMs(A2AException refusal) {
        Duration wait = refusal.retryAfter();
        return wait == null ? null : wait.toMillis();
    }

    private static A2AException refusal(Values v) {
        String name = v.next();
        int code = v.next();
        int httpStatus = v.next();
        String grpcStatus = v.next();
        String message = v.next();
        ErrorKind error = Stream.of(A2AError.values())
                .filter(known -> known.name().equals(name))
                .map(ErrorKind.class::cast)
                .findFirst()
                .orElse(new OtherError(name, new ErrorKind.Row(code, httpStatus, grpcStatus, message)));
        Map<String, String> metadata = v.next();
        List<Violation> violations = v.next();
        Long retryAfterMs = v.next();
        return A2AException.of(
                error, message, metadata, violations, retryAfterMs == null ? null : Duration.ofMillis(retryAfterMs));
    }

    private static Answer answer(Values v) {
        String taskId = v.next();
        A2AException refusal = v.next();
        if (refusal != null) {
            return new Answer.Failed(refusal);
        }
        return taskId == null ? new Answer.Lost() : new Answer.Done(taskId);
    }
}

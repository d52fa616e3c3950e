package dev.parley.mesh.hub;

import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.DialectProvider;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.Notification;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MeshProtocol.ReadTask;
import dev.parley.mesh.MeshProtocol.RegisterCallback;
import dev.parley.mesh.MeshProtocol.SendEnvelope;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Envelopes over HTTP, at the suffix {@value MeshProtocol#SUFFIX} of each agent's address. */
public final class MeshDialect implements DialectProvider {
    static final String AGENT_HEADER = "X-Agent-Id";

    private static final String VERSION_HEADER = "X-A2A-Version";
    private static final String MESSAGE_HEADER = "X-Message-Id";
    private static final Pattern TASK = Pattern.compile("/tasks/([^/]+)(/callback)?");
    private static final Pattern WAIT = Pattern.compile("(?i)(?:^|[,;\\s])wait\\s*=\\s*\"?(\\d{1,9})\"?");
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);
    private static final String POST = "POST";

    @Override
    public String name() {
        return MeshProtocol.DIALECT;
    }

    @Override
    public String suffix() {
        return MeshProtocol.SUFFIX;
    }

    @Override
    public AgentCard.Interface at(String agentUrl) {
        return new AgentCard.Interface(agentUrl + MeshProtocol.SUFFIX, "ONE", null, Envelope.VERSION);
    }

    /** A request for messages about the task in its path. */
    private record Callback(String agentId, String address) {}

    private static final Codec<Callback> CALLBACK = ObjectCodec.<Callback>of()
            .required("agentId", Codecs.WORDS, Callback::agentId)
            .required("callback", Codecs.WORDS, Callback::address)
            .as(v -> new Callback(v.next(), v.next()));

    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        Matcher task = TASK.matcher(request.path());
        if (request.path().isEmpty() || request.path().equals("/")) {
            requireMethod(request, POST);
            return WireCall.of(send(request), MeshDialect::answer);
        }
        requireVersion(request.header(VERSION_HEADER));
        if (!task.matches()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        if (task.group(2) == null) {
            requireMethod(request, "GET");
            return WireCall.of(new ReadTask(task.group(1), wait(request)), MeshDialect::answer);
        }
        requireMethod(request, POST);
        requireJson(request);
        Callback callback = JsonText.request(request.body(), CALLBACK);
        var register = new RegisterCallback(task.group(1), callback.agentId(), callback.address());
        return WireCall.of(
                register,
                registered -> new WireAnswer.Whole(
                        201, Map.of("Content-Type", Headers.JSON), JsonText.write(Codecs.FREE, registered)));
    }

    /** A message that cannot be read is a call, too: its refusal is an event of the agent. */
    private static SendEnvelope send(WireRequest request) {
        try {
            requireVersion(request.header(VERSION_HEADER));
            return new SendEnvelope(envelope(request), wait(request));
        } catch (A2AException unreadable) {
            Envelope readable = MeshErrors.readable(request.body(), request.arrival(), unreadable);
            return new SendEnvelope(readable, Duration.ZERO, unreadable);
        }
    }

    private static Envelope envelope(WireRequest request) {
        requireJson(request);
        Envelope envelope = JsonText.request(request.body(), EnvelopeModel.ENVELOPE);
        String id = request.header(MESSAGE_HEADER);
        if (id != null && !id.equals(envelope.messageId())) {
            throw A2AException.invalidParams(
                    "messageId",
                    '"' + envelope.messageId() + "\" (expected: \"" + id + "\", as in the header " + MESSAGE_HEADER
                            + ")");
        }
        return envelope;
    }

    private static void requireVersion(@Nullable String version) {
        if (version != null && !version.equals(Envelope.VERSION)) {
            String problem = '"' + version + "\" (expected: \"" + Envelope.VERSION + "\")";
            throw A2AException.of(
                    MeshError.INVALID_MESSAGE,
                    VERSION_HEADER + ": " + problem,
                    Map.of("supported", Envelope.VERSION),
                    List.of(new Violation("version", problem)),
                    null);
        }
    }

    private static void requireMethod(WireRequest request, String method) {
        if (!request.method().equals(method)) {
            throw A2AException.notAllowed(request.method(), method.equals(POST) ? POST : "GET, HEAD");
        }
    }

    private static void requireJson(WireRequest request) {
        String type = request.header("Content-Type");
        if (type != null
                && !type.toLowerCase(Locale.ROOT).split(";", 2)[0].strip().equals(Headers.JSON)) {
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                    "Content-Type: " + type + " (expected: " + Headers.JSON + ")",
                    Map.of(MeshErrors.OF_HTTP, "true"));
        }
    }

    /** Source: RFC 7240, section 4.3; a preference of another form is ignored. */
    private static Duration wait(WireRequest request) {
        String prefer = request.header("Prefer");
        Matcher seconds = WAIT.matcher(prefer == null ? "" : prefer);
        if (!seconds.find()) {
            return Duration.ZERO;
        }
        Duration wait = Duration.ofSeconds(Long.parseLong(seconds.group(1)));
        return wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT;
    }

    private static WireAnswer.Whole answer(Envelope envelope) {
        int status = switch (envelope.message().type()) {
            case TASK_ACCEPTANCE -> 202;
            case TASK_REJECTION -> MeshError.TASK_REJECTED.httpStatus();
            default -> 200;
        };
        return whole(status, Map.of(), envelope);
    }

    private static WireAnswer.Whole whole(int status, Map<String, String> more, Envelope envelope) {
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", Headers.JSON);
        headers.put("Cache-Control", "no-store");
        headers.putAll(envelope.headers());
        headers.putAll(more);
        return new WireAnswer.Whole(status, headers, JsonText.write(EnvelopeModel.ENVELOPE, envelope));
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        return whole(
                MeshErrors.status(problem),
                problem.headers(),
                MeshErrors.envelope(request.body(), request.arrival(), problem));
    }

    @Override
    public @Nullable Notification notification(PushConfig config, LoggedEvent event, Supplier<Task> task) {
        return Callbacks.notification(config, event, task);
    }

    @Override
    public boolean ordersContexts() {
        return true; // the tasks of a correlation id have one context
    }

    @Override
    public Optional<Binding> binding(AgentCard.Interface agent) {
        return Optional.empty(); // clients of the mesh send envelopes, not operations of A2A
    }
}

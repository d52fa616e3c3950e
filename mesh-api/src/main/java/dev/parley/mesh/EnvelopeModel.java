package dev.parley.mesh;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static java.util.Objects.requireNonNull;

import dev.parley.mesh.Envelope.Body;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.Envelope.Priority;
import dev.parley.mesh.Envelope.Reply;
import dev.parley.mesh.Envelope.Signature;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshContent.Notice;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Problem;
import dev.parley.mesh.MeshContent.Query;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** JSON of envelopes and of their contents, in both directions. */
public final class EnvelopeModel {
    private static final Codec<Party> PARTY = ObjectCodec.<Party>of()
            .required("agentId", TEXT, Party::agentId)
            .required("endpoint", TEXT, Party::endpoint)
            .optional("capabilities", TEXTS, List.of(), Party::capabilities)
            .as(v -> new Party(v.next(), v.next(), v.next()));

    private static final Codec<Body> BODY = ObjectCodec.<Body>of()
            .required("type", Wire.words(MessageType.class), Body::type)
            .required("content", FREE, Body::content)
            .always("mimeType", TEXT, Envelope.JSON, Body::mimeType)
            .as(v -> new Body(v.next(), v.next(), v.next()));

    private record Security(boolean encrypted, String callback, Map<String, @Nullable Object> key, String signature) {
        @Nullable
        Reply reply() {
            if (callback.isEmpty() != key.isEmpty() || !encrypted && !key.isEmpty()) {
                throw InvalidField.of(
                        "security.callback",
                        "without key, or not encrypted (expected: callback and key of an encrypted message)");
            }
            return key.isEmpty() ? null : new Reply(callback, key);
        }
    }

    private static final Codec<Security> SECURITY = ObjectCodec.<Security>of()
            .optional("encrypted", BOOLEAN, false, Security::encrypted)
            .optional("callback", TEXT, "", Security::callback)
            .optional("key", STRUCT, Map.of(), Security::key)
            .optional("signature", TEXT, "", Security::signature)
            .as(v -> new Security(v.next(), v.next(), v.next(), v.next()));

    private static final byte[] NO_FORM = {};
    private static final Security NONE = new Security(false, "", Map.of(), "");

    private static final Codec<Handling> HANDLING = ObjectCodec.<Handling>of()
            .always("priority", Wire.words(Priority.class), Priority.MEDIUM, Handling::priority)
            .optional("timeout", Wire.DURATION, Handling::timeout)
            .optional("retryPolicy", Wire.RETRY_POLICY, Handling::retryPolicy)
            .optional("security", SECURITY, NONE, EnvelopeModel::security)
            .as(v -> handling(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<String> VERSION = Codecs.via(
            TEXT,
            version -> {
                if (!version.equals(Envelope.VERSION)) {
                    throw InvalidField.of("", '"' + version + "\" (expected: \"" + Envelope.VERSION + "\")");
                }
                return version;
            },
            version -> version);

    private static final Codec<Envelope> MEMBERS = ObjectCodec.<Envelope>of()
            .required("version", VERSION, envelope -> Envelope.VERSION)
            .required("messageId", TEXT, Envelope::messageId)
            .optional("correlationId", TEXT, Envelope::correlationId)
            .optional("timestamp", Wire.MILLIS, Envelope::timestamp)
            .required("from", PARTY, Envelope::from)
            .required("to", PARTY, Envelope::to)
            .required("message", BODY, Envelope::message)
            .always("metadata", HANDLING, Handling.DEFAULT, Envelope::metadata)
            .as(v -> {
                var unused = v.<String>next();
                return new Envelope(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next());
            });

    /** Keeps the form that the signature of a message that it reads is about. */
    public static final Codec<Envelope> ENVELOPE = Codecs.via(STRUCT, EnvelopeModel::envelope, EnvelopeModel::members);

    private static final Codec<Problem> PROBLEM = ObjectCodec.<Problem>of()
            .required("code", TEXT, Problem::code)
            .required("message", TEXT, Problem::message)
            .as(v -> new Problem(v.next(), v.next()));

    private static final Codec<Integer> PROGRESS = Codecs.via(INT, EnvelopeModel::progress, value -> value);

    private static final Map<MessageType, Codec<? extends MeshContent>> CONTENTS = new EnumMap<>(Map.of(
            MessageType.TASK_DELEGATION,
            ObjectCodec.<Delegation>of()
                    .required("task", TEXT, Delegation::task)
                    .always("parameters", STRUCT, Map.of(), Delegation::parameters)
                    .optional("callback", TEXT, Delegation::callback)
                    .optional("deadline", Wire.MILLIS, Delegation::deadline)
                    .as(v -> new Delegation(v.next(), v.next(), v.next(), v.next())),
            MessageType.TASK_ACCEPTANCE,
            ObjectCodec.<Acceptance>of()
                    .required("taskId", TEXT, Acceptance::taskId)
                    .optional("estimatedCompletion", Wire.MILLIS, Acceptance::estimatedCompletion)
                    .always("capabilities", TEXTS, List.of(), Acceptance::capabilities)
                    .optional("workflowId", TEXT, Acceptance::workflowId)
                    .as(v -> new Acceptance(v.next(), v.next(), v.next(), v.next())),
            MessageType.TASK_REJECTION,
            ObjectCodec.<Rejection>of()
                    .required("reason", TEXT, Rejection::reason)
                    .optional("code", TEXT, Rejection::code)
                    .optional("alternatives", TEXTS, List.of(), Rejection::alternatives)
                    .as(v -> new Rejection(v.next(), v.next(), v.next())),
            MessageType.TASK_RESULT,
            ObjectCodec.<Result>of()
                    .required("taskId", TEXT, Result::taskId)
                    .required("status", Wire.words(Outcome.class), Result::status)
                    .optional("result", FREE, Result::result)
                    .optional("error", PROBLEM, Result::error)
                    .as(v -> new Result(v.next(), v.next(), value(v.next()), v.next())),
            MessageType.STATUS_UPDATE,
            ObjectCodec.<Status>of()
                    .required("taskId", TEXT, Status::taskId)
                    .required("progress", PROGRESS, Status::progress)
                    .optional("message", TEXT, Status::message)
                    .optional("estimatedCompletion", Wire.MILLIS, Status::estimatedCompletion)
                    .optional("state", TEXT, Status::state)
                    .as(v -> new Status(v.next(), v.next(), v.next(), v.next(), v.next())),
            MessageType.QUERY,
            ObjectCodec.<Query>of()
                    .required("query", TEXT, Query::query)
                    .optional("parameters", STRUCT, Map.of(), Query::parameters)
                    .optional("taskId", TEXT, Query::taskId)
                    .as(v -> new Query(v.next(), v.next(), v.next())),
            MessageType.RESPONSE,
            ObjectCodec.<Response>of()
                    .optional("result", FREE, Response::result)
                    .optional("error", PROBLEM, Response::error)
                    .optional("taskId", TEXT, Response::taskId)
                    .as(v -> new Response(value(v.next()), v.next(), v.next())),
            MessageType.ERROR,
            ObjectCodec.<Failure>of()
                    .required("code", TEXT, Failure::code)
                    .required("message", TEXT, Failure::message)
                    .optional("details", STRUCT, Map.of(), Failure::details)
                    .always("retryable", BOOLEAN, false, Failure::retryable)
                    .as(v -> new Failure(v.next(), v.next(), v.next(), v.next())),
            MessageType.CONFLICT,
            notice(MessageType.CONFLICT),
            MessageType.FEEDBACK,
            notice(MessageType.FEEDBACK)));

    private static final UnknownMembers UNKNOWN = unknownMembers();

    private EnvelopeModel() {}

    private static UnknownMembers unknownMembers() {
        var known = new LinkedHashMap<String, Set<String>>();
        known.put("", UnknownMembers.names(MEMBERS));
        known.put("from", UnknownMembers.names(PARTY));
        known.put("to", UnknownMembers.names(PARTY));
        known.put("message", UnknownMembers.names(BODY));
        known.put("metadata", UnknownMembers.names(HANDLING));
        known.put("metadata.retryPolicy", UnknownMembers.names(Wire.RETRY_POLICY));
        known.put("metadata.security", UnknownMembers.names(SECURITY));
        var contents = new EnumMap<MessageType, Set<String>>(MessageType.class);
        CONTENTS.forEach((type, codec) -> contents.put(type, UnknownMembers.names(codec)));
        return new UnknownMembers(known, contents);
    }

    /** Paths of members of a message that this version does not know, which it ignores. */
    static List<String> unknownMembers(Map<?, ?> json, MessageType type) {
        return UNKNOWN.in(json, type);
    }

    private static Codec<Notice> notice(MessageType type) {
        return Codecs.via(STRUCT, members -> new Notice(type, members), Notice::members);
    }

    /**
     * The content of a message.
     *
     * @throws dev.parley.protocol.A2AException INVALID_PARAMS if it is not of the message's type
     */
    public static MeshContent content(Body body) {
        Codec<? extends MeshContent> codec = CONTENTS.get(body.type());
        if (codec == null) {
            throw InvalidField.of(
                    "message.type",
                    body.type().word() + " (expected: "
                            + String.join(
                                    ", ",
                                    CONTENTS.keySet().stream()
                                            .map(MessageType::word)
                                            .toList()) + ")");
        }
        return codec.fromJson(body.content());
    }

    /** A body with this content. */
    public static Body body(MeshContent content) {
        return new Body(content.type(), json(content.type(), content), Envelope.JSON);
    }

    @SuppressWarnings("unchecked") // the codec of its type
    private static @Nullable Object json(MessageType type, MeshContent content) {
        return requireNonNull((Codec<MeshContent>) CONTENTS.get(type)).toJson(content);
    }

    private static @Nullable Object value(@Nullable Object json) {
        return Codecs.NULL.equals(json) ? null : json;
    }

    private static Handling handling(
            Priority priority, @Nullable Duration timeout, @Nullable RetryPolicy retries, Security security) {
        return new Handling(
                priority,
                timeout,
                retries,
                security.encrypted,
                security.reply(),
                security.signature.isEmpty() ? null : new Signature(security.signature, NO_FORM));
    }

    private static Security security(Handling handling) {
        Signature signature = handling.signature();
        Reply reply = handling.reply();
        return new Security(
                handling.encrypted(),
                reply == null ? "" : reply.callback(),
                reply == null ? Map.of() : reply.key(),
                signature == null ? "" : signature.jws());
    }

    private static Envelope envelope(Map<String, @Nullable Object> json) {
        boolean isShort = ShortForm.isShort(json);
        Envelope envelope = MEMBERS.fromJson(isShort ? ShortForm.full(json) : json);
        if (!isShort) {
            UNKNOWN.log(envelope, json);
        }
        Signature signature = envelope.metadata().signature();
        return signature == null ? envelope : envelope.signed(new Signature(signature.jws(), SignedForm.of(json)));
    }

    @SuppressWarnings("unchecked") // an object has members
    static Map<String, @Nullable Object> members(Envelope envelope) {
        return (Map<String, @Nullable Object>) requireNonNull(MEMBERS.toJson(envelope));
    }

    private static int progress(int percent) {
        if (percent < 0 || percent > 100) {
            throw InvalidField.of("", percent + " (expected: 0 to 100)");
        }
        return percent;
    }
}

package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph extension: its methods on an agent's JSON-RPC address, in whichever version of A2A the rest is
 * spoken, and its REST binding below that.
 *
 * <p>The status of an error follows what the published clients can read. Those of a query or update find the error only
 * under status 200; those of a subscription take status 200 for a stream that has begun.
 *
 * <p>Source: knowledge graph extension, "Methods" and "Error handling".
 */
final class Knowledge {
    /** Where the GraphQL schema is, below the address of the REST binding. */
    static final String SCHEMA = "/schema.graphql";

    static final String AFTER = "afterChangeId";

    private static final int MAX_BODY = 1 << 20;
    private static final Pattern PATH = Pattern.compile("(?:/v1)?(?:/[^/]+)?" + KnowledgeExtension.REST_PATH
            + "(:query|:update|:subscribe|" + Pattern.quote(SCHEMA) + ")");
    private static final byte[] NOTHING = {};

    private final Dialects dialects;
    private final boolean strictStatuses;

    Knowledge(Dialects dialects, boolean strictStatuses) {
        this.dialects = dialects;
        this.strictStatuses = strictStatuses;
    }

    static boolean isMethod(String method) {
        return KnowledgeOperation.NAMES.contains(method);
    }

    static boolean isPath(String path) {
        return path.contains(KnowledgeExtension.REST_PATH) && PATH.matcher(path).matches();
    }

    // ---- JSON-RPC

    WireAnswer answerRpc(Envelope envelope, WireRequest request, ServedAgent agent, CallContext caller) {
        Call call = new Call(request, agent, caller);
        Form form = Form.rpc(call.dialect, envelope.id());
        boolean subscribes = envelope.method().equals(KnowledgeOperation.SUBSCRIBE);
        try {
            call.requireKnowledge();
            requireSize(request);
            return call.answer(form, envelope.params(shape(envelope.method()), request, caller), true);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            A2AException problem = KnowledgeDialect.fixed(Problem.of(failure));
            return form.error(problem, rpcStatus(problem, subscribes));
        }
    }

    private int rpcStatus(A2AException problem, boolean subscribes) {
        boolean shown = subscribes
                || strictStatuses
                || problem.error() == A2AError.METHOD_NOT_FOUND
                || Form.HTTP_ERRORS.contains(problem.error());
        return !shown
                ? 200
                : problem.error() == A2AError.KNOWLEDGE_SUBSCRIPTION && isLater(problem) ? 503 : status(problem);
    }

    // ---- REST

    WireAnswer answerRest(WireRequest request, ServedAgent agent, CallContext caller) {
        Call call = new Call(request, agent, caller);
        Form form = dialects.restForm(KnowledgeDialect.ACTIVATED, request);
        try {
            Matcher path = PATH.matcher(request.path());
            String asked = path.matches() ? requireNonNull(path.group(1)) : "";
            call.requireKnowledge();
            if (asked.equals(SCHEMA)) {
                return call.schema();
            }
            Dialects.requirePost(request);
            if (!Dialects.isJson(request.header("Content-Type"))) {
                return Dialects.wrongContentType(form, request);
            }
            requireSize(request);
            Shape<? extends KnowledgeOperation> shape = shape("knowledge/" + asked.substring(1));
            KnowledgeOperation operation =
                    LargeBodies.compute(request, caller, () -> Json.request(request.body(), shape::read));
            return call.answer(form, operation, false);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            A2AException problem = KnowledgeDialect.fixed(Problem.of(failure));
            return form.error(problem, status(problem));
        }
    }

    /** The status that says most. */
    private static int status(A2AException problem) {
        return switch (problem.error()) {
            case UNSUPPORTED_OPERATION -> 501;
            case KNOWLEDGE_UPDATE -> isForbidden(problem) ? 403 : isLater(problem) ? 429 : 409;
            case KNOWLEDGE_QUERY, KNOWLEDGE_SUBSCRIPTION -> isLater(problem) ? 429 : 400;
            default -> problem.error().httpStatus();
        };
    }

    private static boolean isForbidden(A2AException problem) {
        return "forbidden".equals(problem.metadata().get("reason"));
    }

    /** True for a limit: the same request may succeed when others are through. */
    private static boolean isLater(A2AException problem) {
        return problem.retryAfter() != null || "quota".equals(problem.metadata().get("reason"));
    }

    // ---- Both

    private static Shape<? extends KnowledgeOperation> shape(String method) {
        return switch (method) {
            case KnowledgeOperation.QUERY -> KnowledgeModel.QUERY;
            case KnowledgeOperation.UPDATE -> KnowledgeModel.UPDATE;
            default -> KnowledgeModel.SUBSCRIBE;
        };
    }

    private static void requireSize(WireRequest request) {
        if (request.body().length > MAX_BODY) {
            throw A2AException.of(
                    A2AError.PAYLOAD_TOO_LARGE, request.body().length + " bytes (expected: at most " + MAX_BODY + ")");
        }
    }

    /** One request, and what its caller has activated. */
    private static final class Call {
        private final WireRequest request;
        private final ServedAgent agent;
        private final CallContext context;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private final boolean activated;
        private final KnowledgeDialect dialect;

        Call(WireRequest request, ServedAgent agent, CallContext caller) {
            this.request = request;
            this.agent = agent;
            Set<String> extensions = Dialects.extensions(request);
            this.context = Dialects.context(caller, extensions, request.header(Dialects.TRACE), Dialect.V1);
            this.activated = KnowledgeExtension.in(agent.card())
                    .filter(entry -> extensions.contains(entry.uri()))
                    .isPresent();
            this.dialect = activated ? KnowledgeDialect.ACTIVATED : KnowledgeDialect.PUBLISHED;
            String echoed = Dialects.activated(extensions, agent.card());
            if (!echoed.isEmpty()) {
                headers.put(dialect.extensionsHeader(), echoed);
            }
        }

        void requireKnowledge() {
            if (agent.knowledge() == null) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
        }

        private ServedKnowledge knowledge() {
            return requireNonNull(agent.knowledge());
        }

        WireAnswer answer(Form form, KnowledgeOperation operation, boolean rpc) {
            ServedKnowledge graph = knowledge();
            return switch (operation) {
                case Query query -> answer(form, KnowledgeModel.QUERY_RESULT, graph.query(query, context));
                case Update update -> answer(form, KnowledgeModel.UPDATE_RESULT, graph.update(update, context));
                case Subscribe subscribe -> {
                    Feed<Change> changes = graph.subscribe(resuming(subscribe), context);
                    headers.put("Content-Type", Dialects.EVENT_STREAM);
                    headers.put("Cache-Control", "no-cache");
                    headers.put("X-Accel-Buffering", "no"); // nginx would collect events
                    if (changes.position() != null) {
                        headers.put(KnowledgeExtension.POSITION, changes.position());
                    }
                    yield new WireAnswer.Events(
                            headers,
                            changes.as(change -> frame(form, change, rpc)),
                            problem -> form.failure(KnowledgeDialect.fixed(problem)));
                }
            };
        }

        private <T> WireAnswer answer(Form form, Codec<T> codec, T result) {
            return LargeBodies.encode(result, context, () -> form.result(codec, result, headers));
        }

        /**
         * The published reader knows no line but {@code data}, so the number is for who asked for more. What was there before
         * has none, for behind it comes the rest of that, which has another order.
         */
        private byte[] frame(Form form, Change change, boolean rpc) {
            byte[] json = Json.write(NOTHING, KnowledgeModel.CHANGE, change, NOTHING);
            boolean numbered = (activated || !rpc) && change.metadata().get("snapshot") == null;
            return form.frame(numbered ? change.changeId() : null, json);
        }

        private Subscribe resuming(Subscribe subscribe) {
            String last = request.header(Dialects.LAST_EVENT_ID);
            if (last == null || last.isBlank() || subscribe.metadata().containsKey(AFTER)) {
                return subscribe;
            }
            var metadata = new LinkedHashMap<String, @Nullable Object>(subscribe.metadata());
            metadata.put(AFTER, last.trim());
            return subscribe.with(metadata);
        }

        WireAnswer schema() {
            if (!request.method().equals("GET")) {
                throw A2AException.notAllowed(request.method(), "GET, HEAD");
            }
            headers.put("Content-Type", "application/graphql; charset=utf-8");
            headers.put("Cache-Control", "private, max-age=60");
            byte[] schema = knowledge().schema().apply(context).getBytes(StandardCharsets.UTF_8);
            return new WireAnswer.Whole(200, headers, schema);
        }
    }
}

package dev.parley.knowledge.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.extension.JsonForm;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph extension on the wire: its rows, and how it differs from A2A.
 *
 * <p>The status of an error follows what the published clients can read. Those of a query or update find the error only
 * under status 200; those of a subscription take status 200 for a stream that has begun.
 *
 * <p>Source: knowledge graph extension, "Methods" and "Error handling".
 */
public final class KnowledgeProtocol implements ExtensionProtocol.Provider {
    /** Where the GraphQL schema is, below the address of the REST binding. */
    static final String SCHEMA = "/schema.graphql";

    private static final String AFTER = "afterChangeId";
    private static final String SNAPSHOT = "snapshot";
    private static final String SERVICE = KnowledgeExtension.GRPC_SERVICE + "/";
    private static final String REST = KnowledgeExtension.REST_PATH;

    /** The extension. */
    public static final ExtensionProtocol EXTENSION = new ExtensionProtocol(
            KnowledgeEndpoint.EXTENSION_URI,
            List.of(
                    ExtensionMethod.call(
                                    KnowledgeOperation.QUERY,
                                    Query.class,
                                    KnowledgeJson.QUERY,
                                    KnowledgeJson.QUERY_RESULT)
                            .rest("POST " + REST + ":query")
                            .grpc(SERVICE + "Query")
                            .content(KnowledgeProtocol::content),
                    ExtensionMethod.call(
                                    KnowledgeOperation.UPDATE,
                                    Update.class,
                                    KnowledgeJson.UPDATE,
                                    KnowledgeJson.UPDATE_RESULT)
                            .rest("POST " + REST + ":update")
                            .grpc(SERVICE + "Update")
                            .content(KnowledgeOperation.UpdateResult::affectedIds)
                            .ofTask((update, task) -> update.taskId() == null ? update.forTask(task) : update),
                    ExtensionMethod.stream(
                                    KnowledgeOperation.SUBSCRIBE,
                                    Subscribe.class,
                                    KnowledgeJson.SUBSCRIBE,
                                    KnowledgeJson.CHANGE)
                            .rest("POST " + REST + ":subscribe")
                            .grpc(SERVICE + "Subscribe")
                            .resumable(KnowledgeProtocol::id, KnowledgeProtocol::after)
                            .fromPositionIf(subscribe ->
                                    !Boolean.TRUE.equals(subscribe.metadata().get(SNAPSHOT))),
                    ExtensionMethod.document(
                            KnowledgeOperation.QUERY,
                            KnowledgeSchema.class,
                            JsonForm.object(none -> new KnowledgeSchema(), schema -> Map.of()),
                            REST + SCHEMA,
                            "application/graphql")),
            new Style(false),
            List.of(KnowledgeError.values()));

    /** The extension with the HTTP status of each error, instead of 200 where published clients read no other. */
    public static final ExtensionProtocol STRICT = EXTENSION.with(new Style(true));

    /** For the service loader. */
    public KnowledgeProtocol() {}

    @Override
    public List<ExtensionProtocol> protocols() {
        return List.of(EXTENSION);
    }

    @Override
    public Map<Class<?>, JsonForm<?>> values() {
        return Map.of(
                Statement.class, KnowledgeJson.STATEMENT,
                Patch.class, KnowledgeJson.PATCH,
                Query.class, KnowledgeJson.QUERY,
                Update.class, KnowledgeJson.UPDATE,
                Subscribe.class, KnowledgeJson.SUBSCRIBE,
                KnowledgeOperation.QueryResult.class, KnowledgeJson.QUERY_RESULT,
                KnowledgeOperation.UpdateResult.class, KnowledgeJson.UPDATE_RESULT,
                KnowledgeOperation.Change.class, KnowledgeJson.CHANGE);
    }

    private static @Nullable Object content(KnowledgeOperation.QueryResult result) {
        var content = new ArrayList<@Nullable Object>();
        content.add(result.data());
        content.add(result.metadata());
        return content;
    }

    /** A statement that was there before has no id: after it comes the rest of those, which have another order. */
    private static @Nullable String id(KnowledgeOperation.Change change) {
        return change.metadata().get(SNAPSHOT) == null ? change.changeId() : null;
    }

    private static Subscribe after(Subscribe subscribe, String id) {
        var metadata = new LinkedHashMap<String, @Nullable Object>(subscribe.metadata());
        metadata.put(AFTER, id);
        metadata.remove(SNAPSHOT);
        return subscribe.with(metadata);
    }

    private record Style(boolean strict) implements ExtensionStyle {
        /** The metadata that holds the errors of GraphQL, as JSON. */
        private static final String ERRORS = "errors";

        private static final String DETAIL = "detail";

        /** The members of old cards. */
        private static final String FLAG = "knowledgeGraph";

        private static final String LANGUAGES = "knowledgeGraphQueryLanguages";

        @Override
        public Map<String, @Nullable Object> flags(AgentCard.@Nullable Extension entry) {
            var flags = new LinkedHashMap<String, @Nullable Object>();
            flags.put(FLAG, entry != null);
            flags.put(LANGUAGES, entry == null ? List.of() : KnowledgeExtension.languages(entry));
            return flags;
        }

        @Override
        public Optional<AgentCard.Extension> ofFlags(Map<String, @Nullable Object> flags) {
            if (!Boolean.TRUE.equals(flags.getOrDefault(FLAG, flags.get("knowledge_graph")))) {
                return Optional.empty();
            }
            var languages = new ArrayList<String>();
            if (flags.getOrDefault(LANGUAGES, flags.get("knowledge_graph_query_languages")) instanceof List<?> listed) {
                listed.forEach(one -> languages.add(String.valueOf(one)));
            }
            return Optional.of(KnowledgeExtension.ofFlags(languages));
        }

        @Override
        public String positionHeader() {
            return KnowledgeExtension.POSITION;
        }

        @Override
        public int maxRequestBytes() {
            return 1 << 20;
        }

        @Override
        public String cacheControl() {
            return "no-cache";
        }

        /** Its schema fixes the messages, so the rest goes into {@code data}. */
        @Override
        public A2AException shown(A2AException problem) {
            String message = String.valueOf(problem.getMessage());
            var metadata = new LinkedHashMap<>(problem.metadata());
            if (!message.equals(problem.error().defaultMessage())
                    && problem.violations().isEmpty()) {
                metadata.putIfAbsent(DETAIL, message);
            }
            return A2AException.of(
                    problem.error(),
                    problem.error().defaultMessage(),
                    metadata,
                    problem.violations(),
                    problem.retryAfter());
        }

        @Override
        public Optional<Integer> rpcStatus(A2AException problem, boolean stream) {
            boolean shown = stream || strict || problem.error() == A2AError.METHOD_NOT_FOUND;
            return !shown
                    ? Optional.empty()
                    : Optional.of(
                            problem.error() == KnowledgeError.KNOWLEDGE_SUBSCRIPTION && isLater(problem)
                                    ? 503
                                    : status(problem));
        }

        @Override
        public Optional<Integer> restStatus(A2AException problem) {
            return Optional.of(status(problem));
        }

        /** The status that says most. */
        private static int status(A2AException problem) {
            return switch (problem.error()) {
                case A2AError.UNSUPPORTED_OPERATION -> 501;
                case KnowledgeError.KNOWLEDGE_UPDATE -> isForbidden(problem) ? 403 : isLater(problem) ? 429 : 409;
                case KnowledgeError.KNOWLEDGE_QUERY, KnowledgeError.KNOWLEDGE_SUBSCRIPTION ->
                    isLater(problem) ? 429 : 400;
                default -> problem.error().httpStatus();
            };
        }

        private static boolean isForbidden(A2AException problem) {
            return "forbidden".equals(problem.metadata().get("reason"));
        }

        /** True for a limit: the same request may succeed when others are through. */
        private static boolean isLater(A2AException problem) {
            return problem.retryAfter() != null
                    || "quota".equals(problem.metadata().get("reason"));
        }

        /** As published, {@code data} is an object or null; callers that activate the extension get the details of A2A. */
        @Override
        public Optional<Map<String, @Nullable Object>> rpcErrorData(A2AException problem, boolean activated) {
            if (activated) {
                return Optional.empty();
            }
            return Optional.of(
                    switch (problem.error()) {
                        // Of these the published schema says that data is there and null.
                        case A2AError.METHOD_NOT_FOUND,
                                A2AError.TASK_NOT_FOUND,
                                A2AError.TASK_NOT_CANCELABLE,
                                A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED,
                                A2AError.UNSUPPORTED_OPERATION,
                                A2AError.CONTENT_TYPE_NOT_SUPPORTED -> Map.of();
                        default -> data(problem);
                    });
        }

        private static Map<String, @Nullable Object> data(A2AException problem) {
            var data = new TreeMap<String, @Nullable Object>();
            problem.metadata().forEach((name, value) -> data.put(name, name.equals(ERRORS) ? parsed(value) : value));
            if (!problem.violations().isEmpty()) {
                var violations = new ArrayList<Map<String, String>>();
                for (A2AException.Violation one : problem.violations()) {
                    violations.add(Map.of("field", one.field(), "description", one.description()));
                }
                data.put("violations", violations);
            }
            if (problem.retryAfter() != null) {
                data.put("retryAfterSeconds", Math.max(1, problem.retryAfter().toSeconds()));
            }
            return data;
        }

        private static Object parsed(String json) {
            try {
                return Json.read(json.getBytes(UTF_8), Object.class);
            } catch (A2AException text) {
                return json;
            }
        }

        /** Of some errors, the reason decides. */
        @Override
        public Optional<String> grpcStatus(A2AException problem) {
            String reason = problem.metadata().getOrDefault("reason", "");
            if (reason.equals("busy")) {
                return Optional.of("RESOURCE_EXHAUSTED");
            }
            return switch (problem.error()) {
                case KnowledgeError.KNOWLEDGE_QUERY ->
                    Optional.of(reason.equals("timeout") ? "DEADLINE_EXCEEDED" : "INVALID_ARGUMENT");
                case KnowledgeError.KNOWLEDGE_UPDATE ->
                    Optional.of(reason.equals("forbidden") ? "PERMISSION_DENIED" : "ABORTED");
                case KnowledgeError.KNOWLEDGE_SUBSCRIPTION ->
                    Optional.of(isLater(problem) ? "RESOURCE_EXHAUSTED" : "INVALID_ARGUMENT");
                case A2AError.METHOD_NOT_FOUND, A2AError.UNSUPPORTED_OPERATION -> Optional.of("UNIMPLEMENTED");
                default -> Optional.empty();
            };
        }

        /** The published reader knows no line but {@code data}. */
        @Override
        public boolean numbersRpcEvents(boolean activated) {
            return activated;
        }

        @Override
        public String restUrl(AgentCard.Extension entry, String agent, String path) {
            if (path.endsWith(SCHEMA)) {
                return KnowledgeExtension.schemaUrl(entry)
                        .orElseThrow(() -> unsupported("The card of the agent does not say where the schema is"));
            }
            return KnowledgeExtension.restBase(entry, agent) + path.substring(REST.length());
        }

        @Override
        public void requireOffered(Operation.Extension operation, AgentCard.Extension entry, AgentCard card) {
            if (operation instanceof Query query) {
                List<String> languages = KnowledgeExtension.languagesOrDefault(entry);
                if (!languages.contains(query.language())) {
                    throw unsupported("The agent " + card.name() + " knows no " + query.language() + " (expected: "
                            + String.join(" or ", languages) + ")");
                }
            } else if (operation instanceof Subscribe
                    && !(Boolean.TRUE.equals(card.capabilities().streaming())
                            && KnowledgeExtension.hasSubscriptions(entry))) {
                throw unsupported(
                        "The agent " + card.name() + " does not stream changes (expected: streaming in its card)");
            }
        }

        private static A2AException unsupported(String message) {
            return A2AException.of(A2AError.UNSUPPORTED_OPERATION, message);
        }
    }
}

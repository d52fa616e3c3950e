package dev.parley.knowledge.api;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The three things a client can ask of a knowledge graph, each with the fields of its request.
 *
 * <p>Source: knowledge graph extension, methods {@code knowledge/query}, {@code knowledge/update}, {@code
 * knowledge/subscribe}.
 */
public sealed interface KnowledgeOperation {
    String GRAPHQL = "graphql";
    String SPARQL = "sparql";

    String QUERY = "knowledge/query";
    String UPDATE = "knowledge/update";
    String SUBSCRIBE = "knowledge/subscribe";

    /** The names of all operations, as {@link #name} returns them. */
    List<String> NAMES = List.of(QUERY, UPDATE, SUBSCRIBE);

    /** Patches that one update may have. */
    int MAX_MUTATIONS = 1_000;

    /** Name of the operation in the extension, in every dialect. */
    String name();

    /** The task that it has to do with, of whichever agent; null for none. */
    @Nullable
    String taskId();

    @Nullable
    String sessionId();

    Map<String, @Nullable Object> metadata();

    /**
     * A query.
     *
     * @param language {@link #GRAPHQL} or {@link #SPARQL}
     * @param requiredCertainty the query ignores statements of lower or unknown certainty; null or 0 for no such limit
     * @param maxAge the query ignores statements that were confirmed longer ago; null for no such limit
     */
    record Query(
            String query,
            String language,
            Map<String, @Nullable Object> variables,
            @Nullable Double requiredCertainty,
            @Nullable Duration maxAge,
            @Nullable String taskId,
            @Nullable String sessionId,
            Map<String, @Nullable Object> metadata)
            implements KnowledgeOperation, Operation.ExtensionCall<QueryResult> {
        public Query {
            requireText("query", query);
            requireNonNull(language, "language");
            variables = Copies.of(variables);
            metadata = Copies.of(metadata);
            Statement.requireCertainty("requiredCertainty", requiredCertainty);
            if (maxAge != null && maxAge.isNegative()) {
                throw InvalidField.of("maxAgeSeconds", maxAge.toSeconds() + " (expected: >= 0)");
            }
        }

        @Override
        public String name() {
            return QUERY;
        }

        @Override
        public @Nullable String relatedTask() {
            return taskId;
        }

        /** A query in GraphQL. */
        public static Query graphql(String query, Map<String, @Nullable Object> variables) {
            return new Query(query, GRAPHQL, variables, null, null, null, null, Map.of());
        }

        /** A query in SPARQL. */
        public static Query sparql(String query) {
            return new Query(query, SPARQL, Map.of(), null, null, null, null, Map.of());
        }

        /** This query with a least certainty and a largest age; null for none. */
        public Query atLeast(@Nullable Double certainty, @Nullable Duration age) {
            return new Query(query, language, variables, certainty, age, taskId, sessionId, metadata);
        }
    }

    /**
     * Changes statements, all of them or none.
     *
     * @param mutations in the order in which they are done; later ones see what earlier ones did
     * @param sparql beyond the published extension: an update in SPARQL 1.1 instead of {@code mutations}; null for none
     * @param sourceAgentId source of the update, by the caller's statement
     * @param justification why, for people to read
     */
    record Update(
            List<Patch> mutations,
            @Nullable String sparql,
            @Nullable String sourceAgentId,
            @Nullable String justification,
            @Nullable String taskId,
            @Nullable String sessionId,
            Map<String, @Nullable Object> metadata)
            implements KnowledgeOperation, Operation.ExtensionCall<UpdateResult> {
        public Update {
            mutations = List.copyOf(mutations);
            metadata = Copies.of(metadata);
            if (mutations.size() > MAX_MUTATIONS) {
                throw InvalidField.of("mutations", mutations.size() + " (expected: at most " + MAX_MUTATIONS + ")");
            }
            if (sparql != null && !mutations.isEmpty()) {
                throw InvalidField.of("mutations", "together with a SPARQL update (expected: either)");
            }
        }

        @Override
        public A2AException denied(A2AException refusal) {
            var metadata = new LinkedHashMap<>(refusal.metadata());
            metadata.put("reason", "forbidden");
            metadata.put("detail", String.valueOf(refusal.getMessage()));
            return A2AException.of(KnowledgeError.KNOWLEDGE_UPDATE, String.valueOf(refusal.getMessage()), metadata);
        }

        @Override
        public String name() {
            return UPDATE;
        }

        /** Adding twice what has no id of its own changes more than adding it once. */
        @Override
        public boolean isRepeatable() {
            return false;
        }

        @Override
        public @Nullable String relatedTask() {
            return taskId;
        }

        public static Update of(Patch... mutations) {
            return new Update(List.of(mutations), null, null, null, null, null, Map.of());
        }

        /** Returns this update with its source and reason. */
        public Update saying(@Nullable String sourceAgentId, @Nullable String justification) {
            return new Update(mutations, sparql, sourceAgentId, justification, taskId, sessionId, metadata);
        }

        /** This update as part of a task. */
        public Update forTask(@Nullable String taskId) {
            return new Update(mutations, sparql, sourceAgentId, justification, taskId, sessionId, metadata);
        }

        /** This update with other metadata. */
        public Update with(Map<String, @Nullable Object> metadata) {
            return new Update(mutations, sparql, sourceAgentId, justification, taskId, sessionId, metadata);
        }
    }

    /**
     * Watches.
     *
     * @param query a GraphQL subscription with the one root field {@code knowledgeChanged}
     */
    record Subscribe(
            String query,
            String language,
            Map<String, @Nullable Object> variables,
            @Nullable String taskId,
            @Nullable String sessionId,
            Map<String, @Nullable Object> metadata)
            implements KnowledgeOperation, Operation.ExtensionWatch<Change> {
        public Subscribe {
            requireText("subscriptionQuery", query);
            requireNonNull(language, "language");
            variables = Copies.of(variables);
            metadata = Copies.of(metadata);
        }

        @Override
        public String name() {
            return SUBSCRIBE;
        }

        @Override
        public @Nullable String relatedTask() {
            return taskId;
        }

        public static Subscribe graphql(String query, Map<String, @Nullable Object> variables) {
            return new Subscribe(query, GRAPHQL, variables, null, null, Map.of());
        }

        /** This subscription with other metadata. */
        public Subscribe with(Map<String, @Nullable Object> metadata) {
            return new Subscribe(query, language, variables, taskId, sessionId, metadata);
        }
    }

    /**
     * Result of a query.
     *
     * @param data what its language answers with, as JSON has it: objects are {@link Map}s, arrays {@link List}s
     * @param metadata how it was found: {@code executionMs}, {@code asOf}, {@code revision}, …
     */
    record QueryResult(@Nullable Object data, Map<String, @Nullable Object> metadata) {
        public QueryResult {
            metadata = Copies.of(metadata);
        }
    }

    /**
     * Result of an update.
     *
     * @param success false if it was refused for what it says; nothing has changed then
     * @param statementsAffected how many statements were added, changed or removed; null if not said
     * @param affectedIds ids of their subjects
     * @param verificationStatus one of the constants of {@link Verification}, or what another server says
     */
    record UpdateResult(
            boolean success,
            @Nullable Integer statementsAffected,
            List<String> affectedIds,
            @Nullable String verificationStatus,
            @Nullable String verificationDetails) {
        public UpdateResult {
            affectedIds = List.copyOf(affectedIds);
        }
    }

    /** Values of {@link UpdateResult#verificationStatus}. */
    final class Verification {
        public static final String VERIFIED = "Verified";
        public static final String PENDING = "Pending Review";
        public static final String REJECTED_BY_CONSTRAINT = "Rejected - Constraint Violation";
        public static final String REJECTED_BY_POLICY = "Rejected - Policy";

        private Verification() {}
    }

    /**
     * A change that a knowledge graph has seen.
     *
     * @param changeId a UUID; to be given as {@code metadata.afterChangeId} to go on after it
     * @param metadata {@code transactionId}, {@code taskId}, {@code replaced}, …
     */
    record Change(
            Patch.Op op,
            Statement statement,
            String changeId,
            Instant timestamp,
            Map<String, @Nullable Object> metadata) {
        public Change {
            requireNonNull(op, "op");
            requireNonNull(statement, "statement");
            requireNonNull(changeId, "changeId");
            requireNonNull(timestamp, "timestamp");
            metadata = Copies.of(metadata);
        }
    }

    private static void requireText(String field, @Nullable String text) {
        if (text == null || text.isBlank()) {
            throw InvalidField.of(field, "must not be empty");
        }
    }
}

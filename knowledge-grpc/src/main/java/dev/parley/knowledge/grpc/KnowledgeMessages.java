package dev.parley.knowledge.grpc;

import static dev.parley.dialect.grpc.Values.each;
import static dev.parley.dialect.grpc.Values.in;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.optional;
import static dev.parley.dialect.grpc.Values.orEmpty;
import static dev.parley.dialect.grpc.Values.required;

import com.google.protobuf.Value;
import dev.parley.dialect.grpc.Values;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.grpc.v1.PatchOperation;
import dev.parley.knowledge.grpc.v1.QueryRequest;
import dev.parley.knowledge.grpc.v1.QueryResponse;
import dev.parley.knowledge.grpc.v1.Subject;
import dev.parley.knowledge.grpc.v1.SubscribeRequest;
import dev.parley.knowledge.grpc.v1.UpdateRequest;
import dev.parley.knowledge.grpc.v1.UpdateResponse;
import dev.parley.protocol.InvalidField;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The messages of the knowledge graph extension and what they mean. */
final class KnowledgeMessages {
    private KnowledgeMessages() {}

    // --- requests

    static Query read(QueryRequest request) {
        return new Query(
                request.getQuery(),
                language(request.getQueryLanguage()),
                struct("variables", request.getVariables()),
                request.hasRequiredCertainty() ? (Double) request.getRequiredCertainty() : null,
                request.hasMaxAgeSeconds() ? Duration.ofSeconds(request.getMaxAgeSeconds()) : null,
                nonEmpty(request.getTaskId()),
                nonEmpty(request.getSessionId()),
                struct("metadata", request.getMetadata()));
    }

    static QueryRequest write(Query query) {
        var request = QueryRequest.newBuilder()
                .setQuery(query.query())
                .setQueryLanguage(query.language())
                .setVariables(Values.write(query.variables()))
                .setTaskId(orEmpty(query.taskId()))
                .setSessionId(orEmpty(query.sessionId()))
                .setMetadata(Values.write(query.metadata()));
        if (query.requiredCertainty() != null) {
            request.setRequiredCertainty(query.requiredCertainty());
        }
        if (query.maxAge() != null) {
            request.setMaxAgeSeconds(query.maxAge().toSeconds());
        }
        return request.build();
    }

    static Update read(UpdateRequest request) {
        return new Update(
                each("mutations", request.getMutationsList(), KnowledgeMessages::read),
                nonEmpty(request.getSparql()),
                nonEmpty(request.getSourceAgentId()),
                nonEmpty(request.getJustification()),
                nonEmpty(request.getTaskId()),
                nonEmpty(request.getSessionId()),
                struct("metadata", request.getMetadata()));
    }

    static UpdateRequest write(Update update) {
        var request = UpdateRequest.newBuilder()
                .setSparql(orEmpty(update.sparql()))
                .setSourceAgentId(orEmpty(update.sourceAgentId()))
                .setJustification(orEmpty(update.justification()))
                .setTaskId(orEmpty(update.taskId()))
                .setSessionId(orEmpty(update.sessionId()))
                .setMetadata(Values.write(update.metadata()));
        update.mutations()
                .forEach(one ->
                        request.addMutationsBuilder().setOp(write(one.op())).setStatement(write(one.statement())));
        return request.build();
    }

    static Subscribe read(SubscribeRequest request) {
        return new Subscribe(
                request.getSubscriptionQuery(),
                language(request.getQueryLanguage()),
                struct("variables", request.getVariables()),
                nonEmpty(request.getTaskId()),
                nonEmpty(request.getSessionId()),
                struct("metadata", request.getMetadata()));
    }

    static SubscribeRequest write(Subscribe subscribe) {
        return SubscribeRequest.newBuilder()
                .setSubscriptionQuery(subscribe.query())
                .setQueryLanguage(subscribe.language())
                .setVariables(Values.write(subscribe.variables()))
                .setTaskId(orEmpty(subscribe.taskId()))
                .setSessionId(orEmpty(subscribe.sessionId()))
                .setMetadata(Values.write(subscribe.metadata()))
                .build();
    }

    private static String language(String named) {
        return named.isEmpty() ? KnowledgeOperation.GRAPHQL : named;
    }

    private static Map<String, @Nullable Object> struct(String field, com.google.protobuf.Struct struct) {
        return in(field, () -> Values.read(struct));
    }

    // --- answers

    static QueryResponse write(QueryResult result) {
        var response = QueryResponse.newBuilder().setQueryMetadata(Values.write(result.metadata()));
        if (result.data() != null) {
            response.setData(Values.write(result.data()));
        }
        return response.build();
    }

    static QueryResult read(QueryResponse response) {
        return new QueryResult(
                optional("data", response.hasData(), () -> present(Values.read(response.getData()))),
                struct("query_metadata", response.getQueryMetadata()));
    }

    private static Object present(@Nullable Object data) {
        return data == null ? Map.of() : data;
    }

    static UpdateResponse write(UpdateResult result) {
        var response = UpdateResponse.newBuilder().setSuccess(result.success()).addAllAffectedIds(result.affectedIds());
        if (result.statementsAffected() != null) {
            response.setStatementsAffected(result.statementsAffected());
        }
        if (result.verificationStatus() != null) {
            response.setVerificationStatus(result.verificationStatus());
        }
        if (result.verificationDetails() != null) {
            response.setVerificationDetails(result.verificationDetails());
        }
        return response.build();
    }

    static UpdateResult read(UpdateResponse response) {
        return new UpdateResult(
                response.getSuccess(),
                response.hasStatementsAffected() ? (Integer) response.getStatementsAffected() : null,
                response.getAffectedIdsList(),
                response.hasVerificationStatus() ? response.getVerificationStatus() : null,
                response.hasVerificationDetails() ? response.getVerificationDetails() : null);
    }

    static dev.parley.knowledge.grpc.v1.Change write(Change change) {
        return dev.parley.knowledge.grpc.v1.Change.newBuilder()
                .setOp(write(change.op()))
                .setStatement(write(change.statement()))
                .setChangeId(change.changeId())
                .setTimestamp(Values.write(change.timestamp()))
                .setChangeMetadata(Values.write(change.metadata()))
                .build();
    }

    static Change read(dev.parley.knowledge.grpc.v1.Change change) {
        return new Change(
                in("op", () -> op(change.getOp())),
                required("statement", change.hasStatement(), () -> read(change.getStatement())),
                change.getChangeId(),
                required("timestamp", change.hasTimestamp(), () -> Values.read(change.getTimestamp())),
                struct("change_metadata", change.getChangeMetadata()));
    }

    // --- statements

    private static Patch read(dev.parley.knowledge.grpc.v1.Patch patch) {
        return new Patch(
                in("op", () -> op(patch.getOp())),
                required("statement", patch.hasStatement(), () -> read(patch.getStatement())));
    }

    private static Patch.Op op(PatchOperation op) {
        return switch (op) {
            case PATCH_OPERATION_ADD -> Patch.Op.ADD;
            case PATCH_OPERATION_REMOVE -> Patch.Op.REMOVE;
            case PATCH_OPERATION_REPLACE -> Patch.Op.REPLACE;
            case PATCH_OPERATION_UNSPECIFIED, UNRECOGNIZED ->
                throw InvalidField.of("", "not said (expected: add, remove or replace)");
        };
    }

    private static PatchOperation write(Patch.Op op) {
        return switch (op) {
            case ADD -> PatchOperation.PATCH_OPERATION_ADD;
            case REMOVE -> PatchOperation.PATCH_OPERATION_REMOVE;
            case REPLACE -> PatchOperation.PATCH_OPERATION_REPLACE;
        };
    }

    private static Statement read(dev.parley.knowledge.grpc.v1.Statement statement) {
        return new Statement(
                in("subject", () -> read(statement.getSubject())),
                statement.getPredicate(),
                in("object", () -> read(statement.getObject())),
                nonEmpty(statement.getGraph()),
                statement.hasCertainty() ? (Double) statement.getCertainty() : null,
                struct("provenance", statement.getProvenance()));
    }

    private static Resource read(Subject subject) {
        return new Resource(subject.getId(), nonEmpty(subject.getType()));
    }

    private static dev.parley.knowledge.grpc.v1.Statement write(Statement statement) {
        var written = dev.parley.knowledge.grpc.v1.Statement.newBuilder()
                .setSubject(Subject.newBuilder()
                        .setId(statement.subject().id())
                        .setType(orEmpty(statement.subject().type())))
                .setPredicate(statement.predicate())
                .setObject(write(statement.object()))
                .setGraph(orEmpty(statement.graph()))
                .setProvenance(Values.write(statement.provenance()));
        if (statement.certainty() != null) {
            written.setCertainty(statement.certainty());
        }
        return written.build();
    }

    private static Term read(dev.parley.knowledge.grpc.v1.Term object) {
        String type = nonEmpty(object.getType());
        return switch (object.getKindCase()) {
            case ID -> new Resource(object.getId(), type);
            case VALUE -> literal(in("value", () -> plain(object.getValue())), type, nonEmpty(object.getLanguage()));
            case KIND_NOT_SET -> throw InvalidField.of("", "neither (expected: exactly one of id and value)");
        };
    }

    private static Literal literal(Literal plain, @Nullable String type, @Nullable String language) {
        if (language != null) {
            return new Literal(plain.lexical(), type == null ? Literal.LANG_STRING : type, language);
        }
        return type == null ? plain : new Literal(plain.lexical(), type, null);
    }

    private static Literal plain(Value value) {
        return switch (Values.read(value)) {
            case String text -> Literal.of(text);
            case Boolean truth -> Literal.of(truth);
            case Number number -> Literal.of(new BigDecimal(number.toString()));
            case null, default -> throw InvalidField.of("", "no string, number, true or false");
        };
    }

    private static dev.parley.knowledge.grpc.v1.Term write(Term term) {
        return switch (term) {
            case Resource resource ->
                dev.parley.knowledge.grpc.v1.Term.newBuilder()
                        .setId(resource.id())
                        .setType(orEmpty(resource.type()))
                        .build();
            case Literal literal -> {
                Value plain = Values.write(literal.value());
                boolean exact = literal.isPlain() && plain(plain).equals(literal);
                yield dev.parley.knowledge.grpc.v1.Term.newBuilder()
                        .setValue(exact ? plain : Values.write(literal.lexical()))
                        .setType(exact ? "" : literal.datatype())
                        .setLanguage(orEmpty(literal.language()))
                        .build();
            }
        };
    }
}

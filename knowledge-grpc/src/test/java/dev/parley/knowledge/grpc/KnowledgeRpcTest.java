package dev.parley.knowledge.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.GrpcAnswer;
import dev.parley.dialect.grpc.GrpcDialect;
import dev.parley.dialect.grpc.GrpcRequest;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.grpc.v1.KnowledgeServiceGrpc;
import dev.parley.knowledge.grpc.v1.PatchOperation;
import dev.parley.knowledge.grpc.v1.QueryRequest;
import dev.parley.knowledge.grpc.v1.UpdateRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import io.grpc.Status.Code;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class KnowledgeRpcTest {
    static Stream<Term> terms() {
        return Stream.of(
                Resource.of("ex:p1"),
                Literal.of("text"),
                Literal.of(true),
                Literal.of(42),
                Literal.of(new BigDecimal("4.2")),
                Literal.of(new BigDecimal("4.20")),
                Literal.of(new BigDecimal("12345678901234567890123")),
                new Literal("2026-01-05", Term.XSD + "date", null),
                Literal.of("Hallo", "de"));
    }

    @ParameterizedTest
    @MethodSource("terms")
    void kg13TypedValuesSurviveARoundTrip(Term term) {
        var statement = new Statement(
                new Resource("ex:p1", "ex:Project"), "ex:is", term, "ex:g", 0.9, Map.of("source", "seen"));
        var update = new Update(
                List.of(Patch.replace(statement)), null, "me", "because", "t-1", "s-1", Map.of("ifRevision", 7));

        Update read = KnowledgeMessages.read(KnowledgeMessages.write(update));

        assertThat(read).isEqualTo(update);
        assertThat(read.mutations().getFirst().statement().subject().type()).isEqualTo("ex:Project");
    }

    @Test
    void whatIsAskedAndAnsweredSurvivesARoundTrip() {
        var query = new Query("{ x }", "graphql", Map.of("a", 1), 0.8, Duration.ofHours(1), "t", "s", Map.of("k", "v"));
        var found = new QueryResult(Map.of("x", List.of(1, "two")), Map.of("revision", 3));
        var updated = new UpdateResult(false, 0, List.of("ex:p1"), "Rejected - Policy", "no");
        var change = new Change(
                Patch.Op.REMOVE,
                Statement.of("s", "p", Literal.of(1)),
                "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a11",
                Instant.parse("2026-01-05T10:00:03Z"),
                Map.of());

        assertThat(KnowledgeMessages.read(KnowledgeMessages.write(query))).isEqualTo(query);
        assertThat(KnowledgeMessages.read(KnowledgeMessages.write(found))).isEqualTo(found);
        assertThat(KnowledgeMessages.read(KnowledgeMessages.write(updated))).isEqualTo(updated);
        assertThat(KnowledgeMessages.read(KnowledgeMessages.write(change))).isEqualTo(change);
    }

    @Test
    void kg12AFaultIsToldByItsPath() {
        var request = UpdateRequest.newBuilder();
        request.addMutationsBuilder()
                .setOp(PatchOperation.PATCH_OPERATION_ADD)
                .getStatementBuilder()
                .setPredicate("p")
                .setCertainty(1.5)
                .getSubjectBuilder()
                .setId("s");
        request.getMutationsBuilder(0).getStatementBuilder().getObjectBuilder().setId("o");

        assertThatThrownBy(() -> KnowledgeMessages.read(request.build()))
                .isInstanceOfSatisfying(
                        InvalidField.class,
                        fault -> assertThat(fault.field()).isEqualTo("mutations[0].statement.certainty"));
    }

    @Test
    void kg28AnAgentWithoutKnowledgeHasNoSuchMethod() {
        var card = new AgentCard(
                "a",
                "",
                List.of(new AgentCard.Interface("http://h", AgentCard.Interface.GRPC, null, "1.0")),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, null, List.of(), null),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null);
        var agent = new ServedAgent("a", new Nobody(), card, Set.of("1.0"));
        var dialect = new GrpcDialect(DialectSettings.DEFAULTS, tenant -> agent, () -> true);
        var request = new GrpcRequest(
                KnowledgeServiceGrpc.getQueryMethod().getFullMethodName(),
                name -> null,
                null,
                QueryRequest.newBuilder().setQuery("{ x }").build().toByteArray(),
                "");

        GrpcAnswer answer = dialect.answer(request, called -> CallContext.anonymous());

        assertThat(answer)
                .isInstanceOfSatisfying(
                        GrpcAnswer.Failure.class,
                        failure -> assertThat(failure.status()).isEqualTo(Code.UNIMPLEMENTED.value()));
    }

    private static final class Nobody implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            throw A2AException.of(A2AError.INTERNAL);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            throw A2AException.of(A2AError.INTERNAL);
        }
    }
}

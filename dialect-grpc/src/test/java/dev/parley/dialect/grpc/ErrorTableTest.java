package dev.parley.dialect.grpc;

import static io.grpc.Status.Code.FAILED_PRECONDITION;
import static io.grpc.Status.Code.INTERNAL;
import static io.grpc.Status.Code.INVALID_ARGUMENT;
import static io.grpc.Status.Code.NOT_FOUND;
import static io.grpc.Status.Code.PERMISSION_DENIED;
import static io.grpc.Status.Code.RESOURCE_EXHAUSTED;
import static io.grpc.Status.Code.UNAUTHENTICATED;
import static io.grpc.Status.Code.UNAVAILABLE;
import static io.grpc.Status.Code.UNIMPLEMENTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every error on the wire, to the peer and back.
 *
 * <p>Source: A2A specification 1.0, section 5.4. That of 0.3 says nothing of gRPC; its column is what servers of 0.3
 * answer.
 */
class ErrorTableTest {
    private static final String V1 = dev.parley.dialect.grpc.v1.A2AServiceGrpc.SERVICE_NAME + "/GetTask";
    private static final String V03 = dev.parley.dialect.grpc.v03.A2AServiceGrpc.SERVICE_NAME + "/GetTask";

    static Stream<Arguments> table() {
        return Stream.of(
                row(A2AError.TASK_NOT_FOUND, NOT_FOUND, NOT_FOUND),
                row(A2AError.TASK_NOT_CANCELABLE, FAILED_PRECONDITION, UNIMPLEMENTED),
                row(A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED, FAILED_PRECONDITION, UNIMPLEMENTED),
                row(A2AError.UNSUPPORTED_OPERATION, FAILED_PRECONDITION, UNIMPLEMENTED),
                row(A2AError.CONTENT_TYPE_NOT_SUPPORTED, INVALID_ARGUMENT, UNIMPLEMENTED),
                row(A2AError.INVALID_AGENT_RESPONSE, INTERNAL, INTERNAL),
                row(A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED, FAILED_PRECONDITION, UNIMPLEMENTED),
                row(A2AError.EXTENSION_SUPPORT_REQUIRED, FAILED_PRECONDITION, INVALID_ARGUMENT),
                row(A2AError.VERSION_NOT_SUPPORTED, FAILED_PRECONDITION, FAILED_PRECONDITION),
                row(A2AError.PARSE_ERROR, INVALID_ARGUMENT, INVALID_ARGUMENT),
                row(A2AError.INVALID_REQUEST, INVALID_ARGUMENT, INVALID_ARGUMENT),
                row(A2AError.METHOD_NOT_FOUND, NOT_FOUND, NOT_FOUND),
                row(A2AError.INVALID_PARAMS, INVALID_ARGUMENT, INVALID_ARGUMENT),
                row(A2AError.INTERNAL, INTERNAL, INTERNAL),
                row(A2AError.UNAUTHENTICATED, UNAUTHENTICATED, UNAUTHENTICATED),
                row(A2AError.PERMISSION_DENIED, PERMISSION_DENIED, PERMISSION_DENIED),
                row(A2AError.METHOD_NOT_ALLOWED, INVALID_ARGUMENT, INVALID_ARGUMENT),
                row(A2AError.PAYLOAD_TOO_LARGE, RESOURCE_EXHAUSTED, RESOURCE_EXHAUSTED),
                row(A2AError.RATE_LIMITED, RESOURCE_EXHAUSTED, RESOURCE_EXHAUSTED),
                row(A2AError.QUOTA_EXCEEDED, RESOURCE_EXHAUSTED, RESOURCE_EXHAUSTED),
                row(A2AError.UNAVAILABLE, UNAVAILABLE, UNAVAILABLE));
    }

    private static Arguments row(A2AError error, Code v1, Code v03) {
        return Arguments.of(error, v1, v03);
    }

    @Test
    void theTableHasEveryError() {
        assertThat(table().map(row -> row.get()[0])).containsExactlyInAnyOrder((Object[]) A2AError.values());
    }

    @ParameterizedTest
    @MethodSource("table")
    void everyErrorHasItsStatusInEachVersion(A2AError error, Code v1, Code v03) {
        assertThat(Status.fromCodeValue(failure(V1, A2AException.of(error)).status())
                        .getCode())
                .isEqualTo(v1);
        assertThat(Status.fromCodeValue(failure(V03, A2AException.of(error)).status())
                        .getCode())
                .isEqualTo(v03);
    }

    @ParameterizedTest
    @EnumSource(A2AError.class)
    void theClientUnderstandsEveryErrorThatAServerTells(A2AError error) {
        var told = A2AException.of(
                error,
                "what happened",
                Map.of("key", "value"),
                List.of(new A2AException.Violation("field", "expected: another")),
                Duration.ofMillis(1500));

        for (String method : List.of(V1, V03)) {
            GrpcAnswer.Failure failure = failure(method, told);
            var trailers = new Metadata();
            trailers.put(
                    Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER), failure.details());
            var heard = Refusal.of(Status.fromCodeValue(failure.status()).withDescription(failure.message()), trailers);

            assertThat(heard).isInstanceOfSatisfying(A2AException.class, refusal -> {
                assertThat(refusal.error()).isEqualTo(error);
                assertThat(refusal.getMessage()).isEqualTo(failure.message());
                assertThat(refusal.metadata()).isEqualTo(told.metadata());
                assertThat(refusal.violations()).isEqualTo(told.violations());
                assertThat(refusal.retryAfter()).isEqualTo(told.retryAfter());
            });
        }
    }

    private static GrpcAnswer.Failure failure(String method, A2AException problem) {
        var agent = new ServedAgent("agent", new Refusing(problem), CARD);
        var dialect = new GrpcDialect(DialectSettings.DEFAULTS, tenant -> agent, () -> true);
        byte[] message = method.equals(V1)
                ? dev.parley.dialect.grpc.v1.GetTaskRequest.newBuilder()
                        .setId("t")
                        .build()
                        .toByteArray()
                : dev.parley.dialect.grpc.v03.GetTaskRequest.newBuilder()
                        .setName("tasks/t")
                        .build()
                        .toByteArray();
        var request = new GrpcRequest(method, name -> null, null, message, "");
        return (GrpcAnswer.Failure) dialect.answer(request, called -> CallContext.anonymous());
    }

    static final AgentCard CARD = new AgentCard(
            "agent",
            "Refuses everything",
            List.of(new AgentCard.Interface("127.0.0.1:1", AgentCard.Interface.GRPC, null, "1.0")),
            null,
            "1",
            null,
            new AgentCard.Capabilities(true, false, List.of(), false),
            Map.of(),
            List.of(),
            List.of("text/plain"),
            List.of("text/plain"),
            List.of(),
            List.of(),
            null);

    private record Refusing(A2AException problem) implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            throw problem;
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            throw problem;
        }
    }
}

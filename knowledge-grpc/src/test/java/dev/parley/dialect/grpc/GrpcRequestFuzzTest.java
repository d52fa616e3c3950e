package dev.parley.dialect.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.grpc.health.HealthGrpc;
import dev.parley.dialect.grpc.reflection.ServerReflectionGrpc;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.knowledge.grpc.v1.KnowledgeServiceGrpc;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever message comes for whatever method, of either version, it is answered or refused in the words of the protocol. */
final class GrpcRequestFuzzTest {
    private static final List<MethodDescriptor<?, ?>> METHODS = Stream.of(
                    dev.parley.dialect.grpc.v1.A2AServiceGrpc.getServiceDescriptor(),
                    dev.parley.dialect.grpc.v03.A2AServiceGrpc.getServiceDescriptor(),
                    KnowledgeServiceGrpc.getServiceDescriptor(),
                    HealthGrpc.getServiceDescriptor(),
                    ServerReflectionGrpc.getServiceDescriptor())
            .<MethodDescriptor<?, ?>>flatMap(service -> service.getMethods().stream())
            .toList();

    private final Nobody nobody = new Nobody();
    private final ServedAgent agent = new ServedAgent(
            "agent",
            nobody,
            ServedCard.unsigned(ErrorTableTest.CARD),
            Dialects.NAMES,
            new ExtensionTable(List.of(KnowledgeProtocol.EXTENSION)));
    private final GrpcDialect dialect = new GrpcDialect(DialectSettings.DEFAULTS, tenant -> agent, () -> true);

    /** The number of a method, and then a message. */
    static Stream<byte[]> examples() {
        return IntStream.range(0, METHODS.size())
                .boxed()
                .flatMap(number -> Filled.of(METHODS.get(number).getRequestMarshaller())
                        .map(message -> {
                            byte[] all = new byte[message.length + 1];
                            all[0] = number.byteValue();
                            System.arraycopy(message, 0, all, 1, message.length);
                            return all;
                        }));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void requests(byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        String method = METHODS.get((bytes[0] & 0xff) % METHODS.size()).getFullMethodName();
        var request = new GrpcRequest(method, name -> null, null, Arrays.copyOfRange(bytes, 1, bytes.length), "");

        if (dialect.answer(request, called -> CallContext.anonymous()) instanceof GrpcAnswer.Failure failure) {
            assertThat(failure.status()).isNotIn(Code.INTERNAL.value(), Code.UNKNOWN.value());
            assertThat(failure.message()).doesNotContain("(reference ", "dev.parley");
        }
    }

    /** Has nothing, and so refuses whatever it understands. */
    private static final class Nobody implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND);
        }
    }
}

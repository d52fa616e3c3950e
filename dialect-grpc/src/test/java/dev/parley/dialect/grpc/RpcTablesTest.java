package dev.parley.dialect.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.ListTasks;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** An operation of A2A that is added without a row in a table of gRPC fails here, unless that version does not have it. */
final class RpcTablesTest {
    static Stream<Arguments> tables() {
        return Stream.of(
                Arguments.of("1.0", V1Rpcs.ALL, Set.of()),
                Arguments.of("0.3", V03Rpcs.ALL, Set.of(ListTasks.class))); // its proto file has no list of tasks
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("tables")
    void everyOperationHasARow(String version, List<Rpc<?, ?, ?, ?>> rpcs, Set<Class<?>> absent) {
        Set<Class<?>> rows = rpcs.stream().<Class<?>>map(Rpc::type).collect(Collectors.toSet());
        Set<Class<?>> expected = operations(Operation.class)
                .filter(operation -> !absent.contains(operation))
                .collect(Collectors.toSet());

        assertThat(rows).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("tables")
    void messagesAreWrittenAsTheyWereRead(String version, List<Rpc<?, ?, ?, ?>> rpcs, Set<Class<?>> absent) {
        for (Rpc<?, ?, ?, ?> rpc : rpcs) {
            requireSame(rpc);
        }
    }

    private static <O extends Operation, R, Q extends Message, A extends Message> void requireSame(
            Rpc<O, R, Q, A> rpc) {
        requireSame(rpc.method().getRequestMarshaller(), rpc.read(), rpc.write());
        requireSame(rpc.method().getResponseMarshaller(), rpc.result(), rpc.answer());
    }

    private static <M, T> void requireSame(Marshaller<M> marshaller, Function<M, T> read, Function<T, M> write) {
        Filled.of(marshaller).forEach(bytes -> {
            M message = marshaller.parse(new ByteArrayInputStream(bytes));
            T value;
            try {
                value = read.apply(message);
            } catch (IllegalArgumentException | A2AException invalid) {
                return; // the fuzz tests check that nothing else is thrown
            }

            M written = write.apply(value);

            assertThat(write.apply(read.apply(written))).isEqualTo(written);
        });
    }

    private static Stream<Class<?>> operations(Class<?> type) {
        if (type.isRecord()) {
            return Stream.of(type);
        }
        return Arrays.stream(type.getPermittedSubclasses())
                .filter(permitted -> !Operation.Extension.class.isAssignableFrom(permitted))
                .flatMap(RpcTablesTest::operations)
                .distinct();
    }
}

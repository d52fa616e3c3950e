package dev.parley.dialect.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.Message;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayInputStream;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever message an agent answers with, in either version, it is understood, or what is wrong with it is said. */
final class GrpcAnswerFuzzTest {
    private static final List<Rpc<?, ?, ?, ?>> RPCS =
            Stream.concat(V1Rpcs.ALL.stream(), V03Rpcs.ALL.stream()).toList();
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /** The number of a method, and then a message. */
    static Stream<byte[]> examples() {
        return IntStream.range(0, RPCS.size())
                .boxed()
                .flatMap(number -> Filled.of(RPCS.get(number).method().getResponseMarshaller())
                        .map(message -> {
                            byte[] all = new byte[message.length + 1];
                            all[0] = number.byteValue();
                            System.arraycopy(message, 0, all, 1, message.length);
                            return all;
                        }));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void answers(byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        byte[] message = Arrays.copyOfRange(bytes, 1, bytes.length);
        read(RPCS.get((bytes[0] & 0xff) % RPCS.size()), message);

        var trailers = new Metadata();
        trailers.put(DETAILS, message);
        assertThat(Refusal.of(Status.fromCodeValue(bytes[0] & 0xf), trailers))
                .isInstanceOfAny(A2AException.class, Broken.class);
    }

    private static <A extends Message> void read(Rpc<?, ?, ?, A> rpc, byte[] message) {
        try {
            assertThat(rpc.result().apply(rpc.method().parseResponse(new ByteArrayInputStream(message))))
                    .isNotNull();
        } catch (StatusRuntimeException | InvalidField | A2AException refused) {
            assertThat(refused).hasMessageNotContaining("dev.parley");
        }
    }
}

package dev.parley.gateway.hub;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Callers of 0.2 and its successor in front of 1.0 over gRPC, and the other way round; {@link DialectMatrixTest} has all pairs. */
@ParameterizedClass
@MethodSource("some")
final class DialectPairsTest extends DialectMatrixContract {
    DialectPairsTest(Pair pair) {
        super(pair);
    }

    static Stream<Pair> some() {
        return pairs().filter(pair ->
                List.of("0.3 JSONRPC to 1.0 GRPC", "1.0 GRPC to 0.1 JSONRPC").contains(pair.toString()));
    }
}

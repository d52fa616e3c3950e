package dev.parley.gateway.hub;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Each dialect in front of each other dialect. */
@Tag("heavy")
@Tag("class-template")
@ParameterizedClass
@MethodSource("all")
final class DialectMatrixTest extends DialectMatrixContract {
    DialectMatrixTest(Pair pair) {
        super(pair);
    }

    static Stream<Pair> all() {
        return pairs();
    }
}

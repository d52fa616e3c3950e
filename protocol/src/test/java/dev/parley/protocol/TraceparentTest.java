package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TraceparentTest {
    @Test
    void aTraceOfTheFormIsKept() {
        var trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

        assertThat(CallContext.anonymous().withTraceparent(trace).traceparent()).isEqualTo(trace);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\n"
            })
    void whateverElseIsIgnored(String text) {
        assertThat(CallContext.anonymous().withTraceparent(text).traceparent()).isNull();
    }
}

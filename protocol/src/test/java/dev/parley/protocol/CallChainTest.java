package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class CallChainTest {
    private static final CallChain TWO =
            CallChain.NONE.then("http://127.0.0.1:7420/agents/a,b;c").then("https://two.example");

    @Test
    void whatIsWrittenIsRead() {
        assertThat(TWO.baggage()).doesNotContain(" ", ";").matches("parley\\.agents=[^,]+");
        assertThat(CallChain.read(TWO.baggage())).isEqualTo(TWO);
        assertThat(CallChain.read("user=1, " + TWO.baggage() + ";ttl=3,parley.agentsX=no"))
                .isEqualTo(TWO);
        assertThat(CallChain.NONE.baggage()).isNull();
    }

    @Test
    void whatIsNotOfItsFormIsNone() {
        for (String text : List.of(
                "",
                "a=b",
                "parley.agents",
                "parley.agents=",
                "parley.agents=%zz",
                "parley.agents=a%20%20b",
                "parley.agents=%0a",
                "parley.agents=" + "x".repeat(301))) {
            assertThat(CallChain.read(text)).as(text).isEqualTo(CallChain.NONE);
        }
        assertThat(CallChain.read(null)).isEqualTo(CallChain.NONE);
    }

    @Test
    void ofAChainThatIsTooLongSoMuchIsReadThatItIsTooLong() {
        CallChain endless = CallChain.read("parley.agents=" + "a%20".repeat(1_000) + "b");

        assertThatThrownBy(() -> endless.then("c").check(100))
                .hasMessage("The call goes through 101 agents (expected: at most 100)");
    }

    @Test
    void aChainHasAnEndAndNoLoop() {
        assertThatCode(() -> TWO.check(2)).doesNotThrowAnyException();
        assertThatCode(() -> CallChain.NONE.check(1)).doesNotThrowAnyException();
        assertThatThrownBy(() -> TWO.check(1)).hasMessage("The call goes through 2 agents (expected: at most 1)");
        assertThatThrownBy(() -> TWO.then("https://two.example").check(8))
                .isInstanceOf(A2AException.class)
                .hasMessage("The call comes back to an agent that waits for it:"
                        + " http://127.0.0.1:7420/agents/a,b;c -> https://two.example -> https://two.example");
    }
}

package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.trust.Policy.Attempt;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is in the file of a policy, it is one and decides, or what is wrong with it is said. */
final class PolicyFuzzTest {
    private static final Principal ALICE = new Principal("T1", "alice", Set.of("read"));

    static Stream<byte[]> examples() {
        return Stream.of(
                        "{'rules':[{'effect':'allow','groups':['T*'],'principals':['alice'],'agents':['e*'],'operations':"
                                + "['SendMessage'],'skills':['s']},{'effect':'deny','agents':['*']}],'otherwise':'deny'}",
                        "{'rules':[{'effect':'scopes','scopes':['write']},{'effect':'hide','agents':['echo']}]}",
                        "{'shared':['e*'],'limits':{'principal':{'perSecond':5,'burst':10,'atOnce':2},'group':{},'agent':{}}}")
                .map(json -> json.replace('\'', '"').getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void policies(byte[] json) {
        PolicyFile policy;
        try {
            policy = PolicyFile.of(Json.read(json, Map.class));
        } catch (A2AException | IllegalArgumentException refused) {
            assertThat(refused).hasMessageNotContaining("dev.parley");
            return;
        }
        policy.knows(ALICE, "echo");
        policy.refusal(new Attempt(ALICE, "echo", "SendMessage", "s"));
        policy.isShared("echo");
        assertThat(policy.limits()).isNotNull();
    }
}

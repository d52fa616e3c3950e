package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.trust.Policy.Attempt;
import dev.parley.trust.Policy.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The first rule that fits decides, and what is no policy is refused with the place where it is not. */
final class PolicyFileTest {
    private static final Principal ALICE = new Principal("T1", "alice", Set.of("read"));
    private static final Principal GUEST = new Principal("T2", "guest-1", Set.of());

    private static PolicyFile policy(String json) {
        return PolicyFile.of(Json.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), Map.class));
    }

    private static @Nullable Refusal refusal(PolicyFile policy, Principal caller, String agent, String operation) {
        return policy.refusal(new Attempt(caller, agent, operation, null));
    }

    @Test
    void anEmptyOneAllowsEverything() {
        assertThat(refusal(policy("{}"), GUEST, "echo", "SendMessage")).isNull();
        assertThat(policy("{}").knows(GUEST, "echo")).isTrue();
        assertThat(policy("{}").limits()).isEqualTo(LimitSettings.DEFAULTS);
    }

    @Test
    void theFirstRuleThatFitsDecides() {
        PolicyFile policy = policy("{'rules':[{'effect':'allow','groups':['T1'],'agents':['crm-*']},"
                + "{'effect':'deny','agents':['crm-*']}],'otherwise':'deny'}");

        assertThat(refusal(policy, ALICE, "crm-eu", "SendMessage")).isNull();
        assertThat(refusal(policy, GUEST, "crm-eu", "SendMessage")).isNotNull();
        assertThat(refusal(policy, ALICE, "echo", "SendMessage")).isNotNull();
    }

    @Test
    void scopesAreAskedForOnTop() {
        PolicyFile policy = policy("{'rules':[{'effect':'allow','principals':['alice','guest-*']},"
                + "{'effect':'scopes','scopes':['read','write'],'operations':['CancelTask']}]}");

        assertThat(refusal(policy, ALICE, "echo", "CancelTask"))
                .isEqualTo(new Refusal("Not all of these scopes were granted", Set.of("write")));
        assertThat(refusal(policy, GUEST, "echo", "GetTask")).isNull();
    }

    @Test
    void aRuleForASkillFitsMessagesThatNameIt() {
        PolicyFile policy = policy("{'rules':[{'effect':'deny','skills':['burn']}]}");

        assertThat(policy.refusal(new Attempt(ALICE, "echo", "SendMessage", "burn")))
                .isNotNull();
        assertThat(policy.refusal(new Attempt(ALICE, "echo", "SendMessage", "read")))
                .isNull();
        assertThat(policy.refusal(new Attempt(ALICE, "echo", "SendMessage", null)))
                .isNull();
    }

    @Test
    void anAgentCanBeHiddenFromAllButSome() {
        PolicyFile policy =
                policy("{'rules':[{'effect':'allow','groups':['T1']},{'effect':'hide','agents':['ledger']}]}");

        assertThat(policy.knows(ALICE, "ledger")).isTrue();
        assertThat(policy.knows(GUEST, "ledger")).isFalse();
        assertThat(policy.knows(GUEST, "echo")).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'rule':[]} | policy: rule (expected: limits, otherwise, rules, shared)",
                "{'rules':{}} | rules (expected: a list)",
                "{'rules':[{'effect':'permit'}]} | rules[0].effect (expected: allow, deny, hide or scopes)",
                "{'rules':[{'effect':'deny','agent':['x']}]} | rules[0]: agent (expected:",
                "{'rules':[{'effect':'deny','agents':[]}]} | rules[0].agents (expected: a list of at least one text)",
                "{'rules':[{'effect':'scopes'}]} | rules[0].scopes (expected: some",
                "{'rules':[{'effect':'hide','operations':['GetTask']}]} | rules[0] (expected: neither operations",
                "{'otherwise':'maybe'} | otherwise (expected: allow or deny)",
                "{'limits':{'user':{}}} | limits: user (expected: agent, group, principal)",
                "{'limits':{'group':{'perSecond':-1}}} | limits.group.perSecond: -1 (expected: a number >= 0",
                "{'limits':{'group':{'perSecond':5,'burst':0}}} | limits.group.burst: 0.0 (expected: a number >= 1)"
            })
    void whatIsNoPolicyIsRefused(String json, String message) {
        assertThatThrownBy(() -> policy(json))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}

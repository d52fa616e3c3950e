package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.LimitSettings.Limit;
import dev.parley.trust.Limits.Taken;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is over a limit is refused with when to try again, and costs nobody else anything. */
final class TimeLimitsTest {
    private static final Principal ALICE = new Principal("T1", "alice", Set.of());
    private static final Principal BOB = new Principal("T1", "bob", Set.of());
    private static final Principal MALLORY = new Principal("T2", "mallory", Set.of());

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T22:00:00Z"));

    private Limits limits(Limit principal, Limit group, Limit agent) {
        return new Limits(new LimitSettings(principal, group, agent), clock, null);
    }

    private static A2AException refusal(Limits limits, Principal caller, String agent) {
        A2AException refused =
                catchThrowableOfType(A2AException.class, () -> limits.take(caller, caller.group(), agent));
        assertThat(refused.error()).isEqualTo(A2AError.RATE_LIMITED);
        return refused;
    }

    @Test
    void callsAtOnceAreGivenBack() {
        Limits limits = limits(new Limit(0, 0, 2, 0), Limit.NONE, Limit.NONE);
        limits.take(ALICE, ALICE.group(), "echo");
        Taken second = limits.take(ALICE, ALICE.group(), "other");
        refusal(limits, ALICE, "echo");
        limits.take(BOB, BOB.group(), "echo");

        second.giveBack().run();

        assertThat(limits.take(ALICE, ALICE.group(), "echo").headers()).isEmpty();
    }

    @Test
    void aCallWithinAnotherCountsAtOnceForItsAgentOnly() {
        Limits limits = limits(new Limit(0, 0, 1, 3), new Limit(0, 0, 1, 0), new Limit(0, 0, 1, 0));
        Taken outer = limits.take(ALICE, ALICE.group(), "asks");

        Taken inner = limits.takeWithin(ALICE, ALICE.group(), "echo");

        assertThat(catchThrowableOfType(A2AException.class, () -> limits.takeWithin(ALICE, ALICE.group(), "echo"))
                        .error())
                .isEqualTo(A2AError.RATE_LIMITED);
        inner.giveBack().run();
        limits.takeWithin(ALICE, ALICE.group(), "echo").giveBack().run();
        outer.giveBack().run();
        assertThat(refusal(limits, ALICE, "asks")).hasMessageContaining("of today");
        assertThat(limits.take(BOB, BOB.group(), "asks").headers()).containsEntry("RateLimit-Remaining", "2");
    }

    @Test
    void aQuotaIsForADay() {
        Limits limits = limits(Limit.NONE, new Limit(0, 0, 0, 2), Limit.NONE);
        assertThat(limits.take(ALICE, ALICE.group(), "echo").headers())
                .containsEntry("RateLimit-Limit", "2")
                .containsEntry("RateLimit-Remaining", "1")
                .containsEntry("RateLimit-Reset", "7200");
        limits.take(BOB, BOB.group(), "echo");
        assertThat(refusal(limits, ALICE, "echo").retryAfter()).isEqualTo(Duration.ofHours(2));
        limits.take(MALLORY, MALLORY.group(), "echo");

        clock.advance(Duration.ofHours(2));

        limits.take(ALICE, ALICE.group(), "echo");
    }

    @Test
    void whatIsRefusedByOneLimitIsNotTakenFromAnother() {
        Limits limits = limits(new Limit(0, 0, 0, 3), Limit.NONE, new Limit(0, 0, 1, 0));
        Taken running = limits.take(ALICE, ALICE.group(), "echo");
        refusal(limits, ALICE, "echo");
        refusal(limits, ALICE, "echo");
        running.giveBack().run();

        assertThat(limits.take(ALICE, ALICE.group(), "echo").headers()).containsEntry("RateLimit-Remaining", "1");
    }

    @Test
    void aBurstIsTakenAndThenItIsSlow() {
        Limits limits = limits(new Limit(0.001, 2, 0, 0), Limit.NONE, Limit.NONE);
        limits.take(ALICE, ALICE.group(), "echo");
        limits.take(ALICE, ALICE.group(), "echo");

        assertThat(refusal(limits, ALICE, "echo").retryAfter())
                .isBetween(Duration.ofSeconds(900), Duration.ofSeconds(1_000));
        limits.take(BOB, BOB.group(), "echo");
    }

    @Test
    void nobodyInParticularIsNoPrincipalButCallsAgentsAllTheSame() {
        Limits limits = limits(new Limit(0, 0, 1, 0), Limit.NONE, new Limit(0, 0, 3, 0));
        for (int i = 0; i < 3; i++) {
            limits.take(null, "default", "echo");
        }

        assertThat(catchThrowableOfType(A2AException.class, () -> limits.take(null, "default", "echo"))
                        .error())
                .isEqualTo(A2AError.RATE_LIMITED);
    }

    @Test
    void oneLongCallNeverMakesTheMemoryOfAllOthersGrow() {
        var limits = new Limits(new LimitSettings(new Limit(0, 0, 2, 0), Limit.NONE, Limit.NONE), clock, 100, null);
        limits.take(ALICE, ALICE.group(), "echo");
        limits.take(ALICE, ALICE.group(), "echo");

        for (int i = 0; i < 1_000; i++) {
            var caller = new Principal("T2", "caller-" + i, Set.of());
            limits.take(caller, caller.group(), "echo").giveBack().run();
        }

        assertThat(limits.size()).isEqualTo(101);
        refusal(limits, ALICE, "echo");
    }

    @Test
    void withoutAuthenticationAsManyAreServedAsComeAtOnce() {
        var limits = new Limits(LimitSettings.DEFAULTS, clock, null);
        for (int i = 0; i < 5_000; i++) {
            limits.take(null, "default", "echo");
        }
    }
}

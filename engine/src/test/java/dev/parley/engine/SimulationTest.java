package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs simulations of the engine. One that fails says its seed; {@code -Dparley.seed=N} runs that one alone.
 *
 * @see Simulation
 */
final class SimulationTest {
    private static final Logger ENGINE = Logger.getLogger("dev.parley");
    private static final Long SEED = Long.getLong("parley.seed");

    @BeforeAll
    static void beQuiet() {
        ENGINE.setLevel(SEED == null ? Level.OFF : Level.INFO);
    }

    @AfterAll
    static void beHeard() {
        ENGINE.setLevel(null);
    }

    @Test
    void whatAlwaysHoldsHoldsInHundredsOfOrders() {
        run(SEED == null ? 1 : SEED, SEED == null ? Long.getLong("parley.seeds", 200) : SEED);
    }

    @Test
    @Tag("heavy")
    @Tag("crash")
    void whatAlwaysHoldsHoldsInThousandsOfOrders() {
        if (SEED == null) {
            run(1_001, 1_000 + Long.getLong("parley.seeds", 10_000));
        }
    }

    @Test
    void aLogThatIgnoresClaimsIsFound() {
        assertThat(LongStream.rangeClosed(1, 200)
                        .anyMatch(seed -> violates(seed, SimulatedLog.LogFault.IGNORES_CLAIMS, Invariant.ONE_TASK)))
                .isTrue();
    }

    @Test
    void anEngineThatTakesWhatItHasReadForTheNewestStateIsFound() {
        assertThat(LongStream.rangeClosed(401, 1_400) // one of some hundred seeds finds it
                        .anyMatch(seed -> violates(seed, SimulatedLog.LogFault.SHOWS_OLD_HEADS, Invariant.ONE_READ)))
                .isTrue();
    }

    @Test
    void aTakeoverByTwoEnginesIsFound() {
        assertThat(LongStream.rangeClosed(1, 1_000)
                        .anyMatch(seed ->
                                violates(seed, SimulatedLog.LogFault.SHARES_TAKEOVERS, Invariant.ONE_LIVE_TASK)))
                .isTrue();
    }

    @Test
    void eventsOfAWebhookThatTwoEnginesSendAreFound() {
        assertThat(LongStream.rangeClosed(1, 1_000)
                        .anyMatch(seed -> violates(seed, SimulatedLog.LogFault.IGNORES_SENDERS, Invariant.ONE_SENDER)))
                .isTrue();
    }

    private static boolean violates(long seed, SimulatedLog.LogFault fault, Invariant invariant) {
        try {
            new Simulation(seed, fault).run();
            return false;
        } catch (Simulation.Violation found) {
            return String.valueOf(found.getMessage()).contains(invariant.name());
        }
    }

    @Test
    void callsAreHandedToTheEngineThatRunsTheTask() {
        assertThat(LongStream.rangeClosed(1, 100).anyMatch(seed -> {
                    var simulation = new Simulation(seed);
                    simulation.run();
                    return simulation.handedOver() > 0;
                }))
                .isTrue();
    }

    @Test
    void aSeedRunsTheSameWayEachTime() {
        for (long seed = 1; seed <= 10; seed++) {
            assertThat(new Simulation(seed).run()).as("seed %s", seed).isEqualTo(new Simulation(seed).run());
        }
    }

    @Test
    void whatIsCheckedIsWhatTheArchitectureSays() throws IOException {
        String architecture = Files.readString(Path.of("..", "ARCHITECTURE.md"));

        assertThat(Invariant.values())
                .allSatisfy(invariant -> assertThat(architecture).contains("- " + invariant.beginning()));
    }

    private static void run(long first, long last) {
        for (long seed = first; seed <= last; seed++) {
            try {
                new Simulation(seed).run();
            } catch (AssertionError | RuntimeException violation) {
                throw new AssertionError(
                        "seed " + seed + " (./parley test -pl engine -am -Dtest=SimulationTest -Dparley.seed=" + seed
                                + "): " + violation.getMessage(),
                        violation);
            }
        }
    }
}

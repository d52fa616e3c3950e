package dev.parley.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.engine.cluster.HubSimulation.Result;
import dev.parley.engine.cluster.SimulatedDatabase.Mutant;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs simulations of several hubs on one database: 200, or as many as {@code -Dparley.hub.seeds} says. One that fails tells its seed and
 * what has happened; {@code -Dparley.hub.seed=N} runs that one alone.
 */
final class HubSimulationTest {
    private static final Logger ENGINE = Logger.getLogger("dev.parley");
    private static final Long SEED = Long.getLong("parley.hub.seed");
    private static final long SEEDS = Long.getLong("parley.hub.seeds", 200);
    private static final long MUTANT_SEEDS = 5_000;
    private static final long PROGRESS_NANOS = 10_000_000_000L;

    @BeforeAll
    static void beQuiet() {
        ENGINE.setLevel(SEED == null ? Level.OFF : Level.INFO);
    }

    @AfterAll
    static void beHeard() {
        ENGINE.setLevel(null);
    }

    @Test
    void whatHubsPromiseHoldsInAllOrders() {
        long first = SEED == null ? 1 : SEED;
        long last = SEED == null ? SEEDS : SEED;
        long told = System.nanoTime();
        long lost = 0;
        long hubs = 0;
        for (long seed = first; seed <= last; seed++) {
            Result result = run(seed);
            lost += result.lost();
            hubs += result.hubs();
            if (System.nanoTime() - told > PROGRESS_NANOS || seed == last) {
                told = System.nanoTime();
                System.out.printf(
                        "seed %d of %d: %d hubs; failovers have lost %d acknowledged messages%n",
                        seed, last, hubs, lost);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRuleThatIsLeftOutIsMissed(Mutant mutant) {
        assumeThat(SEED).isNull();
        long seed = 1;
        while (seed <= MUTANT_SEEDS && !isFound(seed, mutant)) {
            seed++;
        }

        assertThat(seed).as("seeds until %s is found", mutant).isLessThanOrEqualTo(MUTANT_SEEDS);
        System.out.printf("%s is found by seed %d%n", mutant, seed);
    }

    private static boolean isFound(long seed, Mutant mutant) {
        try {
            new HubSimulation(seed, mutant, false).run();
            return false;
        } catch (AssertionError found) {
            return true;
        }
    }

    @Test
    void aSeedRunsTheSameWayEachTime() {
        for (long seed = 1; seed <= 10; seed++) {
            assertThat(new HubSimulation(seed, null, false).run())
                    .as("seed %s", seed)
                    .isEqualTo(new HubSimulation(seed, null, true).run());
        }
    }

    private static Result run(long seed) {
        try {
            return new HubSimulation(seed, null, false).run();
        } catch (AssertionError | RuntimeException violation) {
            throw new AssertionError(
                    "seed " + seed + " (./parley test -pl engine -am -Dtest=HubSimulationTest -Dparley.hub.seed=" + seed
                            + "): " + violation.getMessage() + "\n" + String.join("\n", history(seed)),
                    violation);
        }
    }

    /** What happens in a seed that fails. */
    private static Iterable<String> history(long seed) {
        var again = new HubSimulation(seed, null, true);
        try {
            again.run();
        } catch (AssertionError | RuntimeException known) {
            return again.history.lines();
        }
        return again.history.lines();
    }
}

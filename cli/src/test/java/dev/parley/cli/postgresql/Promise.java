package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.time.Duration;

/** Time limits of a hub on PostgreSQL, and the length of faults in these tests. */
final class Promise {
    /** Longest time until the refusal of a change: 10 s of the hub, and 2 s for a busy machine. */
    static final Duration REFUSAL = Duration.ofSeconds(12);

    /** Longest time until the answer or refusal of a read. */
    static final Duration READ = Duration.ofSeconds(6);

    /** Longest time from the return of a database until its hub is ready. */
    static final Duration RETURN = Duration.ofSeconds(20);

    /** Faults of full length: {@code -Dparley.faults=long}. */
    static final boolean LONG = "long".equals(System.getProperty("parley.faults"));

    private Promise() {}

    /** Waits for the duration of a fault. */
    static void last(Duration fault, HubProcess hub) {
        long end = System.nanoTime() + fault.toNanos();
        Eventually.within(fault.plusSeconds(1), "the fault lasts", () -> {
            assertThat(hub.isAlive()).isTrue();
            return System.nanoTime() - end > 0;
        });
    }

    /** Waits until a hub, in the same process, is ready and acknowledges messages. */
    static void awaitReturn(HubProcess hub, HubCalls calls, Senders senders) {
        Eventually.within(RETURN, "the hub is ready again", () -> calls.ready().status() == Answer.OK);
        senders.await(20, RETURN);
        assertThat(hub.isAlive()).isTrue();
    }
}

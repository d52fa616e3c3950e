package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.time.Duration;

/** Limits of time that a hub on PostgreSQL keeps, and the length of faults in these tests. */
final class Promise {
    /** A change is refused after 10 s; the rest is for a busy machine. */
    static final Duration REFUSAL = Duration.ofSeconds(12);

    /** A read is answered, or refused. */
    static final Duration READ = Duration.ofSeconds(6);

    /** A hub works again after its database does. */
    static final Duration RETURN = Duration.ofSeconds(20);

    /** Faults of full length: {@code -Dparley.faults=long}. */
    static final boolean LONG = "long".equals(System.getProperty("parley.faults"));

    private Promise() {}

    /** Lets a fault last for a while. */
    static void last(Duration fault, HubProcess hub) {
        long end = System.nanoTime() + fault.toNanos();
        Eventually.within(fault.plusSeconds(1), "the fault lasts", () -> {
            assertThat(hub.isAlive()).isTrue();
            return System.nanoTime() - end > 0;
        });
    }

    /** Waits until a hub is ready and acknowledges messages, in the same process. */
    static void awaitReturn(HubProcess hub, HubCalls calls, Senders senders) {
        Eventually.within(RETURN, "the hub is ready again", () -> calls.ready().status() == Answer.OK);
        senders.await(20, RETURN);
        assertThat(hub.isAlive()).isTrue();
    }
}

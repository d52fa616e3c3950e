package dev.parley.registry.health;

import dev.parley.registry.Entry;
import dev.parley.registry.trust.Fetch;

/** Probes for tests of other packages. */
public final class Probes {
    private Probes() {}

    /** Status and cause of a probe. */
    public static String of(Entry entry, byte[] document, Fetch fetch) throws InterruptedException {
        Probe probe = Probe.of(entry, document, fetch);
        return probe.status() + " " + probe.cause() + " " + probe.reason();
    }
}

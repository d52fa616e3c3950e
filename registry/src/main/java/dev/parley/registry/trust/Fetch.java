package dev.parley.registry.trust;

import dev.parley.outbound.GuardedFetch.Document;
import java.io.IOException;

/** Fetches documents from addresses of strangers, as {@link dev.parley.outbound.GuardedFetch#get} does. */
@FunctionalInterface
public interface Fetch {
    /**
     * @param group whose share of look-ups it uses
     * @throws IOException with a message for people
     */
    Document get(String group, String url) throws IOException, InterruptedException;
}

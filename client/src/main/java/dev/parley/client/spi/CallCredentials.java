package dev.parley.client.spi;

import dev.parley.protocol.CallContext;
import java.time.Duration;
import java.util.Map;

/** Source of credentials that differ by call, such as a token for the caller on whose behalf it is made. Safe for any thread. */
public interface CallCredentials {
    /**
     * Headers of a call, such as {@code Authorization}.
     *
     * @param context of the call; anonymous for requests that are not operations
     * @throws ClientException if there is no credential; nothing is sent
     */
    Map<String, String> headers(CallContext context, Duration left) throws InterruptedException;

    /**
     * Called when the agent has answered 401: a cached token may have been revoked.
     *
     * @param headers of the call that was refused
     */
    void refused(Map<String, String> headers);
}

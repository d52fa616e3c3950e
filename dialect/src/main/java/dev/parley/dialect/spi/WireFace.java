package dev.parley.dialect.spi;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import org.jspecify.annotations.Nullable;

/**
 * A protocol over HTTP whose requests become calls of an agent: a {@linkplain DialectProvider dialect} of agents, or a protocol at paths
 * of a hub in front of one agent. Safe for any thread.
 */
public interface WireFace {
    /**
     * True for a request whose credentials are not those of the hub: it is a call of a caller without credentials. In a dialect, true for
     * a request that needs no credentials, such as one for a card of the dialect.
     */
    default boolean isPublic(WireRequest request) {
        return false;
    }

    /**
     * False for a request that is left to whatever else answers at its path, such as one to another host name. Not for dialects of agents.
     * May wait briefly; the caller is not admitted yet.
     */
    default boolean answers(RequestHead arrival) {
        return true;
    }

    /**
     * True if pages of any origin may call. Such a call is one of a caller without credentials, unless the page has added some: certificates
     * and passwords that the browser adds do not count. Not for dialects of agents, which follow the settings of the hub.
     */
    default boolean isForAllOrigins() {
        return false;
    }

    /**
     * The answer to a request that calls no operation, such as one for a card of this dialect; null for one that does.
     *
     * @param card public card of the agent
     * @throws A2AException to refuse the request
     */
    default WireAnswer.@Nullable Whole document(WireRequest request, AgentCard card) {
        return null;
    }

    /**
     * Reads a request. The agent then answers the call after authorization, limits, metrics, traces and audit. Large requests and results
     * are read and written on the platform threads for such work.
     *
     * @param card public card of the agent
     * @param caller the caller, in this dialect
     * @throws A2AException to refuse the request; any other exception is an internal error
     */
    WireCall read(WireRequest request, AgentCard card, CallContext caller);

    /** The answer to a request that was refused or failed. Its body may be missing. */
    WireAnswer.Whole error(WireRequest request, A2AException problem);
}

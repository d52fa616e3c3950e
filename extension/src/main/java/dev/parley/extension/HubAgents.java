package dev.parley.extension;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The agents of a hub, for its extensions. Safe for any thread. */
public interface HubAgents {
    /** Cards of the listed agents that a caller may know of, by their names. */
    Map<String, AgentCard> cards(CallContext caller);

    /** Whether a caller may know of an agent of that name, hosted or not. */
    boolean knows(CallContext caller, String agent);

    /**
     * Whether the policy and the scopes of a skill let a caller call an operation of an agent. Limits may refuse it all the same.
     *
     * @param operation name of the operation, such as {@code SendMessage}
     * @param skill id of the skill for which a message is; null for none
     */
    boolean allows(CallContext caller, String agent, String operation, @Nullable String skill);

    /** The scope of the tasks of an agent that a caller sees: its own, or those of its group if the agent shares them. */
    Scope scope(CallContext caller, String agent);

    /** Whether the settings require other credentials of the callers of an agent than of those of the hub. */
    boolean hasOwnAuthentication(String agent);

    /**
     * Whether an agent admits a caller that the hub has admitted, by its own authentication: whether it takes all kinds of credentials that
     * the hub takes, and the caller has the scopes that it requires.
     */
    boolean admits(CallContext caller, String agent);

    /** Whether an agent is served in a dialect, by the name of the dialect in settings. */
    boolean speaks(String agent, String dialect);

    /**
     * Adds a listener that is called for each listed agent when the hub hosts it; for agents that are hosted already at once.
     *
     * @param listener receives the name and the card of 1.0 as the hub serves it, with its signatures
     */
    void onHosted(BiConsumer<String, byte[]> listener);

    /** Adds a listener for names of agents that the hub hosts no longer. */
    void onRemoved(Consumer<String> listener);

    /**
     * An agent whose calls pass authorization, limits, metrics, traces and the audit. Each call is one of the caller in its context, who is
     * limited by the policy as over the network; only calls at once of principals and groups are not counted, as the call within which
     * it is made may wait for it. The chain of the context ends with the calling agent, as in the context of a {@link
     * dev.parley.engine.Request}.
     *
     * @throws dev.parley.protocol.A2AException METHOD_NOT_FOUND from calls, if there is no such agent or the caller may not know of it
     */
    AgentEndpoint endpoint(String agent);

    /**
     * The agent for an operation of the extension that answers a call of the same agent, such as one that becomes a message. Calls are
     * parts of that call: they are authorized, measured and audited, but do not count against limits, and the agent is in the chain of
     * agents once.
     *
     * @throws dev.parley.protocol.A2AException as from {@link #endpoint}
     */
    AgentEndpoint within(String agent);

    /** The address of an agent of that name, hosted or not. To be called when the hub {@linkplain HubExtension#started has started}. */
    String url(String agent);

    /**
     * Hosts an agent from now on that an endpoint answers, in place of the previous one of its name that was hosted so. To be called when
     * the hub {@linkplain HubExtension#started has started}.
     *
     * @throws IllegalArgumentException if another agent has the name, or it cannot be a segment of a path
     */
    void host(HostedEndpoint agent);

    /** Ends hosting an agent that was {@linkplain #host hosted} so; its running calls go on. Returns false if there was none. */
    boolean remove(String agent);
}

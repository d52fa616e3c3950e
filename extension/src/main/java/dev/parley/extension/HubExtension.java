package dev.parley.extension;

import dev.parley.engine.AgentExtension;
import dev.parley.protocol.AgentEndpoint;
import java.util.Map;
import java.util.Optional;

/** An extension of one hub. Safe for any thread. */
public interface HubExtension extends AutoCloseable {
    /**
     * The extension as an agent has it.
     *
     * @param hub address of the hub
     * @param agent address of the agent
     * @param streams whether the agent streams
     */
    AgentExtension of(String hub, String agent, boolean streams);

    /** Answers its operations for the handlers of agents. */
    AgentEndpoint operations();

    /** Name of the part of the hub that answers {@link #operations}, for spans. */
    String name();

    /** An agent that uses the extension, as its callers see it. */
    default AgentEndpoint before(AgentEndpoint agent) {
        return agent;
    }

    /** Handlers of its {@linkplain HubExtensionSource#administration operations of the administration}, by name. */
    default Map<String, AdminHandler> administration() {
        return Map.of();
    }

    /**
     * Why something outside of the hub that it needs, such as a server, failed when it was used last; empty if it did not. Does not wait.
     * Shown as the metric {@code parley_extension_available}.
     */
    default Optional<String> problem() {
        return Optional.empty();
    }

    /** Personal data that it holds; empty if none. */
    default Optional<PersonalData> personalData() {
        return Optional.empty();
    }

    /** Link on the home page of the hub if an agent uses the extension; empty for none. */
    default Optional<HomeLink> homeLink() {
        return Optional.empty();
    }

    /**
     * A sentence with a link at its end.
     *
     * @param text begin of the sentence
     * @param link text of the link
     */
    record HomeLink(String text, String path, String link) {}

    /** Idempotent. */
    @Override
    default void close() {}
}

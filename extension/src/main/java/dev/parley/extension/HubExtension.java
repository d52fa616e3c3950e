package dev.parley.extension;

import dev.parley.dialect.spi.Notification;
import dev.parley.dialect.spi.WireFace;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.RunObserver;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.Tools;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

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

    /** Whether all agents of the hub have the extension, instead of those that {@linkplain Agent#uses use} it. */
    default boolean isForAll() {
        return false;
    }

    /** Answers its operations for the handlers of agents that use it. Default: it has none for them. */
    default AgentEndpoint operations() {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
        };
    }

    /** Agents of the extension, which the hub hosts after its other agents. Their names must be free, but for {@link #without}. */
    default List<Agent> agents() {
        return List.of();
    }

    /** Gives up one of {@link #agents} whose name another agent has; returns false if the hub must not start without it. */
    default boolean without(String agent) {
        return false;
    }

    /**
     * Protocols by paths of the hub, each in front of one of its {@link #agents}: {@code /api/v1}. The longest path wins. A path that is
     * taken stops the start of the hub. A path {@code /agents/{agent}/api} is one below the address of each agent of the hub: that agent
     * admits the callers, whose requests then call the agent of the face.
     */
    default Map<String, Face> faces() {
        return Map.of();
    }

    /**
     * A protocol in front of an agent, whose operations its requests call.
     *
     * @param binding name of the protocol, by which a path below the addresses of all agents is one of their {@linkplain HubParts#faces
     *     faces}; empty for none
     */
    record Face(String agent, WireFace face, String binding) {
        public Face(String agent, WireFace face) {
            this(agent, face, "");
        }
    }

    /**
     * Names of operations that callers without credentials may call, by the names of its {@link #agents}. Other callers of these agents are
     * authenticated as those of any agent. Calls without credentials are {@linkplain CallContext#isUnauthenticated unauthenticated}, and
     * count against the limits for principals and groups by their address.
     */
    default Map<String, Set<String>> open() {
        return Map.of();
    }

    /** Tools for the handlers of all agents of the hub; empty for none. Those of the first extension that has some are used. */
    default Optional<BiFunction<Request, Reply, Tools>> tools() {
        return Optional.empty();
    }

    /** Name of the part of the hub that answers {@link #operations}, for spans. */
    String name();

    /** Names of agents that it {@linkplain HubAgents#host hosts} and that have a task of that id of any owner in a group. */
    default List<String> remoteTask(String group, String taskId) {
        return List.of();
    }

    /**
     * Operations of the extension for an agent that is {@linkplain HubAgents#host hosted} by an endpoint, which the extension carries out by
     * operations of A2A; empty if it needs an agent of the hub.
     *
     * @param hubUrl address of the hub
     * @param agentUrl address of the agent
     */
    default Optional<AgentExtension> ofRemote(String hubUrl, String agentUrl) {
        return Optional.empty();
    }

    /** An agent that uses the extension, as the hub hosts it, for instance with {@linkplain Agent#prioritized priorities}. */
    default Agent hosted(Agent agent) {
        return agent;
    }

    /**
     * A notification of a task of such an agent as its webhook receives it, for instance with a signature.
     *
     * @param dialect in which the webhook was registered
     * @param task of the notification
     * @param agent address of the agent
     */
    default Notification notification(String dialect, TaskKey task, String agent, Notification notification) {
        return notification;
    }

    /** An agent that uses the extension, as its callers see it. */
    default AgentEndpoint before(AgentEndpoint agent) {
        return agent;
    }

    /** Stands around the runs of such agents, to measure them; null for none. */
    default @Nullable RunObserver observer() {
        return null;
    }

    /** Follows the calls of all agents of the hub, whether they use the extension or not; null for none. */
    default @Nullable HubObserver hubObserver() {
        return null;
    }

    /** Handlers of its {@linkplain HubExtensionSource#administration operations of the administration}. */
    default Handlers administration() {
        return Handlers.NONE;
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

    /**
     * Resources by their paths, each of which answers at its path and below. The longest path wins; a resource wins over a
     * {@linkplain HubExtensionSource#pages static page} of the same path.
     */
    default Map<String, HubResource> resources() {
        return Map.of();
    }

    /**
     * Whether it has pages that begin {@linkplain HubParts#session sessions}. Without such an extension, a hub takes no cookies for
     * credentials: nothing would end a session.
     */
    default boolean usesSessions() {
        return false;
    }

    /** Path of the hub to which the root leads browsers; empty for none. */
    default Optional<String> startPage() {
        return Optional.empty();
    }

    /**
     * Reason for which an agent of a name is not hosted yet, as its callers read it: UNAVAILABLE with a pause. Empty for names that this
     * extension does not host.
     */
    default Optional<A2AException> absent(String agent) {
        return Optional.empty();
    }

    /** Called once, when the hub hosts all agents that it starts with. Must not block. */
    default void started() {}

    /**
     * Called when the hub begins to stop. Handlers of its agents that wait for events should end then, by {@link InterruptedException} if
     * their tasks go on after the next start; else the hub waits for them until the drain time is over.
     */
    default void stopping() {}

    /**
     * Called once handlers of agents and timers have ended, or their time is over. The database of the hub is open: extensions write their
     * state from memory here, and end their own threads. Idempotent.
     */
    @Override
    default void close() {}
}

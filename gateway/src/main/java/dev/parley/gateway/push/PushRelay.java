package dev.parley.gateway.push;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.spi.Notification;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.gateway.push.RelayTable.Relay;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.extension.ExtensionView;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.ModuleTables;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Webhooks of callers for tasks of remote agents. The agent gets the address and a token of the gateway; its notifications become the
 * events of a shadow, a task of the built-in agent {@value #AGENT}, whose webhooks are those of the caller. So the hub delivers them in
 * order, with its retries and its signature; see {@code docs/adr/0060-replicas-of-a-route.md}. Safe for any thread.
 */
public final class PushRelay {
    /** Tables of webhooks at remote agents. */
    public static final ModuleTables TABLES = RelayTable.TABLES;

    /** Name of the agent of the shadows. */
    public static final String AGENT = "gateway-push";

    /** Path of the hub at which agents notify. */
    public static final String PATH = "/gateway/push";

    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final Duration LONGEST = Duration.ofDays(365);
    private static final Duration SWEEP = Duration.ofDays(1);
    private static final int BATCH = 64;
    private static final Pattern WEBHOOK = Pattern.compile("(?i)push|webhook|notification");

    private final HubParts hub;
    private final String viewUri;
    private final RelayTable relays;
    private final Notices notices;
    private final SecureRandom random = new SecureRandom();
    private final Follower follower;
    private final HubTimers.Timers sweeps;
    private final SharedRuns shared;
    private final ShadowRuns runs;
    private final EndedRuns endedRuns;
    /** Webhooks of messages whose tasks are yet to begin, by the ids of their relays. */
    private final ConcurrentHashMap<String, Webhook> beginning = new ConcurrentHashMap<>();

    private record Webhook(PushConfig config, CallContext caller) {}

    private volatile @Nullable AgentEndpoint shadows;
    private volatile @Nullable String hubUrl;

    /**
     * Webhooks of one remote agent, called for the caller of the current operation.
     *
     * @param version of A2A in which the agent notifies; empty if the gateway follows its tasks instead, and registers nothing
     * @param calls calls the agent, at the replica of the task
     */
    public record Remote(String route, String version, Consumer<Operation.Call<?>> calls) {
        private void register(PushConfig config) {
            call(new Operation.CreatePushConfig(null, config));
        }

        private void unregister(String taskId, String id) {
            call(new Operation.DeletePushConfig(null, taskId, id));
        }

        private void call(Operation.Call<?> operation) {
            if (!version.isEmpty()) {
                calls.accept(operation);
            }
        }
    }

    /**
     * A relay for a task that is yet to begin.
     *
     * @param config for the remote agent, in place of the one of the caller
     */
    public record Begun(String id, PushConfig config) {}

    /**
     * @param viewUri URI of the extension of the gateway, by which its agent is recognised
     * @param agents remote agents by the names of their routes; empty while one is not hosted
     */
    public PushRelay(HubParts hub, String viewUri, Function<String, Optional<AgentEndpoint>> agents) {
        this.hub = hub;
        this.viewUri = viewUri;
        this.shared = new SharedRuns(hub.database());
        this.relays = new RelayTable(hub.database(), shared, cipher(hub));
        this.follower = new Follower(relays, agents);
        this.runs = new ShadowRuns(hub.tasks(), relays, follower, shared, this::drop);
        this.endedRuns = new EndedRuns(hub.tasks(), shared, relays, runs, this::goOn);
        this.sweeps = hub.timers().named(AGENT + "/sweep", (id, content) -> sweep());
        this.notices = new Notices(relays, this::arrived);
    }

    /** Encryption of answers of remote agents in the database, whether tasks are encrypted or not. */
    public static ValueCipher cipher(HubParts hub) {
        return ValueCipher.of(List.of(Base64.getEncoder().encodeToString(hub.key("gateway answers"))));
    }

    /** The extension of the gateway with the operation by which agents notify. */
    public AgentExtension extension(String hubAddress, String description) {
        hubUrl = hubAddress.replaceFirst("/+$", "");
        return PushProtocol.extension(viewUri, description, notices);
    }

    /** A notification of a shadow as its webhook receives it; any other one as it is. */
    public Notification shown(Notification notification) {
        return notices.shown(notification);
    }

    /** Whether notifications of agents of a version of A2A are read. */
    public static boolean reads(String version) {
        return Notices.reads(version);
    }

    /** The agent of the shadows. Its tasks are not for callers. */
    public Agent agent() {
        return Agent.named(AGENT, "Delivers notifications of remote agents to webhooks of callers")
                .skill("deliver", "Has no messages of its own")
                .listed(false)
                .resumable(true)
                .timeLimit(LONGEST)
                .concurrency(100_000)
                .uses(new ExtensionView<>(viewUri, use -> use))
                .handle(runs::run);
    }

    /** The agent for callers, without tasks. Its endpoint serves the relay. */
    public AgentEndpoint before(AgentEndpoint endpoint) {
        shadows = endpoint;
        return new NoTasks();
    }

    /** Takes up tasks that are followed, and begins to remove what ended tasks leave. Does not block. */
    public void started() {
        shared.follow(this::look);
        Thread.ofVirtual().name("gateway-push").start(() -> {
            try {
                sweep();
            } catch (RuntimeException failure) {
                if (!runs.isStopping()) {
                    LOG.log(Level.WARNING, "relays of webhooks cannot be read", failure);
                }
            }
        });
    }

    /** Looks for news of other hubs, and for runs of hubs that have ended. */
    private void look() {
        if (!runs.isEmpty()) {
            shared.news().forEach(shadow -> {
                boolean unused = runs.wake(shadow);
                follower.wake(shadow);
            });
        }
        endedRuns.look();
    }

    /** Whether this hub runs a shadow. */
    boolean hasRuns() {
        return !runs.isEmpty();
    }

    /** Ends the runs of shadows, which go on after the next start, or at another hub. */
    public void stopping() {
        runs.stop();
    }

    /** Removes relays whose shadow is gone, and events of ended ones; takes up those that wait for their caller and are followed. */
    private void sweep() {
        sweeps.set("all", Instant.now().plus(SWEEP), "");
        String last = "";
        for (List<Relay> page = relays.after(last, BATCH); !page.isEmpty(); page = relays.after(last, BATCH)) {
            page.forEach(this::trySweep);
            last = page.getLast().id();
        }
        endedRuns.sweep();
    }

    private void trySweep(Relay relay) {
        try {
            sweep(relay);
        } catch (A2AException refused) { // by the engine, for the moment
            LOG.log(Level.WARNING, "route {0}: a task with webhooks cannot be taken up: {1}", relay.route(), refused);
            shared.end(relay.shadow());
        }
    }

    private void sweep(Relay relay) {
        TaskState state = hub.tasks()
                .find(relay.scope().group(), relay.shadow())
                .map(Head::state)
                .orElse(null);
        if (state == null) {
            relays.remove(relay);
        } else if (state.isTerminal()) {
            relays.clear(relay.id());
        } else if (relay.isFollowed()
                && state.isInterrupted()
                && (!shared.isShared() || shared.takeFree(relay.shadow()))) {
            arrived(relay);
        }
    }

    /** Removes the webhooks of a route. */
    public void forget(String route) {
        relays.ofRoute(route).forEach(relay -> drop(relay.id()));
    }

    /** Removes the relays of a principal, whose shadows are erased as tasks. */
    public void erase(Scope owner) {
        relays.erase(owner);
    }

    // ---- operations of callers

    /** Called when a caller sends a message to a task. */
    public void sent(String route, Scope caller, String taskId) {
        if (!follower.sent(route, taskId) && shared.isShared()) {
            relays.ofTask(route, caller, taskId)
                    .filter(Relay::isFollowed)
                    .ifPresent(relay -> shared.tell(relay.shadow()));
        }
    }

    /**
     * Prepares the webhook of a message; the caller of this sends the message with {@link Begun#config}.
     *
     * @param metadata of the message, in which dialects may keep what their notifications need
     */
    public Begun begin(Remote remote, PushConfig config, Map<String, @Nullable Object> metadata, CallContext context) {
        Begun begun = prepare(remote, null, null, metadata, context);
        try {
            Relay relay = relays.find(begun.id()).orElseThrow();
            addTo(relay, config, context);
            beginning.put(begun.id(), new Webhook(config, context));
            return begun;
        } catch (RuntimeException refused) {
            drop(begun.id());
            throw refused;
        }
    }

    /**
     * Names the task of a relay that {@link #begin} has prepared. A task that the gateway follows has one relay: the webhook of a second
     * message for it, which the agent has recognized as repeated, is added to that. Idempotent.
     */
    public void bound(String id, String taskId, String contextId, @Nullable String replica) {
        Webhook webhook = beginning.remove(id);
        relays.find(id).ifPresent(relay -> {
            String only = relays.bind(relay, taskId, contextId, replica, relay.isFollowed() && webhook != null);
            if (only.equals(id)) {
                boolean unused = runs.wake(relay.shadow());
            } else if (webhook != null) {
                relays.find(only).ifPresent(other -> addTo(other, webhook.config(), webhook.caller()));
                drop(id);
            }
        });
    }

    /** Gives up a relay for which there is no task: its webhooks get nothing. */
    public void drop(String id) {
        beginning.remove(id);
        relays.find(id).ifPresent(relay -> {
            // The retention may have deleted the shadow with its webhooks.
            if (hub.tasks().find(relay.scope().group(), relay.shadow()).isPresent()) {
                deleteWebhooks(relay);
            }
            relays.remove(relay);
            boolean unused = runs.wake(relay.shadow());
        });
    }

    private void deleteWebhooks(Relay relay) {
        CallContext owner = CallContext.of(relay.scope().owner(), relay.scope());
        for (PushConfig config : configs(relay, owner).configs()) {
            shadows().call(new Operation.DeletePushConfig(null, relay.shadow(), requireNonNull(config.id())), owner);
        }
    }

    /** Adds a webhook of a caller to a task. */
    public PushConfig create(
            Remote remote,
            String taskId,
            String contextId,
            @Nullable String replica,
            PushConfig config,
            CallContext context) {
        Relay known = relays.ofTask(remote.route(), context.scope(), taskId).orElse(null);
        if (known != null) {
            PushConfig added = addTo(known, config, context);
            return added.of(taskId, idOf(added));
        }
        Begun begun = prepare(remote, taskId, contextId, Map.of(), context);
        PushConfig added;
        Relay relay;
        Relay only;
        try {
            relay = relays.find(begun.id()).orElseThrow();
            added = addTo(relay, config, context);
            only = relays.find(relays.bind(relay, taskId, contextId, replica, true))
                    .orElse(relay);
        } catch (RuntimeException refused) {
            drop(begun.id());
            throw refused;
        }
        if (!only.id().equals(relay.id())) { // another call, maybe at another hub, was faster
            drop(relay.id());
            added = addTo(only, config, context);
            return added.of(taskId, idOf(added));
        }
        register(remote, begun, relay, added, context);
        boolean unused = runs.wake(relay.shadow());
        return added.of(taskId, requireNonNull(added.id()));
    }

    private void register(Remote remote, Begun begun, Relay relay, PushConfig added, CallContext context) {
        try {
            remote.register(begun.config());
        } catch (RuntimeException failure) {
            if (failure instanceof A2AException refused && refusesWebhook(refused)) {
                follow(begun.id(), failure);
                return;
            }
            if (configs(relay, context).configs().size() > 1) { // other calls have added theirs meanwhile
                shadows().call(new Operation.DeletePushConfig(null, relay.shadow(), idOf(added)), context);
                follow(begun.id(), failure);
            } else {
                drop(begun.id());
            }
            throw failure;
        }
    }

    /** Whether the agent refused a webhook, although its card says that it notifies, or a request that has one. */
    public static boolean refusesWebhook(A2AException refused) {
        return refused.error() == A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED
                || refused.error() == A2AError.UNSUPPORTED_OPERATION
                || refused.error() == A2AError.METHOD_NOT_FOUND
                || refused.error() == A2AError.INVALID_PARAMS
                || WEBHOOK.matcher(String.valueOf(refused.getMessage())).find();
    }

    /** Has the gateway follow the task of a relay, whose agent has refused its webhook. */
    public void follow(String id, RuntimeException refused) {
        LOG.log(
                Level.INFO,
                "a remote agent refused a webhook, and its task is followed instead: {0}",
                Excerpt.line(String.valueOf(refused.getMessage())));
        relays.follow(id);
    }

    private static String idOf(PushConfig config) {
        return requireNonNullElse(config.id(), "");
    }

    /** Reads a webhook of a caller. */
    public PushConfig get(String route, Operation.GetPushConfig get, CallContext context) {
        Relay relay = relays.ofTask(route, context.scope(), get.taskId())
                .orElseThrow(() -> A2AException.of(
                        A2AError.TASK_NOT_FOUND, "Push notification config not found", Map.of("id", get.id())));
        PushConfig config = shadows().call(new Operation.GetPushConfig(null, relay.shadow(), get.id()), context);
        return config.of(get.taskId(), get.id());
    }

    /** Reads the webhooks of a caller. */
    public PushConfigPage list(String route, String taskId, CallContext context) {
        return relays.ofTask(route, context.scope(), taskId)
                .map(relay -> new PushConfigPage(
                        configs(relay, context).configs().stream()
                                .map(config -> config.of(taskId, idOf(config)))
                                .toList(),
                        ""))
                .orElseGet(() -> new PushConfigPage(List.of(), ""));
    }

    /** Removes a webhook of a caller, and with the last one that of the gateway. */
    public Operation.Empty delete(Remote remote, Operation.DeletePushConfig delete, CallContext context) {
        Relay relay =
                relays.ofTask(remote.route(), context.scope(), delete.taskId()).orElse(null);
        if (relay != null) {
            shadows().call(new Operation.DeletePushConfig(null, relay.shadow(), delete.id()), context);
            if (configs(relay, context).configs().isEmpty()) {
                if (!relay.isFollowed()) {
                    remote.unregister(delete.taskId(), relay.id());
                }
                relays.remove(relay);
                boolean unused = runs.wake(relay.shadow());
            }
        }
        return new Operation.Empty();
    }

    private PushConfigPage configs(Relay relay, CallContext context) {
        return shadows().call(new Operation.ListPushConfigs(null, relay.shadow(), 0, null), context);
    }

    private PushConfig addTo(Relay relay, PushConfig config, CallContext context) {
        var named = new PushConfig(
                config.tenant(), config.id(), relay.shadow(), config.url(), config.token(), config.authentication());
        return shadows().call(new Operation.CreatePushConfig(null, named), context);
    }

    private Begun prepare(
            Remote remote,
            @Nullable String taskId,
            @Nullable String contextId,
            Map<String, @Nullable Object> metadata,
            CallContext context) {
        Message text = Message.user(Part.text("webhooks"));
        var message =
                new Message(text.messageId(), Role.USER, text.parts(), null, null, metadata, List.of(), List.of());
        Task shadow = (Task) shadows().call(immediate(message), context);
        String id = secret();
        String token = secret();
        relays.add(new Relay(
                id,
                remote.route(),
                context.scope(),
                Sha256.hex(token),
                remote.version(),
                shadow.id(),
                shadow.contextId(),
                null,
                contextId,
                null));
        boolean unused = runs.wake(shadow.id());
        return new Begun(
                id,
                new PushConfig(
                        null, id, taskId, requireNonNull(hubUrl, "address of the hub") + PATH + "/" + id, token, null));
    }

    private String secret() {
        byte[] bytes = new byte[24];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private AgentEndpoint shadows() {
        return requireNonNull(shadows, "the agent is hosted");
    }

    // ---- the agent

    /** Has the agent emit new events, at whichever hub. */
    private void arrived(Relay relay) {
        if (!runs.wake(relay.shadow()) && relay.isBound() && !shared.isElsewhere(relay.shadow())) {
            goOn(relay);
        }
    }

    /** Has a shadow run here. One that waits for its caller is not taken up after a restart, so it gets a message. */
    private void goOn(Relay relay) {
        Message message = Message.user(Part.text("events")).in(relay.shadowContext(), relay.shadow());
        try {
            shadows().call(immediate(message), CallContext.of(relay.scope().owner(), relay.scope()));
        } catch (A2AException refused) {
            if (refused.error() != A2AError.UNSUPPORTED_OPERATION && refused.error() != A2AError.TASK_NOT_FOUND) {
                throw refused;
            }
            relays.clear(relay.id()); // it has ended
        }
    }

    private static Operation.SendMessage immediate(Message message) {
        return new Operation.SendMessage(null, message, new SendConfiguration(List.of(), null, null, true), Map.of());
    }
}

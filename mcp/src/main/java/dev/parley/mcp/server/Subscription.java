package dev.parley.mcp.server;

import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.ServerNotification;
import dev.parley.mcp.wire.ServerNotification.Acknowledged;
import dev.parley.mcp.wire.ServerNotification.Interests;
import dev.parley.mcp.wire.ServerNotification.ListChanged;
import dev.parley.mcp.wire.ServerNotification.ResourceUpdated;
import dev.parley.mcp.wire.ServerNotification.TaskChanged;
import dev.parley.mcp.wire.ServerResult;
import dev.parley.mcp.wire.ServerResult.Nothing;
import dev.parley.mcp.wire.ServerResult.ResultMeta;
import dev.parley.protocol.CallContext;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Notifications of changes for one client, until it is closed. Safe for any thread. */
final class Subscription implements AutoCloseable {
    static final int MAX_NAMES = 100;

    private static final String RESOURCE = "resource:";
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");

    private final @Nullable Object id;
    private final Predicate<String> filter;
    private final Consumer<McpMessage> out;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<AutoCloseable> sources = new ArrayList<>();
    private @Nullable List<McpMessage> early = new ArrayList<>();

    private Subscription(@Nullable Object id, Predicate<String> filter, Consumer<McpMessage> out) {
        this.id = id;
        this.filter = filter;
        this.out = out;
    }

    /** All changes of lists, and of the resources of a session. */
    static Subscription ofSession(
            McpProvider provider, CallContext caller, Predicate<String> uris, Consumer<McpMessage> out) {
        var subscription = new Subscription(
                null, change -> !change.startsWith(RESOURCE) || uris.test(change.substring(RESOURCE.length())), out);
        subscription.follow(provider, caller);
        subscription.begin(List.of());
        return subscription;
    }

    /**
     * Opens the subscription of a request {@code subscriptions/listen}, and sends the acknowledgement.
     *
     * @throws McpException INVALID_PARAMS for more names than {@value #MAX_NAMES}
     */
    static Subscription listen(
            McpProvider provider,
            CallContext caller,
            McpPeer peer,
            McpMessage.Request request,
            Consumer<McpMessage> out) {
        Interests wanted = Interests.of(request);
        Set<String> offers = provider.offers();
        boolean tools = wanted.tools() && offers.contains("tools");
        boolean prompts = wanted.prompts() && offers.contains("prompts");
        boolean resources = wanted.resources() && offers.contains("resources");
        List<String> uris = names("resourceSubscriptions", wanted.uris());
        boolean hasUris = !uris.isEmpty() && offers.contains("resources");
        List<String> taskIds = names("taskIds", wanted.taskIds());
        var changes = new HashSet<String>();
        addIf(tools, "tools", changes);
        addIf(prompts, "prompts", changes);
        addIf(resources, "resources", changes);
        uris.forEach(uri -> addIf(hasUris, RESOURCE + uri, changes));
        var subscription = new Subscription(request.id(), Set.copyOf(changes)::contains, out);
        try {
            if (!changes.isEmpty()) {
                subscription.follow(provider, caller);
            }
            McpTasks tasks = provider.tasks();
            List<String> followed = !taskIds.isEmpty() && tasks != null && peer.hasTasks()
                    ? subscription.follow(tasks, taskIds, caller)
                    : null;
            var accepted = new Interests(tools, prompts, resources, hasUris ? uris : null, followed);
            subscription.begin(List.of(new Acknowledged(accepted).message(request.id())));
            return subscription;
        } catch (RuntimeException failed) {
            subscription.close();
            throw failed;
        }
    }

    private static void addIf(boolean isWanted, String change, Set<String> changes) {
        if (isWanted) {
            changes.add(change);
        }
    }

    private static List<String> names(String member, @Nullable List<String> wanted) {
        List<String> names = wanted == null
                ? List.of()
                : wanted.stream().distinct().limit(MAX_NAMES + 1L).toList();
        if (names.size() > MAX_NAMES) {
            throw new McpException(
                    McpException.INVALID_PARAMS, member + ": too many (expected: at most " + MAX_NAMES + ")");
        }
        return names;
    }

    private void follow(McpProvider provider, CallContext caller) {
        add(provider.onChange(caller, change -> {
            if (filter.test(change)) {
                send(message(change));
            }
        }));
    }

    private List<String> follow(McpTasks tasks, List<String> ids, CallContext caller) {
        var followed = new ArrayList<String>();
        for (String task : ids) {
            try {
                add(tasks.onChange(task, caller, state -> send(new TaskChanged(state).message(id))));
                followed.add(task);
            } catch (McpException unknown) {
                // Not acknowledged, like all that is not followed.
            }
        }
        return followed;
    }

    private void add(AutoCloseable source) {
        lock.lock();
        try {
            sources.add(source);
        } finally {
            lock.unlock();
        }
    }

    private McpMessage message(String change) {
        ServerNotification notification = change.startsWith(RESOURCE)
                ? new ResourceUpdated(change.substring(RESOURCE.length()))
                : new ListChanged(change);
        return notification.message(id);
    }

    /** Answer to the request when the server ends the subscription. */
    static McpMessage ended(Object id) {
        return new McpMessage.Result(
                id, ServerResult.of(Nothing.CODEC, new Nothing()).members(new ResultMeta(id, null)));
    }

    /** Sends the first messages, and after them all changes since the sources are followed. */
    private void begin(List<McpMessage> first) {
        lock.lock();
        try {
            first.forEach(out);
            List<McpMessage> waiting = early;
            early = null;
            if (waiting != null) {
                waiting.forEach(out);
            }
        } finally {
            lock.unlock();
        }
    }

    private void send(McpMessage message) {
        lock.lock();
        try {
            if (early == null) {
                out.accept(message);
            } else {
                early.add(message);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all;
        lock.lock();
        try {
            all = List.copyOf(sources);
            sources.clear();
        } finally {
            lock.unlock();
        }
        for (AutoCloseable each : all) {
            try {
                each.close();
            } catch (Exception failed) {
                LOG.log(System.Logger.Level.WARNING, "A subscription could not be closed", failed);
            }
        }
    }
}

package dev.parley.mcp.server;

import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
            McpProvider provider, CallContext caller, Peer peer, McpMessage.Request request, Consumer<McpMessage> out) {
        Map<String, @Nullable Object> wanted = Trees.map(request.params().get("notifications"));
        var accepted = new LinkedHashMap<String, @Nullable Object>();
        var changes = new ArrayList<String>();
        for (String kind : List.of("tools", "prompts", "resources")) {
            if (Boolean.TRUE.equals(wanted.get(kind + "ListChanged"))
                    && provider.offers().contains(kind)) {
                accepted.put(kind + "ListChanged", true);
                changes.add(kind);
            }
        }
        List<String> uris = names(wanted, "resourceSubscriptions");
        if (!uris.isEmpty() && provider.offers().contains("resources")) {
            accepted.put("resourceSubscriptions", uris);
            uris.forEach(uri -> changes.add(RESOURCE + uri));
        }
        List<String> taskIds = names(wanted, "taskIds");
        var subscription = new Subscription(request.id(), List.copyOf(changes)::contains, out);
        try {
            if (!changes.isEmpty()) {
                subscription.follow(provider, caller);
            }
            McpTasks tasks = provider.tasks();
            if (!taskIds.isEmpty() && tasks != null && peer.hasTasks()) {
                accepted.put("taskIds", subscription.follow(tasks, taskIds, caller));
            }
            subscription.begin(List.of(new McpMessage.Notification(
                    "notifications/subscriptions/acknowledged",
                    subscription.tagged(Map.of("notifications", accepted)))));
            return subscription;
        } catch (RuntimeException failed) {
            subscription.close();
            throw failed;
        }
    }

    private static List<String> names(Map<String, @Nullable Object> wanted, String member) {
        List<String> names = Trees.list(wanted.get(member)).stream()
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .distinct()
                .limit(MAX_NAMES + 1L)
                .toList();
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
                add(tasks.onChange(
                        task,
                        caller,
                        state -> send(new McpMessage.Notification(
                                "notifications/tasks", tagged(Trees.of(ResultModel.TASK, state))))));
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
        return change.startsWith(RESOURCE)
                ? new McpMessage.Notification(
                        "notifications/resources/updated", tagged(Map.of("uri", change.substring(RESOURCE.length()))))
                : new McpMessage.Notification("notifications/" + change + "/list_changed", tagged(Map.of()));
    }

    private Map<String, @Nullable Object> tagged(Map<String, @Nullable Object> params) {
        return id == null ? params : Trees.with(params, "_meta", Map.of(Meta.SUBSCRIPTION_ID, id));
    }

    /** Answer to the request when the server ends the subscription. */
    static McpMessage ended(Object id) {
        return new McpMessage.Result(
                id, Trees.with(Map.of("resultType", "complete"), "_meta", Map.of(Meta.SUBSCRIPTION_ID, id)));
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

package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.Pin;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.Empty;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.PushConfig;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Operations on the webhooks of an agent's tasks. No answer contains a token or credentials, not even for the caller that
 * registered them: only deliveries need them, and a stolen key of a caller must not give away the secrets of its receivers.
 *
 * @param supported whether the agent's card offers webhooks
 */
record TaskWebhooks(Parts parts, String agent, boolean supported) {
    private Webhooks deliveries() {
        Webhooks deliveries = parts.webhooks();
        if (deliveries == null || !supported) {
            throw A2AException.of(A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED);
        }
        return deliveries;
    }

    /** @throws A2AException if webhooks are not supported, or this one must not be called */
    void check(PushConfig config, CallContext context) {
        deliveries().check(context.scope().group(), config);
    }

    /**
     * Registers a webhook that receives every event after {@code after}; it counts against the task's limit.
     *
     * @throws A2AException INVALID_PARAMS if the task has as many webhooks as it may have, and this is another one, or its id has U+0000
     */
    Subscription admit(LiveTask live, PushConfig config, @Nullable String taskName, CallContext context, long after) {
        String id = config.id();
        MessageAdmission.requireText("id", id);
        String taskId = live.key().taskId();
        PushConfig named = config.of(taskId, id == null || id.isEmpty() ? newId(taskId, taskName, context) : id);
        var webhook = Subscription.of(live.key(), named, context.dialect(), taskName, after)
                .in(deliveries().channel(live.key().scope(), live.contextId(), named, context.dialect()));
        if (!live.watchedBy(Webhooks.id(webhook), Webhooks.MAX_PER_TASK)) {
            throw A2AException.invalidParams(
                    "taskId",
                    "has " + Webhooks.MAX_PER_TASK + " webhooks (expected: at most " + Webhooks.MAX_PER_TASK + ")");
        }
        return webhook;
    }

    /** Before 1.0 a task's webhook need not be named, and then there is one of it. */
    private static String newId(String taskId, @Nullable String taskName, CallContext context) {
        if (context.dialect().equals(CallContext.V1)) {
            return UUID.randomUUID().toString();
        }
        return taskName == null ? taskId : taskName;
    }

    PushConfig create(PushConfig config, CallContext context) {
        Webhooks deliveries = deliveries();
        String asked = requireNonNull(config.taskId());
        try (Pin pin = parts.work().tasks().pinned(key(context, asked))) {
            LiveTask live = pin.task();
            deliveries.check(context.scope().group(), config);
            long after = live.written();
            Subscription webhook = admit(live, config, context.namesTasks() ? asked : null, context, after);
            Optional<Subscription> before = deliveries.store().find(live.key(), Webhooks.id(webhook));
            add(live, webhook, deliveries, Tasks.cause(context));
            before.ifPresent(deliveries::replaced);
            if (live.written() > after
                    || live.isForeign()) { // its owner may have written what this engine has not read yet
                deliveries.wake(live.key());
            }
            return webhook.config().withoutSecrets();
        }
    }

    private static void add(LiveTask live, Subscription webhook, Webhooks deliveries, Cause cause) {
        try {
            deliveries.store().save(webhook, cause);
        } catch (RuntimeException notWritten) {
            // Its place is free again, unless an earlier webhook of the same id has it.
            if (deliveries.store().find(live.key(), Webhooks.id(webhook)).isEmpty()) {
                live.unwatchedBy(Webhooks.id(webhook));
            }
            throw notWritten;
        }
    }

    PushConfig get(GetPushConfig get, CallContext context) {
        Webhooks deliveries = deliveries();
        TaskKey key = key(context, get.taskId());
        parts.work().tasks().read(key);
        return deliveries
                .store()
                .find(key, get.id())
                .map(webhook -> webhook.config().withoutSecrets())
                .orElseThrow(() -> A2AException.of(
                        A2AError.TASK_NOT_FOUND, "Push notification config not found", Map.of("id", get.id())));
    }

    PushConfigPage list(ListPushConfigs list, CallContext context) {
        Webhooks deliveries = deliveries();
        TaskKey key = key(context, list.taskId());
        parts.work().tasks().read(key);
        // A task has few webhooks (see Webhooks.MAX_PER_TASK), so one page holds them all.
        return new PushConfigPage(
                deliveries.store().of(key).stream()
                        .map(webhook -> webhook.config().withoutSecrets())
                        .toList(),
                "");
    }

    Empty delete(DeletePushConfig delete, CallContext context) {
        Webhooks deliveries = deliveries();
        try (Pin pin = parts.work().tasks().pinned(key(context, delete.taskId()))) {
            LiveTask live = pin.task();
            Optional<Subscription> before = deliveries.store().find(live.key(), delete.id());
            deliveries.store().delete(live.key(), delete.id(), Tasks.cause(context));
            live.unwatchedBy(delete.id());
            before.ifPresent(deliveries::replaced);
            return new Empty();
        }
    }

    private TaskKey key(CallContext context, String taskId) {
        return parts.work().names().key(context, agent, taskId);
    }
}

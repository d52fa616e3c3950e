package dev.parley.dialect;

import dev.parley.dialect.legacy.LegacyModel;
import dev.parley.dialect.legacy.TaskForm;
import dev.parley.dialect.served.Providers;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.Notification;
import dev.parley.dialect.v1.Generations;
import dev.parley.dialect.vault.VaultDialect;
import dev.parley.dialect.vault.VaultModel;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Notifications of events in the dialects in which their webhooks were registered.
 *
 * <p>Source: A2A specification 1.0, section 4.3.3; before it, no version said what a notification holds, and the SDKs
 * sent the task.
 */
public final class Notifications {
    private Notifications() {}

    /**
     * Returns the notification of an event; null if the dialect tells nothing of it.
     *
     * @param config the webhook
     * @param taskName what its owner calls the task; null if by its id
     * @param task returns the task as it stands after the event
     */
    public static @Nullable Notification of(
            String dialect, PushConfig config, @Nullable String taskName, LoggedEvent event, Supplier<Task> task) {
        if (dialect.equals(CallContext.V1)) {
            return Notification.v1(event);
        }
        if (event.event() instanceof Message) {
            return null;
        }
        return switch (dialect) {
            case "0.3" -> json(LegacyModel.KIND.task, task.get());
            case "0.1" -> json(LegacyModel.TYPE.task, named(task.get(), taskName));
            case "kernel" ->
                new Notification(
                        Headers.JSON,
                        config.token() == null ? Map.of() : Map.of("Authorization", "Bearer " + config.token()),
                        kernel(event.event(), named(task.get(), taskName)));
            case VaultDialect.NAME -> {
                Task now = task.get();
                boolean telling = now.state().isTerminal() || now.state() == TaskState.INPUT_REQUIRED;
                yield !(event.event() instanceof TaskArtifactUpdateEvent) && telling
                        ? new Notification(
                                Headers.JSON,
                                Map.of("X-AgentVault-Event", "task_status"),
                                VaultModel.status(now.id(), now.status()))
                        : null;
            }
            default -> Providers.named(dialect).notification(config, event, task);
        };
    }

    /**
     * Returns the event with its number as the member {@code generation}, for notifications in A2A 1.0: a preview of A2A 1.1. It is the
     * same event if it is in no log.
     */
    public static LoggedEvent numbered(LoggedEvent event) {
        return Generations.numbered(event);
    }

    /** Whether a dialect requires notifications about the tasks of one context in one order. */
    public static boolean orderContexts(String dialect) {
        return Providers.INSTALLED.stream()
                .anyMatch(provider -> provider.name().equals(dialect) && provider.ordersContexts());
    }

    /** The event as streams of the Agentic Kernel show it. {@code now} is the task after it, with the name it has there. */
    private static byte[] kernel(TaskEvent event, Task now) {
        if (event instanceof TaskArtifactUpdateEvent update) {
            List<String> ids =
                    now.artifacts().stream().map(Artifact::artifactId).toList();
            var indexed = new LegacyModel.IndexedUpdate(
                    (TaskArtifactUpdateEvent) new TaskForm(now.id(), null).of(update),
                    Math.max(0, ids.indexOf(update.artifact().artifactId())));
            return JsonText.write(LegacyModel.KERNEL.indexedUpdate, indexed);
        }
        var update = new TaskStatusUpdateEvent(now.id(), now.contextId(), now.status(), Map.of());
        return JsonText.write(LegacyModel.KERNEL.statusUpdate, update);
    }

    private static Task named(Task task, @Nullable String name) {
        return (Task) new TaskForm(name, null).of(task);
    }

    private static <T> Notification json(Codec<T> codec, T value) {
        return new Notification(Headers.JSON, Map.of(), JsonText.write(codec, value));
    }
}

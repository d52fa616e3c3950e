package dev.parley.engine;

import static dev.parley.protocol.settings.SettingType.COUNT;
import static dev.parley.protocol.settings.SettingType.SIZE;

import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.settings.SettingReader;

/**
 * Limits of the length of conversations and tasks.
 *
 * @param turns messages of a caller to one agent within one context; one more is refused
 * @param events of one task: pieces of artifacts, changes of state, messages
 * @param bytes of one task, approximate: messages, artifacts, and memory to hold them. A message over the limit is refused;
 *     an agent over it, or over {@code events}, fails its task
 */
public record TaskLimits(int turns, int events, long bytes) {
    private static final long MOST_BYTES = 1L << 30;

    /** 1,000 turns, 100,000 events, 64 MiB. */
    public static final TaskLimits DEFAULTS = read(SettingReader.DEFAULTS);

    public TaskLimits {
        if (turns < 1) {
            throw new IllegalArgumentException("turns: " + turns + " (expected: at least 1)");
        }
        if (events < 1) {
            throw new IllegalArgumentException("events: " + events + " (expected: at least 1)");
        }
        if (bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: 1 to " + MOST_BYTES + ")");
        }
    }

    /** Reads the limits. Defines their names, defaults and units. */
    public static TaskLimits read(SettingReader in) {
        return new TaskLimits(
                in.get(
                        COUNT,
                        "max-turns",
                        "1000",
                        "N",
                        "Limit of messages of a caller to one agent within one context."),
                in.get(
                        COUNT,
                        "max-events",
                        "100000",
                        "N",
                        "Limit of events of a task, such as pieces of its artifacts."),
                in.get(
                        SIZE.requiring(bytes -> bytes >= 1 && bytes <= MOST_BYTES, "a size from 1B to 1GB"),
                        "max-task",
                        "64MB",
                        "SIZE",
                        "Approximate limit of the size of a task; at most 1GB."));
    }

    /** True for an end that needs no space to speak of, or that says why the agent did not succeed. */
    static boolean isFree(TaskEvent event) {
        return event instanceof TaskStatusUpdateEvent moved
                && (moved.status().message() == null && moved.status().state().isTerminal()
                        || moved.status().state() == TaskState.FAILED
                        || moved.status().state() == TaskState.REJECTED);
    }
}

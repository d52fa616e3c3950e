package dev.parley.engine.tasks;

import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Roughly how many bytes of memory tasks and events take. */
public final class Weight {
    /** An event without its content. */
    private static final int EVENT = 300;

    private Weight() {}

    static int of(TaskEvent event) {
        return EVENT
                + switch (event) {
                    case Task task ->
                        task.history().stream()
                                .mapToInt(message -> of(message.parts()))
                                .sum();
                    case Message message -> of(message.parts());
                    case TaskArtifactUpdateEvent produced -> of(produced.artifact());
                    case TaskStatusUpdateEvent moved -> {
                        Message note = moved.status().message();
                        yield note == null ? 0 : of(note.parts());
                    }
                };
    }

    /** Returns the limit that events and bytes exceed with {@code more}; null for none. An end counts for nothing. */
    static @Nullable String excess(long before, long weight, List<TaskEvent> more, int mostEvents, long mostBytes) {
        long events = before;
        long bytes = weight;
        for (TaskEvent event : more) {
            bytes += of(event);
            if (event instanceof TaskStatusUpdateEvent moved
                    && moved.status().state().isTerminal()) {
                bytes -= EVENT;
            } else {
                events++;
            }
        }
        if (events > mostEvents) {
            return events + " events (expected: at most " + mostEvents + ")";
        }
        return bytes > mostBytes ? bytes + " bytes (expected: at most " + mostBytes + ")" : null;
    }

    /** Roughly how many bytes a task takes. */
    public static int of(Task task) {
        int sum = 0;
        for (Message message : task.history()) {
            sum += of(message.parts());
        }
        for (Artifact artifact : task.artifacts()) {
            sum += of(artifact);
        }
        return sum;
    }

    private static int of(Artifact artifact) {
        return of(artifact.parts()) + of(artifact.metadata());
    }

    private static int of(@Nullable Object json) {
        return switch (json) {
            case String text -> 50 + text.length();
            case Map<?, ?> map -> {
                int sum = 0;
                for (var entry : map.entrySet()) {
                    sum += of(entry.getKey()) + of(entry.getValue());
                }
                yield sum;
            }
            case List<?> list -> {
                int sum = 0;
                for (Object element : list) {
                    sum += of(element);
                }
                yield sum;
            }
            case null, default -> 20;
        };
    }

    private static int of(List<Part> parts) {
        int sum = 0;
        for (Part part : parts) {
            sum += 100
                    + of(part.metadata())
                    + switch (part) {
                        case Part.Text text -> text.text().length();
                        case Part.Raw raw -> raw.raw().length;
                        case Part.Url url -> url.url().length();
                        case Part.Data data -> of(data.data());
                    };
        }
        return sum;
    }
}

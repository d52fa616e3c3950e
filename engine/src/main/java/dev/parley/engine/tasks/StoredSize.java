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

/** Bytes that an event takes in the log, as JSON: not less than it takes, and little more unless it is short. */
final class StoredSize {
    /** Ids, times and names of members of an event, and its row. */
    private static final int EVENT = 500;

    private static final int PART = 80;
    private static final int MESSAGE = 200;
    /** Quotation marks, a comma and a colon. */
    private static final int AROUND = 4;

    private static final int ESCAPED = 6;
    private static final int WORD = 5;

    private StoredSize() {}

    static long of(TaskEvent event) {
        return EVENT
                + switch (event) {
                    case Message message -> of(message);
                    case Task task ->
                        sum(task.history())
                                + task.artifacts().stream()
                                        .mapToLong(StoredSize::of)
                                        .sum()
                                + ofNote(task.status().message())
                                + json(task.contextId())
                                + json(task.metadata());
                    case TaskArtifactUpdateEvent produced ->
                        of(produced.artifact()) + json(produced.contextId()) + json(produced.metadata());
                    case TaskStatusUpdateEvent moved ->
                        ofNote(moved.status().message()) + json(moved.contextId()) + json(moved.metadata());
                };
    }

    static long of(List<TaskEvent> events) {
        long sum = 0;
        for (TaskEvent event : events) {
            sum += of(event);
        }
        return sum;
    }

    private static long ofNote(@Nullable Message note) {
        return note == null ? 0 : of(note);
    }

    private static long sum(List<Message> messages) {
        long sum = 0;
        for (Message message : messages) {
            sum += of(message);
        }
        return sum;
    }

    private static long of(Message message) {
        return MESSAGE
                + json(message.messageId())
                + json(message.contextId())
                + json(message.taskId())
                + parts(message.parts())
                + json(message.metadata())
                + json(message.extensions())
                + json(message.referenceTaskIds());
    }

    private static long of(Artifact artifact) {
        return MESSAGE
                + json(artifact.artifactId())
                + json(artifact.name())
                + json(artifact.description())
                + parts(artifact.parts())
                + json(artifact.metadata())
                + json(artifact.extensions());
    }

    private static long parts(List<Part> parts) {
        long sum = 0;
        for (Part part : parts) {
            sum += PART
                    + json(part.metadata())
                    + json(part.filename())
                    + json(part.mediaType())
                    + switch (part) {
                        case Part.Text text -> json(text.text());
                        case Part.Raw raw -> (raw.raw().length + 2L) / 3 * 4;
                        case Part.Url url -> json(url.url());
                        case Part.Data data -> json(data.data());
                    };
        }
        return sum;
    }

    private static long json(@Nullable Object value) {
        return switch (value) {
            case String text -> AROUND + text(text);
            case Map<?, ?> map -> {
                long sum = AROUND;
                for (var entry : map.entrySet()) {
                    sum += json(entry.getKey()) + json(entry.getValue());
                }
                yield sum;
            }
            case List<?> list -> {
                long sum = AROUND;
                for (Object element : list) {
                    sum += json(element) + 1;
                }
                yield sum;
            }
            case null -> AROUND;
            case Number number -> number.toString().length();
            default -> WORD;
        };
    }

    private static long text(String text) {
        long bytes = text.length();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ') {
                bytes += ESCAPED - 1;
            } else if (c == '"' || c == '\\') {
                bytes++;
            } else if (c >= 0x80) {
                bytes += c < 0x800 ? 1 : 2; // a pair of surrogates takes four bytes, which are fewer
            }
        }
        return bytes;
    }
}

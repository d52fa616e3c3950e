package dev.parley.dialect.grpc;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.support.Excerpt;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages of other programs leniently: a field that does not fit is left out, with the smallest element around it that is nothing
 * without it, and the rest is kept.
 */
final class GrpcMender {
    private static final System.Logger LOG = System.getLogger("dev.parley.client");
    private static final int MOST_BLEMISHES = 32;
    private static final Pattern STEP = Pattern.compile("([^.\\[\\]]+)(?:\\[(\\d+)])?");

    private record Step(String name, int index) {}

    private GrpcMender() {}

    /**
     * Reads a message.
     *
     * @throws InvalidField the first fault, if the rest does not fit either
     */
    static <A extends Message, R> R read(A message, Function<A, R> reader) {
        try {
            return reader.apply(message);
        } catch (InvalidField fault) {
            return read(message, reader, fault);
        }
    }

    @SuppressWarnings("unchecked") // the same message with less in it
    private static <A extends Message, R> R read(A message, Function<A, R> reader, InvalidField fault) {
        var left = new ArrayList<String>();
        A rest = message;
        InvalidField next = fault;
        while (left.size() < MOST_BLEMISHES) {
            Message less = without(rest, steps(next.field()), 0);
            if (less == null || less.equals(rest)) {
                throw fault;
            }
            left.add(next.field() + ": " + next.problem());
            rest = (A) less;
            try {
                R value = reader.apply(rest);
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the agent sent values that do not fit and are left out: {0}",
                        String.join("; ", left));
                return value;
            } catch (InvalidField other) {
                next = other;
            }
        }
        throw fault;
    }

    private static List<Step> steps(String path) {
        var steps = new ArrayList<Step>();
        Matcher step = STEP.matcher(path);
        while (step.find()) {
            steps.add(new Step(step.group(1), step.group(2) == null ? -1 : Integer.parseInt(step.group(2))));
        }
        return steps;
    }

    /** Returns the message without the value at a path; null if it is nothing without that value. */
    private static @Nullable Message without(Message message, List<Step> steps, int from) {
        if (from >= steps.size()) {
            return null;
        }
        Step step = steps.get(from);
        FieldDescriptor field = message.getDescriptorForType().getFields().stream()
                .filter(one -> one.getJsonName().equals(step.name()))
                .findFirst()
                .orElse(null);
        if (field == null) {
            return null;
        }
        boolean last = from == steps.size() - 1;
        if (field.isRepeated()) {
            return withoutElement(message, field, step.index(), last ? null : steps, from);
        }
        if (field.hasPresence() && !message.hasField(field) || !field.hasPresence() && last) {
            return null;
        }
        Message rest =
                last || !(message.getField(field) instanceof Message inner) ? null : without(inner, steps, from + 1);
        Message.Builder builder = message.toBuilder();
        return (rest == null ? builder.clearField(field) : builder.setField(field, rest)).build();
    }

    private static @Nullable Message withoutElement(
            Message message, FieldDescriptor field, int index, @Nullable List<Step> steps, int from) {
        int count = message.getRepeatedFieldCount(field);
        if (index < 0 || index >= count) {
            return index < 0 && count > 0
                    ? message.toBuilder().clearField(field).build()
                    : null;
        }
        Message rest = steps != null && message.getRepeatedField(field, index) instanceof Message inner
                ? without(inner, steps, from + 1)
                : null;
        Message.Builder builder = message.toBuilder().clearField(field);
        for (int i = 0; i < count; i++) {
            if (i != index) {
                builder.addRepeatedField(field, message.getRepeatedField(field, i));
            } else if (rest != null) {
                builder.addRepeatedField(field, rest);
            }
        }
        return builder.build();
    }

    /** The id of the task in a message that cannot be read; null for none. */
    static @Nullable String taskId(Message message) {
        for (FieldDescriptor field : message.getAllFields().keySet()) {
            Object value = message.getField(field);
            if (value instanceof Message inner && !field.isRepeated()) {
                String id = text(inner, inner.getDescriptorForType().getName().equals("Task") ? "id" : "task_id");
                if (id != null) {
                    return id;
                }
            }
        }
        return text(message, message.getDescriptorForType().getName().equals("Task") ? "id" : "task_id");
    }

    private static @Nullable String text(Message message, String name) {
        FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
        return field != null && message.getField(field) instanceof String text && !text.isEmpty()
                ? Excerpt.line(text)
                : null;
    }
}

package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import dev.parley.dialect.grpc.v1.ListTasksResponse;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.Task;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.TaskPage;
import java.util.List;

/**
 * The number of an event as the field {@code generation} of its message: a preview of A2A 1.1. Descriptors are those of 1.0, so the field
 * is one that they do not know.
 *
 * <p>Source: A2A, branch dev-1.1 of 12 August 2026, a2a.proto.
 */
final class Generations {
    private static final int OF_TASK = 7;
    private static final int OF_STATUS_UPDATE = 5;
    private static final int OF_ARTIFACT_UPDATE = 7;

    private Generations() {}

    /**
     * Returns the message of an answer, or of an event, with its number.
     *
     * @param value what the message says
     */
    static Message numbered(Message message, Object value) {
        return switch (message) {
            case StreamResponse event when value instanceof LoggedEvent logged -> numbered(event, logged.sequence());
            case SendMessageResponse answer
            when value instanceof dev.parley.protocol.Task task ->
                answer.toBuilder()
                        .setTask(numbered(answer.getTask(), task.generation()))
                        .build();
            case Task task when value instanceof dev.parley.protocol.Task known -> numbered(task, known.generation());
            case ListTasksResponse page when value instanceof TaskPage known -> numbered(page, known.tasks());
            default -> message;
        };
    }

    private static Message numbered(StreamResponse event, long number) {
        var builder = event.toBuilder();
        return switch (event.getPayloadCase()) {
            case TASK -> builder.setTask(numbered(event.getTask(), number)).build();
            case STATUS_UPDATE ->
                builder.setStatusUpdate(
                                event.getStatusUpdate().toBuilder().setUnknownFields(field(OF_STATUS_UPDATE, number)))
                        .build();
            case ARTIFACT_UPDATE ->
                builder.setArtifactUpdate(event.getArtifactUpdate().toBuilder()
                                .setUnknownFields(field(OF_ARTIFACT_UPDATE, number)))
                        .build();
            case MESSAGE, PAYLOAD_NOT_SET -> event;
        };
    }

    private static Message numbered(ListTasksResponse page, List<dev.parley.protocol.Task> tasks) {
        var builder = page.toBuilder();
        for (int i = 0; i < tasks.size(); i++) {
            builder.setTasks(i, numbered(page.getTasks(i), tasks.get(i).generation()));
        }
        return builder.build();
    }

    private static Task numbered(Task task, long number) {
        return task.toBuilder().setUnknownFields(field(OF_TASK, number)).build();
    }

    /** Returns the field with a number; no field for 0. */
    private static UnknownFieldSet field(int field, long number) {
        return number == 0
                ? UnknownFieldSet.getDefaultInstance()
                : UnknownFieldSet.newBuilder()
                        .addField(
                                field,
                                UnknownFieldSet.Field.newBuilder()
                                        .addVarint(number)
                                        .build())
                        .build();
    }

    /** Returns the number of an event that a peer has sent; 0 if there is none. */
    static long of(Message message) {
        return message instanceof StreamResponse event
                ? switch (event.getPayloadCase()) {
                    case TASK -> number(event.getTask(), OF_TASK);
                    case STATUS_UPDATE -> number(event.getStatusUpdate(), OF_STATUS_UPDATE);
                    case ARTIFACT_UPDATE -> number(event.getArtifactUpdate(), OF_ARTIFACT_UPDATE);
                    case MESSAGE, PAYLOAD_NOT_SET -> 0;
                }
                : 0;
    }

    private static long number(Message message, int field) {
        List<Long> numbers = message.getUnknownFields().getField(field).getVarintList();
        return numbers.isEmpty() ? 0 : Math.max(0, numbers.getLast());
    }
}

package dev.parley.dialect.grpc;

import static java.util.Objects.requireNonNull;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskEvent;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One operation on the wire of gRPC. Server and client go by tables of these.
 *
 * @param type the operation
 * @param read makes the operation of what a client sends
 * @param write makes what a client sends of the operation
 * @param answer makes the message of an answer or, for a stream, of one event
 * @param result makes an answer, or one event, of its message
 * @param <O> the operation
 * @param <R> its answer, or {@link TaskEvent} for each one of a stream
 * @param <Q> the message that asks
 * @param <A> the message that answers
 */
public record Rpc<O extends Operation, R, Q extends Message, A extends Message>(
        Class<O> type,
        MethodDescriptor<Q, A> method,
        Function<Q, O> read,
        Function<O, Q> write,
        Function<R, A> answer,
        Function<A, R> result) {

    /** The request, to this tenant unless the operation names one itself. */
    @SuppressWarnings("unchecked") // the same message with one more field
    Q request(Operation operation, @Nullable String tenant) {
        Q request = write.apply(type.cast(operation));
        FieldDescriptor field = request.getDescriptorForType().findFieldByName("tenant");
        return tenant == null || field == null || operation.tenant() != null
                ? request
                : (Q) request.toBuilder().setField(field, tenant).build();
    }

    /** An operation with one answer. */
    public static <R, O extends Operation.Call<R>, Q extends Message, A extends Message> Rpc<O, R, Q, A> call(
            Class<O> type,
            MethodDescriptor<Q, A> method,
            Function<Q, O> read,
            Function<O, Q> write,
            Function<R, A> answer,
            Function<A, R> result) {
        return new Rpc<>(type, method, read, write, answer, result);
    }

    /** An operation of an extension that streams. */
    public static <E, O extends Operation.ExtensionWatch<E>, Q extends Message, A extends Message>
            Rpc<O, E, Q, A> stream(
                    Class<O> type,
                    MethodDescriptor<Q, A> method,
                    Function<Q, O> read,
                    Function<O, Q> write,
                    Function<E, A> answer,
                    Function<A, E> result) {
        return new Rpc<>(type, method, read, write, answer, result);
    }

    /** An operation of A2A with one answer, by the tables of its messages. */
    static <R, O extends Operation.Call<R>, Q extends Message, A extends Message> Rpc<O, R, Q, A> call(
            Class<O> type, MethodDescriptor<Q, A> method, Fields<O> request, Fields<R> answer) {
        return of(type, method, request, answer);
    }

    static <O extends Operation.TaskWatch, Q extends Message, A extends Message> Rpc<O, TaskEvent, Q, A> watch(
            Class<O> type, MethodDescriptor<Q, A> method, Fields<O> request, Fields<TaskEvent> answer) {
        return of(type, method, request, answer);
    }

    private static <O extends Operation, R, Q extends Message, A extends Message> Rpc<O, R, Q, A> of(
            Class<O> type, MethodDescriptor<Q, A> method, Fields<O> request, Fields<R> answer) {
        return new Rpc<>(
                type,
                method,
                request::read,
                writer(request, method.getRequestMarshaller()),
                writer(answer, method.getResponseMarshaller()),
                answer::read);
    }

    @SuppressWarnings("unchecked") // a builder makes messages of its own type
    private static <T, M extends Message> Function<T, M> writer(Fields<T> fields, Marshaller<M> marshaller) {
        M prototype = requireNonNull(((PrototypeMarshaller<M>) marshaller).getMessagePrototype());
        return value -> (M) fields.write(value, prototype.newBuilderForType());
    }
}

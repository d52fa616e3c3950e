package dev.parley.dialect.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Message;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Messages with something in every field, to begin with where any message may come. */
final class Filled {
    private static final int DEPTH = 4;
    private static final int VARIANTS = 4;

    private Filled() {}

    /** Messages of the kind that a marshaller knows, with one alternative after the other where there are several. */
    static Stream<byte[]> of(Marshaller<?> kind) {
        var prototype = (Message) ((PrototypeMarshaller<?>) kind).getMessagePrototype();
        return IntStream.range(0, VARIANTS)
                .mapToObj(variant ->
                        filled(prototype.newBuilderForType(), variant, DEPTH).toByteArray());
    }

    private static Message filled(Message.Builder message, int variant, int depth) {
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            OneofDescriptor choice = field.getRealContainingOneof();
            boolean chosen = choice == null
                    || choice.getField(variant % choice.getFieldCount()).equals(field);
            Object value = chosen ? value(message, field, variant, depth) : null;
            if (value != null) {
                message.setField(field, field.isRepeated() ? List.of(value) : value);
            }
        }
        return message.build();
    }

    private static @Nullable Object value(Message.Builder message, FieldDescriptor field, int variant, int depth) {
        return switch (field.getJavaType()) {
            case INT -> 1;
            case LONG -> 1_700_000_000L;
            case FLOAT -> 0.5f;
            case DOUBLE -> 0.5;
            case BOOLEAN -> true;
            // The names of 0.3 are paths.
            case STRING -> "tasks/" + field.getName();
            case BYTE_STRING -> ByteString.copyFromUtf8(field.getName());
            case ENUM -> {
                List<EnumValueDescriptor> values = field.getEnumType().getValues();
                yield values.get((variant + 1) % values.size());
            }
            case MESSAGE -> depth == 0 ? null : filled(message.newBuilderForField(field), variant, depth - 1);
        };
    }
}

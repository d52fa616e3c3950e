package dev.parley.dialect.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import java.time.Instant;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Converts between the value of a field and a value of the model. */
interface Kind<V> {
    Kind<String> TEXT = Kind.of(String.class, text -> text, text -> text);
    Kind<Boolean> FLAG = Kind.of(Boolean.class, flag -> flag, flag -> flag);
    Kind<Integer> NUMBER = Kind.of(Integer.class, number -> number, number -> number);
    Kind<ByteString> BYTES = Kind.of(ByteString.class, bytes -> bytes, bytes -> bytes);
    Kind<Instant> TIME = Kind.of(Timestamp.class, Values::read, Values::write);
    Kind<Map<String, @Nullable Object>> STRUCT = Kind.of(Struct.class, Values::read, Values::write);

    V read(Object value);

    Object write(V value, Message.Builder message, FieldDescriptor field);

    static <W, V> Kind<V> of(Class<W> type, Function<W, V> read, Function<V, W> write) {
        return new Kind<>() {
            @Override
            public V read(Object value) {
                return read.apply(type.cast(value));
            }

            @Override
            public Object write(V value, Message.Builder message, FieldDescriptor field) {
                return write.apply(value);
            }
        };
    }
}

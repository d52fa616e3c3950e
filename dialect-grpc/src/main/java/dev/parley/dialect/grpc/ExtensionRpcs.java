package dev.parley.dialect.grpc;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import io.grpc.protobuf.ProtoUtils;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Operations of extensions on the wire of gRPC: those with messages of their own, and all others as free data. */
final class ExtensionRpcs {
    private static final List<GrpcExtension> INSTALLED =
            ServiceLoader.load(GrpcExtension.class, GrpcExtension.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    /** Operations with messages of their own, by the full name of the method. */
    static final Map<String, Rpc<?, ?, ?, ?>> TYPED = typed();

    private ExtensionRpcs() {}

    private static Map<String, Rpc<?, ?, ?, ?>> typed() {
        var rpcs = new LinkedHashMap<String, Rpc<?, ?, ?, ?>>();
        for (GrpcExtension extension : INSTALLED) {
            extension.rpcs().forEach(rpc -> rpcs.put(rpc.method().getFullMethodName(), rpc));
        }
        return Map.copyOf(rpcs);
    }

    static List<FileDescriptor> files() {
        return INSTALLED.stream().map(GrpcExtension::file).toList();
    }

    /** The operation as it travels. */
    @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
    static Rpc<Operation.Extension, Object, Message, Message> of(ExtensionMethod<?, ?> row) {
        Rpc<?, ?, ?, ?> typed = TYPED.get(row.grpc());
        return (Rpc<Operation.Extension, Object, Message, Message>)
                (typed == null ? free((ExtensionMethod<Operation.Extension, Object>) row) : typed);
    }

    /**
     * The operation among those of a client's extensions.
     *
     * @throws A2AException UNSUPPORTED_OPERATION if it has no gRPC method
     */
    static Rpc<Operation.Extension, Object, Message, Message> of(
            Operation.Extension operation, List<ExtensionProtocol> extensions) {
        return of(row(operation, extensions));
    }

    /** The header in which a server names the position of a stream. */
    static String positionHeader(Operation.Extension operation, List<ExtensionProtocol> extensions) {
        for (ExtensionProtocol extension : extensions) {
            if (extension.methods().stream().anyMatch(row -> row.type().isInstance(operation))) {
                return extension.style().positionHeader();
            }
        }
        return ExtensionStyle.A2A.positionHeader();
    }

    private static ExtensionMethod<?, ?> row(Operation.Extension operation, List<ExtensionProtocol> extensions) {
        for (ExtensionProtocol extension : extensions) {
            for (ExtensionMethod<?, ?> row : extension.methods()) {
                if (row.grpc() != null
                        && row.type().isInstance(operation)
                        && row.name().equals(operation.name())) {
                    return row;
                }
            }
        }
        throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, operation.name() + " has no gRPC method");
    }

    private static Rpc<Operation.Extension, Object, Struct, Value> free(
            ExtensionMethod<Operation.Extension, Object> row) {
        MethodDescriptor<Struct, Value> method = MethodDescriptor.<Struct, Value>newBuilder()
                .setType(
                        row.streams()
                                ? MethodDescriptor.MethodType.SERVER_STREAMING
                                : MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(String.valueOf(row.grpc()))
                .setRequestMarshaller(ProtoUtils.marshaller(Struct.getDefaultInstance()))
                .setResponseMarshaller(ProtoUtils.marshaller(Value.getDefaultInstance()))
                .build();
        return new Rpc<>(
                row.type(),
                method,
                request -> row.request().fromJson(Values.read(request)),
                operation -> Values.write(object(row.request().toJson(operation))),
                answer -> Values.write(row.answer().toJson(answer)),
                answer -> row.answer().fromJson(Values.read(answer)));
    }

    private static Map<String, @Nullable Object> object(@Nullable Object json) {
        var object = new HashMap<String, @Nullable Object>();
        if (json instanceof Map<?, ?> members) {
            members.forEach((name, value) -> object.put(String.valueOf(name), value));
        }
        return object;
    }

    /** The agent that a request names in a field of its own; null if its message has no such field, or it is empty. */
    static @Nullable String tenant(Message request) {
        FieldDescriptor field = request.getDescriptorForType().findFieldByName("tenant");
        return field == null ? null : Values.nonEmpty(String.valueOf(request.getField(field)));
    }

    /** The status of an error. */
    static Code code(ExtensionStyle style, A2AException problem) {
        boolean missing =
                problem.error() == A2AError.METHOD_NOT_FOUND || problem.error() == A2AError.UNSUPPORTED_OPERATION;
        return style.grpcStatus(problem)
                .map(Code::valueOf)
                .orElseGet(() -> missing ? Code.UNIMPLEMENTED : V1Rpcs.code(problem.error()));
    }
}

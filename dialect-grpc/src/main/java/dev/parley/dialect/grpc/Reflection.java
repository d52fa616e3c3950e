package dev.parley.dialect.grpc;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.GenericDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.parley.dialect.grpc.health.HealthV1;
import dev.parley.dialect.grpc.reflection.ErrorResponse;
import dev.parley.dialect.grpc.reflection.FileDescriptorResponse;
import dev.parley.dialect.grpc.reflection.ListServiceResponse;
import dev.parley.dialect.grpc.reflection.ReflectionV1;
import dev.parley.dialect.grpc.reflection.ServerReflectionGrpc;
import dev.parley.dialect.grpc.reflection.ServerReflectionRequest;
import dev.parley.dialect.grpc.reflection.ServerReflectionResponse;
import dev.parley.dialect.grpc.reflection.ServiceResponse;
import dev.parley.dialect.grpc.v03.A2aV03;
import dev.parley.dialect.grpc.v1.A2aV1;
import io.grpc.Status.Code;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Describes the services to tools that do not know them. */
final class Reflection {
    private static final String METHOD =
            ServerReflectionGrpc.getServerReflectionInfoMethod().getFullMethodName();

    /** Version 1 and its draft, which many tools ask first: the same but for the package. */
    static final Set<String> METHODS = Set.of(METHOD, METHOD.replace(".v1.", ".v1alpha."));

    private static final List<FileDescriptor> SERVED = Stream.of(
                    List.of(A2aV1.getDescriptor(), A2aV03.getDescriptor()),
                    ExtensionRpcs.files(),
                    List.of(HealthV1.getDescriptor(), ReflectionV1.getDescriptor()))
            .flatMap(List::stream)
            .toList();
    private static final Map<String, FileDescriptor> BY_NAME = new HashMap<>();
    private static final Map<String, FileDescriptor> BY_SYMBOL = new HashMap<>();

    static {
        SERVED.forEach(Reflection::add);
    }

    private Reflection() {}

    static GrpcAnswer answer(byte[] message) {
        try {
            ServerReflectionRequest asked = ServerReflectionRequest.parseFrom(message);
            return new GrpcAnswer.Whole(Map.of(), answer(asked).toByteArray());
        } catch (InvalidProtocolBufferException e) {
            return ErrorDetails.plain(Code.INVALID_ARGUMENT, "Invalid message");
        }
    }

    private static ServerReflectionResponse answer(ServerReflectionRequest asked) {
        var answer = ServerReflectionResponse.newBuilder()
                .setValidHost(asked.getHost())
                .setOriginalRequest(asked);
        switch (asked.getMessageRequestCase()) {
            case LIST_SERVICES -> answer.setListServicesResponse(services());
            case FILE_BY_FILENAME -> describe(BY_NAME.get(asked.getFileByFilename()), answer);
            case FILE_CONTAINING_SYMBOL -> describe(BY_SYMBOL.get(asked.getFileContainingSymbol()), answer);
            // Version 3 of the language has no extensions.
            case FILE_CONTAINING_EXTENSION, ALL_EXTENSION_NUMBERS_OF_TYPE -> describe(null, answer);
            case MESSAGEREQUEST_NOT_SET -> answer.setErrorResponse(error(Code.INVALID_ARGUMENT, "Nothing is asked"));
        }
        return answer.build();
    }

    private static ListServiceResponse services() {
        var services = ListServiceResponse.newBuilder();
        for (FileDescriptor file : SERVED) {
            file.getServices()
                    .forEach(service ->
                            services.addService(ServiceResponse.newBuilder().setName(service.getFullName())));
        }
        return services.build();
    }

    private static void describe(@Nullable FileDescriptor file, ServerReflectionResponse.Builder answer) {
        if (file == null) {
            answer.setErrorResponse(error(Code.NOT_FOUND, "There is no such thing"));
            return;
        }
        var needed = new LinkedHashSet<FileDescriptor>();
        collect(file, needed);
        var files = FileDescriptorResponse.newBuilder();
        needed.forEach(one -> files.addFileDescriptorProto(one.toProto().toByteString()));
        answer.setFileDescriptorResponse(files);
    }

    private static ErrorResponse error(Code code, String message) {
        return ErrorResponse.newBuilder()
                .setErrorCode(code.value())
                .setErrorMessage(message)
                .build();
    }

    private static void collect(FileDescriptor file, Set<FileDescriptor> files) {
        if (files.add(file)) {
            file.getDependencies().forEach(dependency -> collect(dependency, files));
        }
    }

    private static void add(FileDescriptor file) {
        BY_NAME.put(file.getFullName(), file);
        file.getDependencies().forEach(Reflection::add);
        file.getServices().forEach(service -> {
            add(service);
            service.getMethods().forEach(Reflection::add);
        });
        file.getEnumTypes().forEach(Reflection::add);
        file.getMessageTypes().forEach(Reflection::addMessage);
    }

    private static void addMessage(Descriptor message) {
        add(message);
        message.getEnumTypes().forEach(Reflection::add);
        message.getNestedTypes().forEach(Reflection::addMessage);
    }

    private static void add(GenericDescriptor symbol) {
        BY_SYMBOL.put(symbol.getFullName(), symbol.getFile());
    }
}

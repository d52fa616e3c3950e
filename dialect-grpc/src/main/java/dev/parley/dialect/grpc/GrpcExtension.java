package dev.parley.dialect.grpc;

import com.google.protobuf.Descriptors.FileDescriptor;
import java.util.List;

/**
 * Messages of an extension's own for its operations over gRPC; found by {@link java.util.ServiceLoader}. Operations of other
 * extensions travel as {@code google.protobuf.Struct}. Server and client share it.
 */
public interface GrpcExtension {
    /** The operations. Their methods have the names that the extension's rows give them; a field {@code tenant} names the agent. */
    List<Rpc<?, ?, ?, ?>> rpcs();

    /** The file of the service, for reflection. */
    FileDescriptor file();
}

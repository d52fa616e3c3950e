/** A2A over gRPC, in both directions. */
module dev.parley.dialect.grpc {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.protocol;
    requires com.google.common;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires io.grpc;
    requires io.grpc.okhttp;
    requires io.grpc.protobuf;
    requires io.grpc.stub;

    exports dev.parley.dialect.grpc;

    uses dev.parley.dialect.grpc.GrpcExtension;

    provides dev.parley.dialect.spi.Transport with
            dev.parley.dialect.grpc.GrpcTransport;
}

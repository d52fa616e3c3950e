/** The operations of the knowledge graph extension over gRPC, in both directions. */
module dev.parley.knowledge.grpc {
    requires static transitive org.jspecify;
    requires dev.parley.dialect.grpc;
    requires dev.parley.knowledge.api;
    requires dev.parley.protocol;
    requires com.google.common;
    requires com.google.protobuf;
    requires io.grpc;
    requires io.grpc.protobuf;
    requires io.grpc.stub;

    provides dev.parley.dialect.grpc.GrpcExtension with
            dev.parley.knowledge.grpc.KnowledgeRpcs;
}

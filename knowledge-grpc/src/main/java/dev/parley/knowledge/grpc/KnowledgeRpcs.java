package dev.parley.knowledge.grpc;

import com.google.protobuf.Descriptors.FileDescriptor;
import dev.parley.dialect.grpc.GrpcExtension;
import dev.parley.dialect.grpc.Rpc;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.grpc.v1.KnowledgeServiceGrpc;
import dev.parley.knowledge.grpc.v1.KnowledgeV1;
import java.util.List;

/** The operations of the knowledge graph extension over gRPC. */
public final class KnowledgeRpcs implements GrpcExtension {
    /** For the service loader. */
    public KnowledgeRpcs() {}

    @Override
    public List<Rpc<?, ?, ?, ?>> rpcs() {
        return List.of(
                Rpc.call(
                        Query.class,
                        KnowledgeServiceGrpc.getQueryMethod(),
                        KnowledgeMessages::read,
                        KnowledgeMessages::write,
                        KnowledgeMessages::write,
                        KnowledgeMessages::read),
                Rpc.call(
                        Update.class,
                        KnowledgeServiceGrpc.getUpdateMethod(),
                        KnowledgeMessages::read,
                        KnowledgeMessages::write,
                        KnowledgeMessages::write,
                        KnowledgeMessages::read),
                Rpc.stream(
                        Subscribe.class,
                        KnowledgeServiceGrpc.getSubscribeMethod(),
                        KnowledgeMessages::read,
                        KnowledgeMessages::write,
                        KnowledgeMessages::write,
                        KnowledgeMessages::read));
    }

    @Override
    public FileDescriptor file() {
        return KnowledgeV1.getDescriptor();
    }
}

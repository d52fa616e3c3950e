package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.dialect.KnowledgeExtension;
import dev.parley.dialect.grpc.knowledge.KnowledgeServiceGrpc;
import dev.parley.dialect.grpc.knowledge.QueryRequest;
import dev.parley.dialect.grpc.knowledge.SubscribeRequest;
import dev.parley.dialect.grpc.knowledge.UpdateRequest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.KnowledgeOperation;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * One operation of the knowledge graph extension on the wire of gRPC, as a server reads it.
 *
 * @param <Q> the message that asks
 */
record KnowledgeRpc<Q extends Message>(
        MethodDescriptor<Q, ?> method, Function<Q, String> tenant, Function<Q, KnowledgeOperation> read) {

    static final String POSITION = KnowledgeExtension.POSITION.toLowerCase(Locale.ROOT);

    static final List<KnowledgeRpc<?>> ALL = List.of(
            new KnowledgeRpc<>(KnowledgeServiceGrpc.getQueryMethod(), QueryRequest::getTenant, KnowledgeModel::read),
            new KnowledgeRpc<>(KnowledgeServiceGrpc.getUpdateMethod(), UpdateRequest::getTenant, KnowledgeModel::read),
            new KnowledgeRpc<>(
                    KnowledgeServiceGrpc.getSubscribeMethod(), SubscribeRequest::getTenant, KnowledgeModel::read));

    /** The status of an error. Of some, the reason decides. */
    static Code code(A2AException problem) {
        String reason = problem.metadata().getOrDefault("reason", "");
        if (reason.equals("busy")) {
            return Code.RESOURCE_EXHAUSTED;
        }
        return switch (problem.error()) {
            case KNOWLEDGE_QUERY -> reason.equals("timeout") ? Code.DEADLINE_EXCEEDED : Code.INVALID_ARGUMENT;
            case KNOWLEDGE_UPDATE -> reason.equals("forbidden") ? Code.PERMISSION_DENIED : Code.ABORTED;
            case KNOWLEDGE_SUBSCRIPTION ->
                problem.retryAfter() != null || reason.equals("quota")
                        ? Code.RESOURCE_EXHAUSTED
                        : Code.INVALID_ARGUMENT;
            case METHOD_NOT_FOUND, UNSUPPORTED_OPERATION -> Code.UNIMPLEMENTED;
            default -> V1Rpcs.code(problem.error());
        };
    }
}

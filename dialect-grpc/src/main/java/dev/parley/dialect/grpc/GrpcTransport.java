package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.dialect.spi.Transport;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Operation;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Speaks to agents over gRPC: A2A 1.0 and 0.3. */
public final class GrpcTransport implements Transport {
    /**
     * One version from the client's side.
     *
     * @param version sent as {@code a2a-version}; null if that version knows no such thing
     */
    record Spoken(
            Map<Class<?>, Rpc<?, ?, ?, ?>> rpcs, @Nullable String version, String extensions) {
        @SuppressWarnings("unchecked") // by the table
        <R> Rpc<Operation, R, Message, Message> rpc(Operation operation) {
            var rpc = rpcs.get(operation.getClass());
            if (rpc == null) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        operation.name() + " is not known in the version that the agent speaks");
            }
            return (Rpc<Operation, R, Message, Message>) rpc;
        }

        static Spoken of(List<Rpc<?, ?, ?, ?>> rpcs, @Nullable String version, String extensions) {
            return new Spoken(
                    rpcs.stream().collect(Collectors.toMap(Rpc::type, Function.identity())), version, extensions);
        }
    }

    private static final Map<String, Spoken> VERSIONS = Map.of(
            "1.0", Spoken.of(V1Rpcs.ALL, "1.0", "a2a-extensions"),
            "0.3", Spoken.of(V03Rpcs.ALL, null, "x-a2a-extensions"));

    /** For the service loader. */
    public GrpcTransport() {}

    @Override
    public boolean speaks(AgentCard.Interface agent) {
        return agent.protocolBinding().equalsIgnoreCase(AgentCard.Interface.GRPC) && spoken(agent) != null;
    }

    @Override
    public Remote to(AgentCard.Interface agent, Settings settings) {
        return new GrpcRemote(known(agent), agent.tenant(), settings);
    }

    @Override
    public Encoded encoded(AgentCard.Interface agent, Operation operation) {
        Spoken spoken = known(agent);
        Rpc<Operation, ?, Message, Message> rpc = spoken.rpc(operation);
        return new Encoded(
                "/" + rpc.method().getFullMethodName(),
                spoken.version() == null ? Map.of() : Map.of(Service.VERSION, spoken.version()),
                rpc.request(operation, agent.tenant()).toByteArray());
    }

    private static Spoken known(AgentCard.Interface agent) {
        Spoken spoken = spoken(agent);
        if (spoken == null) {
            throw new IllegalArgumentException(
                    agent.protocolVersion() + " (expected: one of " + String.join(", ", VERSIONS.keySet()) + ")");
        }
        return spoken;
    }

    /** Patch numbers take no part. */
    private static @Nullable Spoken spoken(AgentCard.Interface agent) {
        String[] numbers = agent.protocolVersion().split("\\.", -1);
        return numbers.length < 2 ? null : VERSIONS.get(numbers[0] + "." + numbers[1]);
    }
}

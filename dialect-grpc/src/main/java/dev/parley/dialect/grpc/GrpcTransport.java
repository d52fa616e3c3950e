package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.spi.Transport;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Operation;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Speaks to agents over gRPC: A2A 1.0 and 0.3. */
public final class GrpcTransport implements Transport {
    private static final Map<String, Service> VERSIONS =
            Map.of("1.0", V1Rpcs.service(DialectSettings.DEFAULTS), "0.3", V03Rpcs.SERVICE);

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
        Service spoken = known(agent);
        Rpc<Operation, ?, Message, Message> rpc = spoken.rpc(operation);
        String version = spoken.named();
        return new Encoded(
                "/" + rpc.method().getFullMethodName(),
                version == null ? Map.of() : Map.of(Service.VERSION, version),
                rpc.request(operation, agent.tenant()).toByteArray());
    }

    private static Service known(AgentCard.Interface agent) {
        Service spoken = spoken(agent);
        if (spoken == null) {
            throw new IllegalArgumentException(
                    agent.protocolVersion() + " (expected: one of " + String.join(", ", VERSIONS.keySet()) + ")");
        }
        return spoken;
    }

    /** Patch numbers take no part. */
    private static @Nullable Service spoken(AgentCard.Interface agent) {
        String[] numbers = agent.protocolVersion().split("\\.", -1);
        return numbers.length < 2 ? null : VERSIONS.get(numbers[0] + "." + numbers[1]);
    }
}

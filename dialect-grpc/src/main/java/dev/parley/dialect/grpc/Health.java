package dev.parley.dialect.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.parley.dialect.grpc.health.HealthCheckRequest;
import dev.parley.dialect.grpc.health.HealthCheckResponse;
import dev.parley.dialect.grpc.health.HealthCheckResponse.ServingStatus;
import dev.parley.dialect.grpc.health.HealthGrpc;
import io.grpc.Status.Code;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Tells whether the server works. All services do or none does. */
final class Health {
    static final String METHOD = HealthGrpc.getCheckMethod().getFullMethodName();

    private static final Set<String> SERVICES = Set.of(
            "",
            dev.parley.dialect.grpc.v1.A2AServiceGrpc.SERVICE_NAME,
            dev.parley.dialect.grpc.v03.A2AServiceGrpc.SERVICE_NAME);

    private Health() {}

    static GrpcAnswer answer(byte[] message, BooleanSupplier ready) {
        try {
            String service = HealthCheckRequest.parseFrom(message).getService();
            if (!SERVICES.contains(service)) {
                return Problem.plain(Code.NOT_FOUND, "There is no such service");
            }
            var status = ready.getAsBoolean() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
            return new GrpcAnswer.Whole(
                    Map.of(),
                    HealthCheckResponse.newBuilder().setStatus(status).build().toByteArray());
        } catch (InvalidProtocolBufferException e) {
            return Problem.plain(Code.INVALID_ARGUMENT, "Invalid message");
        }
    }
}

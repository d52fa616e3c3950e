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
final class GrpcHealth {
    static final String CHECK = HealthGrpc.getCheckMethod().getFullMethodName();
    static final String WATCH = HealthGrpc.getWatchMethod().getFullMethodName();

    private static final Set<String> SERVICES = Set.of(
            "",
            dev.parley.dialect.grpc.v1.A2AServiceGrpc.SERVICE_NAME,
            dev.parley.dialect.grpc.v03.A2AServiceGrpc.SERVICE_NAME);

    private GrpcHealth() {}

    static GrpcAnswer check(byte[] message, BooleanSupplier ready) {
        try {
            return isKnown(message)
                    ? new GrpcAnswer.Whole(Map.of(), told(now(ready)))
                    : ErrorDetails.plain(Code.NOT_FOUND, "There is no such service");
        } catch (InvalidProtocolBufferException e) {
            return ErrorDetails.plain(Code.INVALID_ARGUMENT, "Invalid message");
        }
    }

    /** Unlike a check, a watch waits for an unknown service. */
    static GrpcAnswer watch(byte[] message, BooleanSupplier ready) {
        try {
            return isKnown(message)
                    ? new GrpcAnswer.UntilStop(told(now(ready)), told(ServingStatus.NOT_SERVING))
                    : new GrpcAnswer.UntilStop(
                            told(ServingStatus.SERVICE_UNKNOWN), told(ServingStatus.SERVICE_UNKNOWN));
        } catch (InvalidProtocolBufferException e) {
            return ErrorDetails.plain(Code.INVALID_ARGUMENT, "Invalid message");
        }
    }

    private static boolean isKnown(byte[] message) throws InvalidProtocolBufferException {
        return SERVICES.contains(HealthCheckRequest.parseFrom(message).getService());
    }

    private static ServingStatus now(BooleanSupplier ready) {
        return ready.getAsBoolean() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    }

    private static byte[] told(ServingStatus status) {
        return HealthCheckResponse.newBuilder().setStatus(status).build().toByteArray();
    }
}

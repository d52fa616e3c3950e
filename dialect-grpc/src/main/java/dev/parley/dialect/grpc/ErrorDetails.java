package dev.parley.dialect.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.util.Durations;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.grpc.rpc.BadRequest;
import dev.parley.dialect.grpc.rpc.ErrorInfo;
import dev.parley.dialect.grpc.rpc.RetryInfo;
import dev.parley.dialect.grpc.rpc.Status;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.InvalidField;
import io.grpc.Status.Code;
import java.util.function.Function;

/**
 * The details of an error on the wire.
 *
 * <p>Source: A2A specification 1.0, section 10.6; google/rpc/error_details.proto.
 */
final class ErrorDetails {
    private static final String DOMAIN = "a2a-protocol.org";

    private ErrorDetails() {}

    /** Returns the part of a failure that the peer receives, after logging the rest. */
    static GrpcAnswer.Failure told(Throwable failure, Function<ErrorKind, Code> codes) {
        return toldBy(failure, problem -> codes.apply(problem.error()));
    }

    /** The same where more than the kind of an error decides about its status. */
    static GrpcAnswer.Failure toldBy(Throwable failure, Function<A2AException, Code> codes) {
        A2AException problem = Dialects.explained(
                failure instanceof InvalidField fault
                        ? A2AException.invalidParams(fault.field(), fault.problem())
                        : failure);
        Code code = codes.apply(problem);
        String message = String.valueOf(problem.getMessage());
        var details = Status.newBuilder()
                .setCode(code.value())
                .setMessage(message)
                .addDetails(Any.pack(ErrorInfo.newBuilder()
                        .setReason(problem.error().name())
                        .setDomain(DOMAIN)
                        .putAllMetadata(problem.metadata())
                        .build()));
        if (!problem.violations().isEmpty()) {
            var violations = BadRequest.newBuilder();
            problem.violations()
                    .forEach(one -> violations
                            .addFieldViolationsBuilder()
                            .setField(one.field())
                            .setDescription(one.description()));
            details.addDetails(Any.pack(violations.build()));
        }
        if (problem.retryAfter() != null) {
            details.addDetails(Any.pack(RetryInfo.newBuilder()
                    .setRetryDelay(Durations.fromMillis(problem.retryAfter().toMillis()))
                    .build()));
        }
        return new GrpcAnswer.Failure(code.value(), message, details.build().toByteArray());
    }

    /** A failure that is one of gRPC and not of A2A. */
    static GrpcAnswer.Failure plain(Code code, String message) {
        return new GrpcAnswer.Failure(code.value(), message, new byte[0]);
    }
}

package dev.parley.dialect;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The details of an error on the wire, in both directions: {@code error.data} of JSON-RPC, {@code error.details} of
 * REST.
 *
 * <p>Source: A2A specification 1.0, sections 9.5 and 11.6; google/rpc/error_details.proto.
 */
final class Problem {
    private static final System.Logger LOG = System.getLogger("dev.parley.dialect");

    private static final String TYPE = "@type";
    private static final String ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
    private static final String BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";
    private static final String RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
    private static final String DOMAIN = "a2a-protocol.org";

    private Problem() {}

    /**
     * Returns what the peer is told about a failure, after this side's log was told the rest.
     *
     * @return {@code failure} itself if it was meant for the peer, else an INTERNAL error that says nothing but a
     *     reference into the log
     */
    static A2AException of(Throwable failure) {
        if (failure instanceof A2AException problem) {
            if (problem.error().httpStatus() >= 500 && problem.getCause() != null) {
                LOG.log(System.Logger.Level.ERROR, problem.getMessage(), problem);
            }
            return problem;
        }
        String reference =
                HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        LOG.log(System.Logger.Level.ERROR, "internal error, reference " + reference, failure);
        return A2AException.of(
                A2AError.INTERNAL, A2AError.INTERNAL.defaultMessage() + " (reference " + reference + ")");
    }

    static List<Map<String, Object>> details(A2AException problem) {
        var details = new ArrayList<Map<String, Object>>();
        var info = new LinkedHashMap<String, Object>();
        info.put(TYPE, ERROR_INFO);
        info.put("reason", problem.error().name());
        info.put("domain", DOMAIN);
        if (!problem.metadata().isEmpty()) {
            info.put("metadata", problem.metadata());
        }
        details.add(info);
        if (!problem.violations().isEmpty()) {
            details.add(Map.of(
                    TYPE,
                    BAD_REQUEST,
                    "fieldViolations",
                    problem.violations().stream()
                            .map(one -> Map.of("field", one.field(), "description", one.description()))
                            .toList()));
        }
        Duration retryAfter = problem.retryAfter();
        if (retryAfter != null) {
            details.add(Map.of(
                    TYPE,
                    RETRY_INFO,
                    "retryDelay",
                    new BigDecimal(BigInteger.valueOf(retryAfter.toMillis()), 3)
                                    .stripTrailingZeros()
                                    .toPlainString() + "s"));
        }
        return details;
    }
}

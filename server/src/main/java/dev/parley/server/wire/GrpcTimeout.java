package dev.parley.server.wire;

import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Timeout of a call. Source: gRPC over HTTP/2, "Timeout". */
public final class GrpcTimeout {
    private static final Pattern FORM = Pattern.compile("(\\d{1,8})([HMSmun])");

    private GrpcTimeout() {}

    public static Duration parse(String text) {
        Matcher timeout = FORM.matcher(text);
        if (!timeout.matches()) {
            throw A2AException.invalidParams("grpc-timeout", "expected: up to 8 digits and one of H, M, S, m, u, n");
        }
        long amount = Long.parseLong(timeout.group(1));
        return switch (timeout.group(2).charAt(0)) {
            case 'H' -> Duration.ofHours(amount);
            case 'M' -> Duration.ofMinutes(amount);
            case 'S' -> Duration.ofSeconds(amount);
            case 'm' -> Duration.ofMillis(amount);
            case 'u' -> Duration.ofNanos(amount * 1000);
            default -> Duration.ofNanos(amount);
        };
    }
}

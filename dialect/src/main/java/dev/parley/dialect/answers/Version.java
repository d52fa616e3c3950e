package dev.parley.dialect.answers;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Excerpt;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which protocol version a request asks for. Only major and minor count.
 *
 * <p>Source: A2A specification 1.0, section 3.6.
 */
public enum Version {
    /** It does not say, which by the specification means 0.3. */
    UNSAID,
    V1,
    /** 0.3, or 0.2 that it contains. */
    V03,
    V01;

    public static final String SUPPORTED = "1.0";

    /** The versions of A2A, as settings and cards name them. */
    private static final List<String> ALL = List.of(SUPPORTED, "0.3", "0.1");

    /**
     * Returns the version that a request asks for by header, or else by query parameter.
     *
     * @param served the dialects of the agent, for the error
     * @throws A2AException VERSION_NOT_SUPPORTED if it is not one that ever was
     */
    public static Version of(WireRequest request, Set<String> served) {
        String asked = request.header(Headers.VERSION);
        if (asked == null || asked.isBlank()) {
            asked = parameter(request.query());
        }
        if (asked == null || asked.isBlank()) {
            return UNSAID;
        }
        if (asked.equals(SUPPORTED)) {
            return V1;
        }
        // Several values, from repeated headers: the first that is known.
        for (String one : asked.split(",", -1)) {
            Version version = known(one.trim());
            if (version != null) {
                return version;
            }
        }
        throw notSupported(asked, served);
    }

    public boolean isOlder() {
        return this == V03 || this == V01;
    }

    /** The error for a version that an agent is not served in. {@code served} are its dialects. */
    public static A2AException notSupported(String asked, Set<String> served) {
        String versions =
                String.join(", ", ALL.stream().filter(served::contains).toList());
        return A2AException.of(
                A2AError.VERSION_NOT_SUPPORTED,
                A2AError.VERSION_NOT_SUPPORTED.defaultMessage() + ": " + Excerpt.of(asked, 20) + " (expected: "
                        + (versions.isEmpty() ? "none, this agent is not served in A2A" : versions) + ")",
                Map.of("supportedVersions", versions.replace(" ", "")));
    }

    /** Returns a version by its number; null if it is not one that ever was. */
    public static @Nullable Version known(String version) {
        String[] numbers = version.split("\\.", -1);
        if (numbers.length < 2 || numbers.length > 3) {
            return null;
        }
        return switch (numbers[0] + "." + numbers[1]) {
            case "1.0" -> V1;
            case "0.3", "0.2" -> V03;
            case "0.1" -> V01;
            default -> null;
        };
    }

    private static @Nullable String parameter(Map<String, List<String>> query) {
        for (var parameter : query.entrySet()) {
            if (parameter.getKey().equalsIgnoreCase(Headers.VERSION)
                    && !parameter.getValue().isEmpty()) {
                return parameter.getValue().getFirst();
            }
        }
        return null;
    }
}

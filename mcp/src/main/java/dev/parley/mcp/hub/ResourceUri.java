package dev.parley.mcp.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * URI of a resource.
 *
 * @param taskId null for the card of the agent
 * @param artifactId null for the card of the agent
 */
record ResourceUri(
        String agent, @Nullable String taskId, @Nullable String artifactId) {
    static final String CARDS = "parley://agents/{agent}/card";
    static final String ARTIFACTS = "parley://agents/{agent}/tasks/{task}/artifacts/{artifact}";

    private static final Pattern CARD = Pattern.compile("parley://agents/([^/]+)/card");
    private static final Pattern ARTIFACT = Pattern.compile("parley://agents/([^/]+)/tasks/([^/]+)/artifacts/([^/]+)");

    static String card(String agent) {
        return "parley://agents/" + encoded(agent) + "/card";
    }

    static String artifact(String agent, String taskId, String artifactId) {
        return "parley://agents/" + encoded(agent) + "/tasks/" + encoded(taskId) + "/artifacts/" + encoded(artifactId);
    }

    /** Reads a URI; empty for others. */
    static Optional<ResourceUri> of(String uri) {
        try {
            Matcher card = CARD.matcher(uri);
            if (card.matches()) {
                return Optional.of(new ResourceUri(decoded(card.group(1)), null, null));
            }
            Matcher artifact = ARTIFACT.matcher(uri);
            return artifact.matches()
                    ? Optional.of(new ResourceUri(
                            decoded(artifact.group(1)), decoded(artifact.group(2)), decoded(artifact.group(3))))
                    : Optional.empty();
        } catch (IllegalArgumentException malformed) {
            return Optional.empty();
        }
    }

    private static String encoded(String segment) {
        return URLEncoder.encode(segment, UTF_8).replace("+", "%20");
    }

    private static String decoded(String segment) {
        return URLDecoder.decode(segment.replace("+", "%2B"), UTF_8);
    }
}

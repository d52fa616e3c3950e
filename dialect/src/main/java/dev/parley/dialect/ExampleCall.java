package dev.parley.dialect;

import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call of an agent with a text, for people who try an agent by hand.
 *
 * @param version value of the header {@code A2A-Version}; null for none
 * @param listsTasks whether the dialect has an operation that lists tasks
 */
public record ExampleCall(String url, @Nullable String version, String body, boolean listsTasks) {
    /** Returns a call in the newest of the dialects; empty if only dialects of other modules are among them. */
    public static Optional<ExampleCall> of(String agentUrl, Collection<String> dialects) {
        if (dialects.contains("1.0")) {
            String message =
                    "{\"message\":{\"messageId\":\"1\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello\"}]}}";
            return Optional.of(new ExampleCall(agentUrl + "/message:send", "1.0", message, true));
        }
        if (dialects.contains("0.3")) {
            String message =
                    "{\"messageId\":\"1\",\"role\":\"user\",\"kind\":\"message\",\"parts\":[{\"kind\":\"text\",\"text\":\"hello\"}]}";
            return Optional.of(rpc(agentUrl, "message/send", message, true));
        }
        String message = "{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"hello\"}]}";
        if (dialects.contains("0.1")) {
            return Optional.of(rpc(agentUrl, "tasks/send", message, false));
        }
        if (dialects.contains("kernel")) {
            return Optional.of(rpc(agentUrl + "/kernel", "tasks/send", message, false));
        }
        return dialects.contains("agentvault")
                ? Optional.of(rpc(
                        agentUrl + "/agentvault",
                        "tasks/send",
                        message.replace("\"text\":\"", "\"content\":\""),
                        false))
                : Optional.empty();
    }

    private static ExampleCall rpc(String url, String method, String message, boolean listsTasks) {
        String body =
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":{\"message\":" + message + "}}";
        return new ExampleCall(url, null, body, listsTasks);
    }

    /** The command of {@code curl} that makes the call. */
    public String command() {
        return "curl -s " + url + " -H 'Content-Type: application/json'"
                + (version == null ? "" : " -H 'A2A-Version: " + version + "'") + " -d '" + body + "'";
    }
}

package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.protocol.support.Excerpt;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.regex.Pattern;

/** An answer over HTTP that is not a message of the protocol, as a text for people. */
record UnusableAnswer(HttpResponse<?> answer, byte[] body) {
    /** Characters of an answer that an error shows. */
    private static final int SHOWN = 200;

    /** As much of a body as can be shown. */
    static final int MOST_BYTES = SHOWN * 20;

    private static final Pattern INVISIBLE = Pattern.compile("[\\s\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}]+");

    /** The cause of failures by a status. */
    private static final class StatusFailure extends IOException {
        private static final long serialVersionUID = 1;

        final int status;

        StatusFailure(int status) {
            super("status " + status);
            this.status = status;
        }
    }

    /** The failure of its request. */
    ServerFailure failure() {
        String text = "the server answers with " + text();
        int status = answer.statusCode();
        return status == 401 || status == 403
                ? new ServerFailure(Kind.UNAUTHORIZED, text)
                : new ServerFailure(Kind.INVALID_RESPONSE, text, new StatusFailure(status));
    }

    /** Whether a failure is that of a status which says that the client is wrong. */
    static boolean isOfClient(ServerFailure failure) {
        return failure.getCause() instanceof StatusFailure cause && cause.status >= 400 && cause.status < 500;
    }

    /** Whether a failure is that of a status which another attempt will not change. */
    static boolean isFinal(ServerFailure failure) {
        return failure.getCause() instanceof StatusFailure cause && cause.status < 500 && cause.status != 429;
    }

    /** Status, media type, target and first visible characters. */
    String text() {
        var words = new StringBuilder("status ").append(answer.statusCode());
        answer.headers()
                .firstValue("Content-Type")
                .ifPresent(type -> words.append(", ").append(visible(type)));
        if (answer.statusCode() / 100 == 3) {
            words.append(", to \"")
                    .append(visible(answer.headers().firstValue("Location").orElse("")))
                    .append("\" (expected: 307 or 308 to an address of the same origin)");
        }
        String text = visible(new String(body, 0, Math.min(body.length, MOST_BYTES), UTF_8));
        return words.append(text.isEmpty() ? ", without a body" : ": " + text).toString();
    }

    /** The beginning of a text, without invisible characters. */
    static String visible(String text) {
        return Excerpt.of(INVISIBLE.matcher(text).replaceAll(" ").strip(), SHOWN);
    }
}

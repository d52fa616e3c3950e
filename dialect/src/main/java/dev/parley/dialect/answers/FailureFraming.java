package dev.parley.dialect.answers;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Form of the error answer to one request, as far as the request has been read. For one thread. */
public final class FailureFraming {
    private static final int UNSUPPORTED_MEDIA_TYPE = 415;

    private ResponseFraming form = ResponseFraming.RPC_WITHOUT_ID;
    private Function<A2AException, WireAnswer> error = form::error;

    /** The form of the answer. */
    public ResponseFraming form() {
        return form;
    }

    /** Answers in a form, failures included, and returns it. */
    public ResponseFraming use(ResponseFraming form) {
        this.form = form;
        error = form::error;
        return form;
    }

    /** Answers a failure by a stream that holds nothing else. */
    public void useInStream(ResponseFraming form) {
        error = form::errorInStream;
    }

    public void use(Function<A2AException, WireAnswer> error) {
        this.error = error;
    }

    public WireAnswer failure(Throwable failure) {
        return error.apply(Problem.of(failure));
    }

    /**
     * Refuses a body of another type than JSON. By the specification this error is 400 over REST and, like any other, 200 over
     * JSON-RPC. It says so about content that the agent does not understand; here it is HTTP itself that was used wrongly, and
     * 415 is the status of HTTP for that.
     */
    public void requireJson(WireRequest request) {
        String contentType = request.header("Content-Type");
        if (!isJson(contentType)) {
            ResponseFraming refused = form;
            error = problem -> refused.error(problem, UNSUPPORTED_MEDIA_TYPE);
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                    "Content-Type: " + contentType + " (expected: " + Headers.JSON + " or " + Headers.A2A_JSON
                            + ", in UTF-8)");
        }
    }

    private static boolean isJson(@Nullable String contentType) {
        if (contentType == null || contentType.equals(Headers.JSON)) {
            return true;
        }
        String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
        for (int i = 1; i < parts.length; i++) {
            String parameter = parts[i].replace("\"", "").trim();
            if (parameter.startsWith("charset=") && !parameter.equals("charset=utf-8")) {
                return false;
            }
        }
        return parts[0].trim().equals(Headers.JSON) || parts[0].trim().equals(Headers.A2A_JSON);
    }
}

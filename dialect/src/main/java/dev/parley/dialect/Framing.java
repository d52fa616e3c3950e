package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import java.util.function.Function;

/** How a failure of one request is answered, as far as the request has been read. For one thread. */
final class Framing {
    private Function<A2AException, WireAnswer> error = Form.RPC_WITHOUT_ID::error;

    /** Answers a failure in a form, and returns it. */
    Form use(Form form) {
        error = form::error;
        return form;
    }

    /** Answers a failure by a stream that holds nothing else. */
    void useInStream(Form form) {
        error = form::errorInStream;
    }

    void use(Function<A2AException, WireAnswer> error) {
        this.error = error;
    }

    WireAnswer failure(Throwable failure) {
        return error.apply(Problem.of(failure));
    }
}

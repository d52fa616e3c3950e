package dev.parley.dialect.calls;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;

/** One dialect at an address of its own below an agent's. Requests are seen from there. */
public interface Edge {
    /** Name of the dialect, which an agent is served in or not. */
    String dialect();

    /** Suffix of an agent's address. */
    String suffix();

    /** True for a GET that needs no credentials, as far as cards need none. */
    boolean isCard(WireRequest request);

    /** The answer to a request that was refused before it was read, whatever the agent speaks. */
    WireAnswer.Whole refusal(WireRequest request, A2AException problem);

    /** Answers a request, or throws. */
    WireAnswer answer(ServedRequest request);
}

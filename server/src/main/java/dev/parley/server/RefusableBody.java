package dev.parley.server;

/** Body of a request that may be refused: the refusal repeats its id. */
interface RefusableBody extends RequestHandler.Body {
    /** Returns the body if it is small, arrives soon, and there is memory for it; otherwise no bytes. */
    byte[] ofRefused();
}

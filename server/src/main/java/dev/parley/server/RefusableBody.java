package dev.parley.server;

/** A body of which a refusal needs only the id. */
interface RefusableBody extends RequestHandler.Body {
    /** Returns it if it is small and has come, or comes in a moment, and there is memory for it; else nothing. */
    byte[] ofRefused();
}

package dev.parley.protocol.extension;

/** An answer that is a document over REST, and not JSON. */
public interface DocumentAnswer {
    WireDocument document();
}

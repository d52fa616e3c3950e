package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;

/** Judges a document before it is published. Called outside of transactions; may block, within a bound. */
public interface EntryCheck {
    /**
     * The entry with what the check found, such as a verdict on its signatures.
     *
     * @throws dev.parley.protocol.A2AException to refuse the document
     */
    Entry checked(Entry entry, byte[] document, CallContext publisher);
}

package dev.parley.engine.spi;

import dev.parley.protocol.A2AException;

/**
 * Space on disk that a group has for its data: its quota, less the bytes that are written, and those that are reserved because they are
 * about to be. Safe for any thread.
 */
public interface Space {
    /** Space without a limit. */
    Space UNLIMITED = new Space() {
        @Override
        public boolean isLimited() {
            return false;
        }

        @Override
        public void take(long bytes) {}

        @Override
        public void force(long bytes) {}

        @Override
        public void giveBack(long bytes) {}
    };

    /** Whether there is a limit, so that sizes have to be computed. */
    boolean isLimited();

    /**
     * Reserves bytes.
     *
     * @throws A2AException QUOTA_EXCEEDED if they do not fit; nothing is reserved then
     */
    void take(long bytes);

    /** Reserves bytes also if they do not fit. */
    void force(long bytes);

    /** Ends the reservation of bytes: they are written, and counted as such, or will not be written. */
    void giveBack(long bytes);
}

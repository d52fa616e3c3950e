package dev.parley.hub;

import java.util.ArrayList;
import java.util.List;

/**
 * Open parts of a hub, which close in the reverse order of that in which they stand: each of them, also if another one fails to. Safe for any
 * thread.
 */
final class OpenParts implements AutoCloseable {
    private final List<AutoCloseable> parts = new ArrayList<>();

    /** Adds a part that closes before all others, and returns it. */
    synchronized <T extends AutoCloseable> T add(T part) {
        parts.add(part);
        return part;
    }

    /** Adds a part that closes right after an open one, which needs it until then, and returns it. */
    synchronized <T extends AutoCloseable> T addBelow(AutoCloseable above, T part) {
        parts.add(parts.indexOf(above), part);
        return part;
    }

    /** Closes the parts that are not closed yet. Throws the first failure, with the others in it. */
    @Override
    public synchronized void close() {
        if (parts.isEmpty()) {
            return;
        }
        OpenParts others = this;
        try (others) {
            parts.removeLast().close();
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}

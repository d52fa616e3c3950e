package dev.parley.store.spi;

/**
 * Numbers of the entries of the audit. A hub that works at the same time as others has a chain of its own, whose numbers begin above
 * those of all chains before, so that a number names one entry, and its chain. The first chain is that of hubs that work one after the
 * other.
 */
public final class AuditNumbers {
    /** Bits of the number within a chain: 270 billion entries. A number has more than 53 bits after 32,768 starts of hubs. */
    public static final int BITS = 38;

    private AuditNumbers() {}

    /** The number before the first one of a chain. */
    public static long beginning(long chain) {
        return chain << BITS;
    }

    /** The chain of an entry; 0 for the first one. */
    public static long chain(long number) {
        return number >> BITS;
    }
}

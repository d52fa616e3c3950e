package dev.parley.store.tasks;

import org.jspecify.annotations.Nullable;

/**
 * Which keys, of messages or of callers' names for tasks, may have been taken before: a Bloom filter of yesterday's keys and one of
 * today's. Nearly every key is new, and most new keys are recognized here without a look-up in the database.
 *
 * <p>Never says of a known key that it is new; while not all that the database holds has been added, it calls none
 * new. With more than some ten million keys a day it calls ever fewer new, and costs no more memory. Safe for any thread.
 */
final class SeenKeys {
    /** The day of keys that are kept as long as their tasks. */
    static final long ALWAYS = 0;

    /** 4 MiB a day: of a million keys one new one in 5,000 is looked up, of four million one in 40. */
    private static final int BITS = 1 << 25;

    private static final int PROBES = 4;

    private long newestDay = Long.MIN_VALUE;
    private long @Nullable [] newest;
    private long @Nullable [] dayBefore;
    private boolean complete;

    /** Adds a key of {@code day}; those of the day before the newest but one are forgotten. */
    synchronized void add(long day, long lane, String key) {
        if (day > newestDay) {
            dayBefore = day - 1 == newestDay ? newest : null;
            newest = null;
            newestDay = day;
        }
        long[] bits;
        if (day == newestDay) {
            bits = newest == null ? new long[BITS / Long.SIZE] : newest;
            newest = bits;
        } else {
            bits = dayBefore == null ? new long[BITS / Long.SIZE] : dayBefore;
            dayBefore = bits;
        }
        long hash = hash(lane, key);
        for (int probe = 0; probe < PROBES; probe++) {
            int bit = bit(hash, probe);
            bits[bit / Long.SIZE] |= 1L << bit;
        }
    }

    /** Says that all that the database held at the start has been added. */
    synchronized void completed() {
        complete = true;
    }

    /** True unless the key is certainly new. */
    synchronized boolean mayHave(long lane, String key) {
        long hash = hash(lane, key);
        return !complete || isIn(newest, hash) || isIn(dayBefore, hash);
    }

    private static boolean isIn(long @Nullable [] bits, long hash) {
        if (bits == null) {
            return false;
        }
        for (int probe = 0; probe < PROBES; probe++) {
            int bit = bit(hash, probe);
            if ((bits[bit / Long.SIZE] & 1L << bit) == 0) {
                return false;
            }
        }
        return true;
    }

    /** Keys that are made to collide cost their sender look-ups, no more. */
    private static long hash(long lane, String key) {
        long mixed = (key.hashCode() + lane * 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
        return (mixed ^ mixed >>> 32) * 0x94d049bb133111ebL;
    }

    private static int bit(long hash, int probe) {
        return (int) (hash >>> 32) + probe * ((int) hash | 1) & BITS - 1;
    }
}

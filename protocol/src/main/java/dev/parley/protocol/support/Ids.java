package dev.parley.protocol.support;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Ids that sort by the time they were made, so that new rows go to the end of an index, and that cannot be guessed. */
public final class Ids {
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final int RANDOM_BYTES = 10;
    private static final ReentrantLock LOCK = new ReentrantLock();
    /** Random bytes in stock: the source has its costs by call. Read under the lock, and each of them once. */
    private static final byte[] STOCK = new byte[128 * RANDOM_BYTES];

    private static int used = STOCK.length;

    private Ids() {}

    /** A UUID of version 7. Source: RFC 9562, section 5.7. */
    public static String next(Instant now) {
        ByteBuffer random = random();
        long high = now.toEpochMilli() << 16 | 0x7000 | random.getShort() & 0x0fff;
        long low = random.getLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
        return new UUID(high, low).toString();
    }

    private static ByteBuffer random() {
        byte[] random = new byte[RANDOM_BYTES];
        LOCK.lock();
        try {
            if (used == STOCK.length) {
                RANDOM.nextBytes(STOCK);
                used = 0;
            }
            System.arraycopy(STOCK, used, random, 0, RANDOM_BYTES);
            Arrays.fill(STOCK, used, used + RANDOM_BYTES, (byte) 0);
            used += RANDOM_BYTES;
        } finally {
            LOCK.unlock();
        }
        return ByteBuffer.wrap(random);
    }

    /** Returns the beginning of all ids made at or after a time. */
    public static String earliest(Instant time) {
        return new UUID(Math.max(0, time.toEpochMilli()) << 16, 0).toString();
    }

    /** Returns the creation time of an id in milliseconds; null for ids of other origin. */
    public static @Nullable Instant madeAt(String id) {
        try {
            var uuid = UUID.fromString(id);
            return uuid.version() == 7 ? Instant.ofEpochMilli(uuid.getMostSignificantBits() >>> 16) : null;
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }
}

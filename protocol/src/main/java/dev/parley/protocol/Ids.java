package dev.parley.protocol;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Ids that sort by the time they were made, so that new rows go to the end of an index, and that cannot be guessed. */
public final class Ids {
    private static final SecureRandom RANDOM = new SecureRandom();

    private Ids() {}

    /** A UUID of version 7. Source: RFC 9562, section 5.7. */
    public static String next(Instant now) {
        byte[] random = new byte[10];
        RANDOM.nextBytes(random);
        ByteBuffer bits = ByteBuffer.wrap(random);
        long high = now.toEpochMilli() << 16 | 0x7000 | bits.getShort() & 0x0fff;
        long low = bits.getLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
        return new UUID(high, low).toString();
    }

    /** Returns the beginning of all ids made at or after a time. */
    public static String earliest(Instant time) {
        return new UUID(Math.max(0, time.toEpochMilli()) << 16, 0).toString();
    }

    /** When an id was made, in milliseconds; null if it is none of these. */
    public static @Nullable Instant madeAt(String id) {
        try {
            var uuid = UUID.fromString(id);
            return uuid.version() == 7 ? Instant.ofEpochMilli(uuid.getMostSignificantBits() >>> 16) : null;
        } catch (IllegalArgumentException foreign) {
            return null;
        }
    }
}

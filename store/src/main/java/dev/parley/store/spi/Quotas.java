package dev.parley.store.spi;

import dev.parley.protocol.settings.SettingType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits of the bytes that groups keep in a database.
 *
 * @param general for groups without one of their own; null for none
 * @param groups for single groups; 0 for none
 */
public record Quotas(@Nullable Long general, Map<String, Long> groups) {
    private static final String EXPECTED = " (expected: SIZE or GROUP=SIZE, such as 10GB or acme=500MB)";

    public static final Quotas NONE = new Quotas(null, Map.of());

    public Quotas {
        groups = Map.copyOf(groups);
    }

    /**
     * Reads {@code SIZE} for all groups, and {@code GROUP=SIZE} for one.
     *
     * @throws IllegalArgumentException if one is neither, or there are two of a group
     */
    public static Quotas of(List<String> entries) {
        Long general = null;
        var groups = new HashMap<String, Long>();
        for (String entry : entries) {
            int sign = entry.lastIndexOf('=');
            if (sign == 0) {
                throw new IllegalArgumentException("group-quota \"" + entry + "\": no group" + EXPECTED);
            }
            long bytes = size(entry, entry.substring(sign + 1));
            boolean isSecond;
            if (sign < 0) {
                isSecond = general != null;
                general = bytes;
            } else {
                isSecond = groups.put(entry.substring(0, sign), bytes) != null;
            }
            if (isSecond) {
                throw new IllegalArgumentException(
                        "group-quota \"" + entry + "\": the second one (expected: one SIZE, and one for each GROUP)");
            }
        }
        return new Quotas(general == null || general == 0 ? null : general, groups);
    }

    private static long size(String entry, String text) {
        try {
            return SettingType.SIZE.parser().apply(text);
        } catch (IllegalArgumentException | ArithmeticException noSize) {
            throw new IllegalArgumentException("group-quota \"" + entry + "\": no size" + EXPECTED, noSize);
        }
    }

    /** The limit of a group; null for none. */
    public @Nullable Long of(String group) {
        Long own = groups.get(group);
        return own == null ? general : own == 0 ? (Long) null : own;
    }
}

package dev.parley.trust;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Limits of calls of each principal, of each group, and of each agent. */
public record LimitSettings(Limit principal, Limit group, Limit agent) {
    /** Defaults: no caller can take all streams of a hub. */
    public static final LimitSettings DEFAULTS = new LimitSettings(new Limit(0, 0, 1_000, 0), Limit.NONE, Limit.NONE);

    private static final Set<String> MEMBERS = Set.of("principal", "group", "agent");

    static LimitSettings of(@Nullable Object value) {
        if (value == null) {
            return DEFAULTS;
        }
        if (!(value instanceof Map<?, ?> members)) {
            throw new IllegalArgumentException("limits (expected: an object)");
        }
        PolicyFile.requireMembers("limits", members, MEMBERS);
        return new LimitSettings(
                Limit.of("limits.principal", members.get("principal"), DEFAULTS.principal()),
                Limit.of("limits.group", members.get("group"), DEFAULTS.group()),
                Limit.of("limits.agent", members.get("agent"), DEFAULTS.agent()));
    }

    /**
     * Limits of one account; 0 for none.
     *
     * @param perSecond calls, on average
     * @param burst calls that may come together
     * @param concurrent calls that are not answered yet, open streams among them
     * @param perDay calls, from midnight to midnight UTC
     */
    public record Limit(double perSecond, long burst, long concurrent, long perDay) {
        public static final Limit NONE = new Limit(0, 0, 0, 0);

        private static final Set<String> MEMBERS = Set.of("perSecond", "burst", "concurrent", "perDay");

        static Limit of(String where, @Nullable Object value, Limit otherwise) {
            if (value == null) {
                return otherwise;
            }
            if (!(value instanceof Map<?, ?> members)) {
                throw new IllegalArgumentException(where + " (expected: an object)");
            }
            PolicyFile.requireMembers(where, members, MEMBERS);
            double perSecond = number(where + ".perSecond", members.get("perSecond"), otherwise.perSecond());
            double burst = number(where + ".burst", members.get("burst"), Math.ceil(perSecond));
            if (perSecond > 0 && burst < 1) {
                throw new IllegalArgumentException(where + ".burst: " + burst + " (expected: a number >= 1)");
            }
            return new Limit(
                    perSecond,
                    (long) burst,
                    (long) number(where + ".concurrent", members.get("concurrent"), (double) otherwise.concurrent()),
                    (long) number(where + ".perDay", members.get("perDay"), (double) otherwise.perDay()));
        }

        private static double number(String where, @Nullable Object value, double otherwise) {
            if (value == null) {
                return otherwise;
            }
            if (value instanceof Number number && number.doubleValue() >= 0 && number.doubleValue() <= 1e12) {
                return number.doubleValue();
            }
            throw new IllegalArgumentException(where + ": " + value + " (expected: a number >= 0; 0 for none)");
        }
    }
}

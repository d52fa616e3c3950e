package dev.parley.protocol.support;

import java.util.HashMap;
import java.util.Map;

/**
 * Places, or bytes, that groups share. A group may have a multiple of the places that it leaves free, so that it can never take those of all others,
 * and a number of places at most. Not safe for concurrent use.
 */
public final class FairShare {
    private static final int SEVEN_EIGHTHS = 7;

    private final long places;
    private final int times;
    private final long most;
    private final Map<String, Long> byGroup = new HashMap<>();
    private long taken;

    /**
     * @param times how many times as many places as it leaves free a group may have
     * @param most places of a group
     */
    public FairShare(long places, int times, long most) {
        this.places = places;
        this.times = times;
        this.most = most;
    }

    /**
     * Places of which a group may have 7/8, the next group 7/8 of the rest, and so on. Fewer than eight places are not shared: one group
     * may take them all.
     */
    public static FairShare sevenEighths(long places) {
        return new FairShare(places, SEVEN_EIGHTHS, places);
    }

    /** True if the group may take a place now. */
    public boolean hasRoom(String group) {
        return hasRoom(group, 1);
    }

    /** True if the group may take so many places now. */
    public boolean hasRoom(String group, long more) {
        long before = byGroup.getOrDefault(group, 0L) + more - 1; // what it has when it takes the last one
        return before < most && before < times * (free() - more + 1);
    }

    /** Takes a place, whether the group may have it or not. */
    public void take(String group) {
        take(group, 1);
    }

    /** Takes so many places, whether the group may have them or not. */
    public void take(String group, long more) {
        byGroup.merge(group, more, Long::sum);
        taken += more;
    }

    /** Gives a place back. */
    public void giveBack(String group) {
        giveBack(group, 1);
    }

    /** Gives so many places back that the group has. */
    public void giveBack(String group, long fewer) {
        byGroup.computeIfPresent(group, (same, count) -> count == fewer ? null : Long.valueOf(count - fewer));
        taken -= fewer;
    }

    /** Places that all groups have. */
    public long taken() {
        return taken;
    }

    /** Places that no group has; below 0 if more were taken than there are. */
    public long free() {
        return places - taken;
    }
}

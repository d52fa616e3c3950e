package dev.parley.protocol.support;

import java.util.HashMap;
import java.util.Map;

/**
 * Places that groups share. A group may have a multiple of the places that it leaves free, so that it can never take those of all others,
 * and a number of places at most. Not safe for concurrent use.
 */
public final class FairShare {
    private static final int SEVEN_EIGHTHS = 7;

    private final int places;
    private final int times;
    private final int most;
    private final Map<String, Integer> byGroup = new HashMap<>();
    private int taken;

    /**
     * @param times how many times as many places as it leaves free a group may have
     * @param most places of a group
     */
    public FairShare(int places, int times, int most) {
        this.places = places;
        this.times = times;
        this.most = most;
    }

    /**
     * Places of which a group may have 7/8, the next group 7/8 of the rest, and so on. Fewer than eight places are not shared: one group
     * may take them all.
     */
    public static FairShare sevenEighths(int places) {
        return new FairShare(places, SEVEN_EIGHTHS, places);
    }

    /** True if the group may take a place now. */
    public boolean hasRoom(String group) {
        int own = byGroup.getOrDefault(group, 0);
        return own < most && own < (long) times * free();
    }

    /** Takes a place, whether the group may have it or not. */
    public void take(String group) {
        byGroup.merge(group, 1, Integer::sum);
        taken++;
    }

    /** Gives a place back. */
    public void giveBack(String group) {
        byGroup.computeIfPresent(group, (same, count) -> count == 1 ? null : count - 1);
        taken--;
    }

    /** Places that all groups have. */
    public int taken() {
        return taken;
    }

    /** Places that no group has; below 0 if more were taken than there are. */
    public int free() {
        return places - taken;
    }
}

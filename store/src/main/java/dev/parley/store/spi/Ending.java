package dev.parley.store.spi;

/**
 * Reason for which a program may no longer use its open database: its memory of the database may be wrong. After a restart the program
 * reads everything again and may use it.
 *
 * @param words message for operators
 * @param lostGroups transactions of this program that had been acknowledged and are missing in the database; 0 if none is
 */
public record Ending(Cause cause, String words, long lostGroups) {
    public enum Cause {
        /** Another hub has taken the database over. */
        TAKEN_OVER,
        /** The hub could not see the database for so long that another one may work with it. */
        UNSEEN,
        /** The database is an earlier state of itself: a standby that lacked the last transactions is the primary now, or a backup was restored. */
        WENT_BACK
    }
}

package dev.parley.store.spi;

/**
 * Why a program may not use a database any more that it has open: what it remembers of the database may be wrong. Only a new start of
 * the program, which reads everything again, may use it.
 *
 * @param words for operators
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

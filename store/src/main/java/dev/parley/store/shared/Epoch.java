package dev.parley.store.shared;

/** Kinds of rows of which hubs have copies in memory. */
public enum Epoch {
    /** Groups, users and API keys. */
    DIRECTORY(0),
    /** Sign-ins and sessions of browsers that have ended. */
    SIGN_INS(1);

    private final int number;

    Epoch(int number) {
        this.number = number;
    }

    /** The number of the kind in the database: the next one, without a gap, for a new kind. */
    int number() {
        return number;
    }
}

package dev.parley.store.database;

import java.sql.SQLException;

/** A unit of work for the writer thread. Its outcome is reported in the order of the works, usually on another thread. */
public interface Work {
    /** Writes it. Called again if its group failed: with others of it, or in a transaction of its own. */
    void write(DatabaseSession session) throws SQLException;

    /** It is on disk. Must not block. */
    void committed();

    /** It is not on disk. Must not block. */
    void failed(Exception cause);

    /** Returns how much it has written, in pages of the write-ahead log: a checkpoint follows after many of them. */
    default int rows() {
        return 1;
    }

    /** The group of the work; works of a group are written in their order. Empty for none. */
    default String group() {
        return "";
    }

    /** Part of the hub that keeps these data, for operators: the name of its module. */
    default String part() {
        return Refusals.part(getClass());
    }

    /** True if no caller waits for it: unless another work comes first, it is written some milliseconds later, with its like. */
    default boolean isPatient() {
        return false;
    }

    /** True if it is written after all works, also of other groups, that were submitted before it. */
    default boolean isBarrier() {
        return false;
    }
}

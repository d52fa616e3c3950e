package dev.parley.server.limits;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.FairShare;
import java.time.Duration;

/**
 * Memory limits of the bodies of running requests: for each one, for those of a group, and for all together. A group may
 * take 7/8 of the memory that other groups do not use. Safe for any thread.
 *
 * <p>The first bytes of each connection are not counted; the number of connections bounds them.
 */
public final class BodyBudget {
    /** Bytes of request bodies that each connection may hold without taking from the budget. */
    public static final long FREE = 64 * 1024;

    private final long largest;
    private final FairShare memory;

    /** Creates a budget of bytes for one body and for all. */
    public BodyBudget(long largest, long all) {
        this.largest = largest;
        this.memory = FairShare.sevenEighths(Math.max(all, 2 * largest));
    }

    /** Returns a budget of a quarter of the heap: a body is held twice while it is parsed, and there is other work too. */
    public static BodyBudget of(long largest) {
        return new BodyBudget(largest, Runtime.getRuntime().maxMemory() / 4);
    }

    /** Limit of one body, in bytes. */
    public long largest() {
        return largest;
    }

    /** Takes bytes for a group from the remaining budget; returns false, and takes none, if they exceed the share of the group. */
    public synchronized boolean take(String group, long more) {
        if (!memory.hasRoom(group, more)) {
            return false;
        }
        memory.take(group, more);
        return true;
    }

    /** The bytes that are taken. */
    public synchronized long taken() {
        return memory.taken();
    }

    /** Returns bytes of a group. */
    public synchronized void giveBack(String group, long fewer) {
        memory.giveBack(group, fewer);
    }

    /** Bytes of one request, of the group that it had when it took the first. Belongs to one thread. */
    public final class Taken {
        private String group = "";
        private long bytes;

        /** The bytes that are taken. */
        public long bytes() {
            return bytes;
        }

        /**
         * Takes more bytes.
         *
         * @throws A2AException UNAVAILABLE if the group may not have as many
         */
        public void take(String caller, long more) {
            if (bytes == 0) {
                group = caller;
            }
            if (!BodyBudget.this.take(group, more)) {
                throw A2AException.unavailable("Too many large requests", Duration.ofSeconds(1));
            }
            bytes += more;
        }

        /** Returns all of them. */
        public void giveBack() {
            BodyBudget.this.giveBack(group, bytes);
            bytes = 0;
        }
    }
}

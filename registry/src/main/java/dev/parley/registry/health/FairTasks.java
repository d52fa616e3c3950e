package dev.parley.registry.health;

import dev.parley.protocol.support.FairQueue;
import java.util.HashMap;
import java.util.Map;

/**
 * Runs tasks that wait for other servers, on virtual threads, a bounded number at a time. Groups take turns, and a group has at most half
 * of the places that are free, so that targets of one group that never answer delay no other. Safe for any thread.
 */
final class FairTasks {
    private final int places;
    private final int queueLimit;
    private final FairQueue<Runnable> waiting = new FairQueue<>();
    private final Map<String, Integer> running = new HashMap<>();
    private int free;
    private boolean closed;

    /**
     * @param places tasks at a time
     * @param queueLimit tasks of a group that wait
     */
    FairTasks(int places, int queueLimit) {
        this.places = places;
        this.free = places;
        this.queueLimit = queueLimit;
    }

    /** Adds a task; false if too many of its group wait. */
    synchronized boolean add(String group, Runnable task) {
        if (closed || waiting.size(group) >= queueLimit) {
            return false;
        }
        waiting.add(group, task);
        start();
        return true;
    }

    private void start() {
        while (free > 0 && !closed) {
            // Half of the places, and never the last one while another group may come.
            int share = Math.max(1, Math.min(places / 2, free - 1));
            String[] group = new String[1];
            Runnable next = waiting.poll(name -> {
                group[0] = name;
                return running.getOrDefault(name, 0) < share;
            });
            if (next == null) {
                return;
            }
            String name = group[0];
            free--;
            running.merge(name, 1, Integer::sum);
            Thread.ofVirtual().name("registry-probe").start(() -> {
                try {
                    next.run();
                } finally {
                    ended(name);
                }
            });
        }
    }

    private synchronized void ended(String group) {
        free++;
        running.computeIfPresent(group, (name, count) -> count == 1 ? null : count - 1);
        start();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Begins no further tasks. */
    synchronized void close() {
        closed = true;
    }
}

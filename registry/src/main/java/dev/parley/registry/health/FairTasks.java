package dev.parley.registry.health;

import dev.parley.protocol.support.FairQueue;
import dev.parley.protocol.support.FairShare;

/**
 * Runs tasks that wait for other servers, on virtual threads, a bounded number at a time. Groups take turns, and a group has at most half
 * of the places that are free, so that targets of one group that never answer delay no other. Safe for any thread.
 */
final class FairTasks {
    private final int queueLimit;
    private final FairQueue<Task> waiting = new FairQueue<>();
    private final FairShare running;
    private boolean closed;

    private record Task(String group, Runnable work) {}

    /**
     * @param places tasks at a time, at least 2
     * @param queueLimit tasks of a group that wait
     */
    FairTasks(int places, int queueLimit) {
        this.running = new FairShare(places, 1, places / 2);
        this.queueLimit = queueLimit;
    }

    /** Adds a task; false if too many of its group wait. */
    synchronized boolean add(String group, Runnable task) {
        if (closed || waiting.size(group) >= queueLimit) {
            return false;
        }
        waiting.add(group, new Task(group, task));
        start();
        return true;
    }

    private void start() {
        while (!closed) {
            Task next = waiting.poll(running::hasRoom);
            if (next == null) {
                return;
            }
            running.take(next.group());
            Thread.ofVirtual().name("registry-probe").start(() -> {
                try {
                    next.work().run();
                } finally {
                    ended(next.group());
                }
            });
        }
    }

    private synchronized void ended(String group) {
        running.giveBack(group);
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

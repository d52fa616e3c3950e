package dev.parley.mcp.client;

import dev.parley.mcp.client.ServerFailure.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the call that a question of an older server belongs to, if the question does not name it: as all questions over stdio, and over
 * HTTP those outside of the stream of a call. A question belongs to the only call that may have asked it, as a call that waits for an
 * answer asks nothing else. Therefore calls of such a server begin one after the other, as far as that costs little, and tools that have
 * asked wait for each other. A question that several calls may have asked is held until all but one of them have been answered; no
 * question goes to a call that it may not belong to. Safe for any thread.
 */
final class QuestionRouter {
    /** Time of a call in which others do not begin, as most tools ask or answer within it. */
    private static final Duration HEAD_START = Duration.ofSeconds(1);

    private static final int MOST_HELD = 100;

    private final Consumer<Map<String, @Nullable Object>> refusal;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition change = lock.newCondition();

    /** Calls that may ask, with their tools. */
    private final Map<ClientExchange, String> running = new LinkedHashMap<>();

    private final List<Map<String, @Nullable Object>> held = new ArrayList<>();
    private final Set<String> asking = new HashSet<>();
    private boolean isSerial;
    private @Nullable ClientExchange lastAsker; // while no call has begun since

    /**
     * @param isSerial false if questions usually name their call
     * @param refusal answers a question that cannot be passed on
     */
    QuestionRouter(boolean isSerial, Consumer<Map<String, @Nullable Object>> refusal) {
        this.isSerial = isSerial;
        this.refusal = refusal;
    }

    /**
     * Waits until a call may begin, or go on after the answer to its question.
     *
     * @throws ServerFailure TIMEOUT if others have not ended in time; the call has not begun
     */
    void enter(ClientExchange call, String tool, Duration limit) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long begun = System.nanoTime();
            for (long waited = 0; mustWait(tool, waited); waited = System.nanoTime() - begun) {
                if (waited >= limit.toNanos()) {
                    throw new ServerFailure(
                            Kind.TIMEOUT,
                            "the call has not begun: other calls that the server may ask about have not ended in time");
                }
                long step = waited < HEAD_START.toNanos() ? HEAD_START.toNanos() : limit.toNanos();
                long unused = change.awaitNanos(Math.min(step, limit.toNanos()) - waited);
            }
            running.put(call, tool);
            lastAsker = null;
        } finally {
            lock.unlock();
        }
    }

    private boolean mustWait(String tool, long waited) {
        if (!isSerial || running.isEmpty()) {
            return false;
        }
        return waited < HEAD_START.toNanos()
                || !held.isEmpty()
                || asking.contains(tool) && running.values().stream().anyMatch(asking::contains);
    }

    /** @param isAnswered false for a call that was given up or has failed, so that a held question may be its own */
    void leave(ClientExchange call, boolean isAnswered) {
        lock.lock();
        try {
            String tool = running.remove(call);
            if (tool != null && !isAnswered && !held.isEmpty()) {
                asking.add(tool);
                asking.addAll(running.values());
                refuse();
            }
            lastAsker = call == lastAsker ? null : lastAsker;
            settle();
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void refuse() {
        held.forEach(refusal);
        held.clear();
    }

    /** A call has asked on its own stream. */
    void asked(ClientExchange call) {
        lock.lock();
        try {
            String tool = running.remove(call);
            if (tool != null) {
                asking.add(tool);
                settle();
                change.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Passes a question on that does not name its call, holds it, or refuses it. */
    void question(Map<String, @Nullable Object> question) {
        lock.lock();
        try {
            ClientExchange asker = lastAsker;
            if (running.isEmpty() && asker != null) {
                asker.offer(question); // a further question of the same call
                return;
            }
            isSerial = true;
            if (running.isEmpty() || held.size() == MOST_HELD) {
                refusal.accept(question);
                return;
            }
            held.add(question);
            settle();
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void settle() {
        if (running.isEmpty()) {
            refuse();
        } else if (!held.isEmpty() && running.size() == 1) {
            ClientExchange call = running.keySet().iterator().next();
            asking.addAll(running.values());
            running.clear();
            held.forEach(call::offer);
            held.clear();
            lastAsker = call;
        } else if (running.size() > 1 && held.size() >= running.size()) {
            // All of them wait for an answer, so no end of a call will tell the questions apart.
            asking.addAll(running.values());
            var calls = List.copyOf(running.keySet());
            running.clear();
            refuse();
            calls.forEach(call -> call.fail(new ServerFailure(
                    Kind.INVALID_RESPONSE,
                    "the server asks about " + calls.size()
                            + " calls at once, and its revision does not tell which question belongs to which call"
                            + " (expected: the call again)")));
        }
    }
}

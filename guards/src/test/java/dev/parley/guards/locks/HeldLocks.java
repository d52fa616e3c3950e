package dev.parley.guards.locks;

import dev.parley.guards.locks.MethodCode.Handler;
import dev.parley.guards.locks.MethodCode.Id;
import dev.parley.guards.locks.MethodCode.Step;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Label;

/** Steps of a method at which it holds a lock that it has taken itself. */
final class HeldLocks {
    private static final Set<String> TAKES = Set.of("lock", "lockInterruptibly", "tryLock", "readLock", "writeLock");

    /** Bound of the locks that a method holds at once, so that a loop that frees none ends. */
    private static final int MOST = 4;

    private static final int UNREACHED = -1;

    private final MethodCode method;
    private final Map<Label, Integer> places = new HashMap<>();
    private final int[] held;
    private final Deque<Integer> changed = new ArrayDeque<>();

    private HeldLocks(MethodCode method) {
        this.method = method;
        this.held = new int[method.steps().size()];
        Arrays.fill(held, UNREACHED);
        for (int i = 0; i < held.length; i++) {
            if (method.steps().get(i) instanceof Step.Place(Label label)) {
                places.put(label, i);
            }
        }
    }

    /** Returns the number of locks before each step. */
    static int[] of(MethodCode method) {
        var locks = new HeldLocks(method);
        if (locks.held.length > 0) {
            locks.reach(0, method.isSynchronized() ? 1 : 0);
            while (!locks.changed.isEmpty()) {
                locks.pass(locks.changed.pop());
            }
        }
        return locks.held;
    }

    private void reach(int step, int locks) {
        int most = Math.clamp(locks, 0, MOST);
        if (held[step] < most) {
            held[step] = most;
            changed.push(step);
        }
    }

    private void pass(int at) {
        Step step = method.steps().get(at);
        int before = held[at];
        int after = before + change(step);
        for (Handler handler : method.handlers()) {
            if (place(handler.start()) <= at && at < place(handler.end())) {
                reach(place(handler.target()), Math.min(before, after));
                if (handler.isForAll()) {
                    break; // no exception reaches those around it, except through this one
                }
            }
        }
        switch (step) {
            case Step.End() -> {}
            case Step.Jump(List<Label> targets, boolean mayPass, Boolean ifTrue) -> {
                boolean isAttempt =
                        ifTrue != null && at > 0 && isAttempt(method.steps().get(at - 1));
                targets.forEach(target -> reach(place(target), isAttempt && !ifTrue ? before - 1 : before));
                if (mayPass) {
                    reach(at + 1, isAttempt && ifTrue ? before - 1 : before);
                }
            }
            default -> reach(at + 1, after);
        }
    }

    private int place(Label label) {
        return places.getOrDefault(label, held.length);
    }

    private static boolean isAttempt(Step step) {
        return step instanceof Step.Call(Id target, boolean isExact)
                && isLock(target)
                && target.name().equals("tryLock");
    }

    private static int change(Step step) {
        return switch (step) {
            case Step.Enter() -> 1;
            case Step.Exit() -> -1;
            case Step.Call(Id target, boolean isExact)
            when isLock(target) -> target.name().startsWith("unlock") ? -1 : takes(target) ? 1 : 0;
            default -> 0;
        };
    }

    private static boolean isLock(Id call) {
        return call.owner().startsWith("java/util/concurrent/locks/")
                && call.owner().endsWith("Lock");
    }

    private static boolean takes(Id call) {
        // Those of a ReadWriteLock only return the lock that is taken then.
        return TAKES.contains(call.name()) && !call.descriptor().endsWith(";");
    }
}

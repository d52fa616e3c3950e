package dev.parley.trust;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.LruMap;
import dev.parley.trust.LimitSettings.Limit;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Limits of a caller, a group, or all callers of an agent: calls a second, at once, and a day. A call over a limit is
 * refused at once, with a time for the next attempt. Safe for any thread.
 *
 * <p>Counted in memory: a restart resets all counts.
 */
public final class Limits {
    private static final int MOST_KEPT = 100_000;
    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);
    private static final Duration SOON = Duration.ofSeconds(1);

    /** An admitted call: the remaining limits, and the action at its end. */
    record Taken(Map<String, String> headers, Runnable giveBack) {
        static final Taken NOTHING = new Taken(Map.of(), () -> {});
    }

    /** Usage of one account. Guarded by itself. */
    private static final class Account {
        private double tokens;
        private long filledNanos;
        private long day;
        private long today;
        private long running;
        private boolean begun;
        private final Key key;

        Account(Key key) {
            this.key = key;
        }
    }

    private record Key(Limit limit, String name) {}

    private final LimitSettings settings;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    /** Accounts with calls that run: as many as there are such calls, at most. */
    private final Map<Key, Account> running = new HashMap<>();
    /** The other accounts, least recently used first. */
    private final Map<Key, Account> idle;

    Limits(LimitSettings settings, InstantSource clock) {
        this(settings, clock, MOST_KEPT);
    }

    /** @param mostKept how many accounts without a running call are kept */
    Limits(LimitSettings settings, InstantSource clock, int mostKept) {
        this.settings = settings;
        this.clock = clock;
        this.idle = new LruMap<>(mostKept);
    }

    /** Maximum number of accounts. */
    int size() {
        lock.lock();
        try {
            return running.size() + idle.size();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a call from what its caller, the group and the agent have left.
     *
     * @param caller null for anonymous callers, which together are no principal and have no limit of one
     * @throws A2AException RATE_LIMITED, with when to try again; nothing was taken
     */
    Taken take(@Nullable Principal caller, String group, String agent) {
        return take(caller, group, agent, false);
    }

    /**
     * Takes a call that is made within another call of its caller. The outer call may wait for it, so it is not one more call at once of
     * the principal and the group.
     *
     * @throws A2AException as {@link #take(Principal, String, String)}
     */
    Taken takeWithin(@Nullable Principal caller, String group, String agent) {
        return take(caller, group, agent, true);
    }

    private Taken take(@Nullable Principal caller, String group, String agent, boolean within) {
        Limit principal = caller == null ? Limit.NONE : settings.principal();
        if (principal.equals(Limit.NONE)
                && settings.group().equals(Limit.NONE)
                && settings.agent().equals(Limit.NONE)) {
            return Taken.NOTHING;
        }
        var accountsOfCall = new LinkedHashMap<Account, Limit>();
        lock.lock();
        try {
            if (caller != null) {
                open(accountsOfCall, principal, "p " + group + " " + caller.name());
            }
            open(accountsOfCall, settings.group(), "g " + group);
            var begun = new HashSet<>(within ? Set.of() : accountsOfCall.keySet());
            begun.addAll(open(accountsOfCall, settings.agent(), "a " + agent));
            accountsOfCall.forEach((account, limit) -> require(account, limit, begun.contains(account)));
            accountsOfCall.keySet().forEach(account -> {
                account.tokens--;
                account.today++;
            });
            begun.forEach(account -> {
                account.running++;
                idle.remove(account.key);
                running.put(account.key, account);
            });
            return new Taken(headers(accountsOfCall), () -> giveBack(begun));
        } finally {
            lock.unlock();
        }
    }

    private Set<Account> open(Map<Account, Limit> accountsOfCall, Limit limit, String name) {
        if (limit.equals(Limit.NONE)) {
            return Set.of();
        }
        var key = new Key(limit, name);
        Account account = running.get(key);
        if (account == null) {
            account = idle.computeIfAbsent(key, Account::new);
        }
        fill(account, limit);
        accountsOfCall.put(account, limit);
        return Set.of(account);
    }

    private void fill(Account account, Limit limit) {
        long now = System.nanoTime();
        if (!account.begun) {
            account.begun = true;
            account.tokens = (double) limit.burst();
        } else {
            double gained = (now - account.filledNanos) / 1e9 * limit.perSecond();
            account.tokens = Math.min((double) limit.burst(), account.tokens + gained);
        }
        account.filledNanos = now;
        long day = clock.millis() / DAY_MS;
        if (account.day != day) {
            account.day = day;
            account.today = 0;
        }
    }

    private void require(Account account, Limit limit, boolean begins) {
        if (limit.perSecond() > 0 && account.tokens < 1) {
            long millis = (long) Math.ceil((1 - account.tokens) / limit.perSecond() * 1_000);
            throw refused("Too many calls a second", Duration.ofMillis(millis));
        }
        if (begins && limit.concurrent() > 0 && account.running >= limit.concurrent()) {
            throw refused("Too many calls at once", SOON);
        }
        if (limit.perDay() > 0 && account.today >= limit.perDay()) {
            throw refused("The calls of today are used up", untilTomorrow());
        }
    }

    private static A2AException refused(String message, Duration wait) {
        return A2AException.of(A2AError.RATE_LIMITED, message).retryingAfter(wait);
    }

    private Duration untilTomorrow() {
        return Duration.ofMillis(DAY_MS - clock.millis() % DAY_MS);
    }

    /** Returns the headers of the limit with the least remaining calls. */
    private Map<String, String> headers(Map<Account, Limit> accountsOfCall) {
        long limit = Long.MAX_VALUE;
        long remaining = Long.MAX_VALUE;
        long reset = 0;
        for (var each : accountsOfCall.entrySet()) {
            Account account = each.getKey();
            if (each.getValue().perSecond() > 0 && (long) account.tokens < remaining) {
                limit = each.getValue().burst();
                remaining = (long) account.tokens;
                reset = (long)
                        Math.ceil((limit - account.tokens) / each.getValue().perSecond());
            }
            if (each.getValue().perDay() > 0 && each.getValue().perDay() - account.today < remaining) {
                limit = each.getValue().perDay();
                remaining = limit - account.today;
                reset = untilTomorrow().toSeconds();
            }
        }
        return limit == Long.MAX_VALUE
                ? Map.of()
                : Map.of(
                        "RateLimit-Limit", Long.toString(limit),
                        "RateLimit-Remaining", Long.toString(remaining),
                        "RateLimit-Reset", Long.toString(reset));
    }

    private void giveBack(Set<Account> used) {
        lock.lock();
        try {
            used.forEach(account -> {
                account.running--;
                if (account.running == 0) {
                    running.remove(account.key);
                    idle.put(account.key, account);
                }
            });
        } finally {
            lock.unlock();
        }
    }
}

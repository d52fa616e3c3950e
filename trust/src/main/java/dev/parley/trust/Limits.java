package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.LruMap;
import dev.parley.trust.LimitSettings.Limit;
import dev.parley.trust.shared.Buckets;
import dev.parley.trust.shared.Buckets.Loan;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Limits of a caller, a group, or all callers of an agent: calls a second, at once, and a day. A call over a limit is
 * refused at once, with a time for the next attempt. Safe for any thread.
 *
 * <p>Counted in memory: a restart resets all counts. Hubs that share a database borrow calls a second and a day from its {@link Buckets},
 * together never more than the limit; of calls at once each has an equal share, and one at least.
 */
public final class Limits {
    private static final int MOST_KEPT = 100_000;
    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);
    private static final Duration SOON = Duration.ofSeconds(1);

    /** Loans for one call, whose calls others may have taken. */
    private static final int MOST_LOANS = 10;

    /** A loan of calls a second is this part of the burst at most. */
    private static final double PART_OF_BURST = 0.25;

    /** A loan is as many calls as the rate gives in this time, or more if the burst is large, and is good for so long. */
    private static final double LIFE_SECONDS = 0.25;

    private static final long LARGE_LOAN = 10;

    /** Part of the life of a loan that begins when the hub has it. The rest is for the way of the answer. */
    private static final double USABLE_LIFE = 0.8;

    /** Calls of accounts whose loans would have a shorter life are borrowed one by one. */
    private static final double SHORTEST_LIFE_SECONDS = 0.05;

    /** Loans that the calls of a day make. */
    private static final long LOANS_OF_DAY = 1_000;

    /** An admitted call: the remaining limits, and the action at its end. */
    record Taken(Map<String, String> headers, Runnable giveBack) {
        static final Taken NOTHING = new Taken(Map.of(), () -> {});
    }

    /** Usage of one account. Guarded by itself. */
    private static final class Account {
        private double tokens;
        private long filledNanos;
        private long day = -1;
        private long today;
        private long running;
        private boolean begun;
        private final Key key;

        // Of hubs that share a database: what was borrowed, and is left there.
        private double left;
        private long goodUntil = System.nanoTime();
        private long emptyUntil = goodUntil;
        private long loan = 1;
        private long lentToday;
        private double leftToday = 1;
        private @Nullable CompletableFuture<?> borrowing;

        Account(Key key) {
            this.key = key;
        }
    }

    private record Key(Limit limit, String name) {}

    private final LimitSettings settings;
    private final InstantSource clock;
    private final @Nullable Buckets buckets;
    private final ReentrantLock lock = new ReentrantLock();
    /** Accounts with calls that run: as many as there are such calls, at most. */
    private final Map<Key, Account> running = new HashMap<>();
    /** The other accounts, least recently used first. */
    private final Map<Key, Account> idle;

    /** @param buckets of the hubs that share a database; null if no other hub uses the database */
    Limits(LimitSettings settings, InstantSource clock, @Nullable Buckets buckets) {
        this(settings, clock, MOST_KEPT, buckets);
    }

    /**
     * @param mostKept how many accounts without a running call are kept
     * @param buckets of the hubs that share a database; null if no other hub uses the database
     */
    Limits(LimitSettings settings, InstantSource clock, int mostKept, @Nullable Buckets buckets) {
        this.settings = settings;
        this.clock = clock;
        this.buckets = buckets;
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
        for (int loans = 0; ; loans++) {
            var lacking = new LinkedHashMap<Account, Limit>();
            Taken taken = take(caller, group, agent, within, lacking);
            if (taken != null) {
                return taken;
            }
            if (loans == MOST_LOANS) {
                throw refused("Too many calls a second", SOON);
            }
            lacking.forEach(this::borrow); // not under the lock
        }
    }

    /** @return null if calls have to be borrowed before, for the accounts that were added to {@code lacking} */
    private @Nullable Taken take(
            @Nullable Principal caller, String group, String agent, boolean within, Map<Account, Limit> lacking) {
        Limit principal = caller == null ? Limit.NONE : settings.principal();
        var accountsOfCall = new LinkedHashMap<Account, Limit>();
        lock.lock();
        try {
            if (caller != null) {
                open(accountsOfCall, principal, "p " + group + " " + caller.name());
            }
            open(accountsOfCall, settings.group(), "g " + group);
            var begun = new HashSet<>(within ? Set.of() : accountsOfCall.keySet());
            begun.addAll(open(accountsOfCall, settings.agent(), "a " + agent));
            accountsOfCall.forEach((account, limit) -> {
                if (lacksRate(account, limit) || lacksDay(account, limit)) {
                    lacking.put(account, limit);
                }
            });
            if (!lacking.isEmpty()) { // a call that is refused nevertheless borrows nothing
                begun.forEach(account -> requireConcurrent(account, accountsOfCall.getOrDefault(account, Limit.NONE)));
                return null;
            }
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
        if (buckets != null) {
            account.tokens = now - account.goodUntil < 0 ? account.tokens : 0;
        } else if (!account.begun) {
            account.tokens = (double) limit.burst();
        } else {
            double gained = (now - account.filledNanos) / 1e9 * limit.perSecond();
            account.tokens = Math.min((double) limit.burst(), account.tokens + gained);
        }
        account.begun = true;
        account.filledNanos = now;
        long day = clock.millis() / DAY_MS;
        if (account.day != day) {
            account.day = day;
            account.today = 0;
            account.lentToday = buckets == null ? limit.perDay() : 0;
            account.leftToday = buckets == null ? 0 : (double) limit.perDay();
        }
    }

    // ---- Calls of hubs that share a database

    private boolean lacksRate(Account account, Limit limit) {
        return buckets != null
                && limit.perSecond() > 0
                && account.tokens < 1
                && System.nanoTime() - account.emptyUntil >= 0;
    }

    private boolean lacksDay(Account account, Limit limit) {
        return buckets != null && limit.perDay() > 0 && account.today >= account.lentToday && account.leftToday >= 1;
    }

    /** Borrows calls for an account, or waits while another thread does. */
    private void borrow(Account account, Limit limit) {
        Buckets lender = requireNonNull(buckets);
        var mine = new CompletableFuture<Object>();
        CompletableFuture<?> other;
        boolean isOfRate;
        boolean isOfDay;
        long day;
        lock.lock();
        try {
            other = account.borrowing;
            isOfRate = lacksRate(account, limit);
            isOfDay = lacksDay(account, limit);
            day = account.day;
            if (other == null) {
                account.borrowing = mine;
            }
        } finally {
            lock.unlock();
        }
        if (other != null) {
            other.join();
            return;
        }
        try {
            if (isOfRate) {
                borrowRate(lender, account, limit);
            }
            if (isOfDay) {
                borrowDay(lender, account, limit, day);
            }
        } finally {
            endLoan(account);
            mine.complete(account);
        }
    }

    private void endLoan(Account account) {
        lock.lock();
        try {
            account.borrowing = null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A hub may use what it has borrowed while the bucket fills again. So that all hubs together do not exceed the burst, a full bucket
     * lacks what comes back in the life of a loan, unless each call is borrowed by itself.
     */
    private void borrowRate(Buckets lender, Account account, Limit limit) {
        double part = limit.burst() * PART_OF_BURST;
        double life = Math.min(LIFE_SECONDS, part / limit.perSecond());
        long largest = life < SHORTEST_LIFE_SECONDS
                ? 1
                : Math.max(1, (long) Math.min(part, Math.max(limit.perSecond() * LIFE_SECONDS, LARGE_LOAN)));
        double most = largest == 1 ? limit.burst() : limit.burst() - limit.perSecond() * life;
        long now = System.nanoTime();
        long wanted;
        lock.lock();
        try {
            // More after a loan that was used up within its life.
            wanted = Math.min(largest, now - account.goodUntil < 0 ? account.loan * 2 : 1);
        } finally {
            lock.unlock();
        }
        Loan loan = lender.ofRate(account.key.name, limit.perSecond(), most, wanted);
        lock.lock();
        try {
            account.loan = Math.max(1, loan.calls());
            account.tokens += loan.calls();
            account.left = loan.left();
            long lent = System.nanoTime();
            account.goodUntil = lent + (long) ((largest == 1 ? LIFE_SECONDS : life * USABLE_LIFE) * 1e9);
            if (loan.calls() == 0) {
                account.emptyUntil = lent + (long) ((1 - loan.left()) / limit.perSecond() * 1e9);
            }
        } finally {
            lock.unlock();
        }
    }

    private void borrowDay(Buckets lender, Account account, Limit limit, long day) {
        long wanted = Math.max(1, limit.perDay() / LOANS_OF_DAY);
        Loan loan = lender.ofDay(account.key.name, day, limit.perDay(), wanted);
        lock.lock();
        try {
            if (account.day == day) {
                account.lentToday += loan.calls();
                account.leftToday = loan.left();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- Refusals

    private void requireConcurrent(Account account, Limit limit) {
        long most = buckets == null ? limit.concurrent() : Math.max(1, limit.concurrent() / buckets.hubs());
        if (limit.concurrent() > 0 && account.running >= most) {
            throw refused("Too many calls at once", SOON);
        }
    }

    private void require(Account account, Limit limit, boolean begins) {
        if (limit.perSecond() > 0 && account.tokens < 1) {
            long millis = buckets == null
                    ? (long) Math.ceil((1 - account.tokens) / limit.perSecond() * 1_000)
                    : Math.max(1, TimeUnit.NANOSECONDS.toMillis(account.emptyUntil - System.nanoTime()) + 1);
            throw refused("Too many calls a second", Duration.ofMillis(millis));
        }
        if (begins) {
            requireConcurrent(account, limit);
        }
        if (limit.perDay() > 0 && account.today >= account.lentToday) {
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
            double tokens = account.tokens + account.left;
            if (each.getValue().perSecond() > 0 && (long) tokens < remaining) {
                limit = each.getValue().burst();
                remaining = (long) tokens;
                reset = (long) Math.ceil((limit - tokens) / each.getValue().perSecond());
            }
            long today = account.lentToday - account.today + (long) account.leftToday;
            if (each.getValue().perDay() > 0 && today < remaining) {
                limit = each.getValue().perDay();
                remaining = today;
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

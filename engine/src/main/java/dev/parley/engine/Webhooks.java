package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.scheduling.DeliveryRecords;
import dev.parley.engine.scheduling.DeliverySlots;
import dev.parley.engine.scheduling.NextEvent;
import dev.parley.engine.scheduling.PostponedQueues;
import dev.parley.engine.scheduling.QueueClaims;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.ClaimResult;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.engine.spi.PushStore.Queue.Channel;
import dev.parley.engine.spi.PushStore.Queue.Single;
import dev.parley.engine.spi.PushStore.Recorded;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.engine.spi.WebhookTransport.Outcome;
import dev.parley.engine.tasks.PastTask;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.Sha256;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Delivery of the events of tasks to webhooks: in order, at least once, across restarts.
 *
 * <p>Each webhook has a durable cursor in the log of its task. Delivering is reading the log from there; a retry, a restart
 * and a redelivery are all the same read. At most one thread at a time works for a webhook, or for all webhooks of a channel, whose
 * events it delivers by their times: see {@code docs/adr/0048-order-of-callbacks.md}. If several engines have the log, it is a thread of
 * one of them: see {@link QueueClaims}. One event that is on its way when its webhook is registered anew may arrive after events of the new
 * registration.
 */
public final class Webhooks {
    private static final Logger LOG = System.getLogger("dev.parley.webhooks");
    private static final int BATCH = 64;
    private static final Backoff STORE_PAUSES = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(64));
    private static final int MAX_ATTEMPTS = 12;
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(10));
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);

    /** Tasks of a channel that are in memory at most. */
    private static final int MOST_PASTS = 16;

    /** Maximum of webhooks of one task. */
    static final int MAX_PER_TASK = 32;

    /** A running worker of a queue: without or with new events since its last look. */
    private enum Work {
        LOOKING,
        NEWS
    }

    private final PushStore store;
    private final QueueClaims claims;
    private final WebhookTransport transport;
    private final TaskLog log;
    private final InstantSource clock;
    private final Threads threads;
    private final ScheduledExecutorService timer;
    private final DeliverySlots<Queue> slots;
    private final ConcurrentHashMap<Queue, Work> working = new ConcurrentHashMap<>();
    /** Number of successive failures of the store for a queue. */
    private final ConcurrentHashMap<Queue, Integer> storeFailures = new ConcurrentHashMap<>();

    /** Tasks with new events whose webhooks are to be looked for. */
    private final Set<TaskKey> announced = ConcurrentHashMap.newKeySet();

    private final PostponedQueues postponed;
    private final DeliveryRecords records;
    private final AtomicBoolean isTakingOver = new AtomicBoolean();
    private final LongAdder givenUp = new LongAdder();
    private volatile boolean open = true;

    Webhooks(
            PushStore store,
            WebhookTransport transport,
            TaskLog log,
            InstantSource clock,
            Threads threads,
            ScheduledExecutorService timer) {
        this.store = store;
        this.claims = new QueueClaims(store, threads);
        this.transport = transport;
        this.log = log;
        this.clock = clock;
        this.threads = threads;
        this.timer = timer;
        this.slots = new DeliverySlots<>(threads.lock());
        this.postponed = new PostponedQueues(timer, threads, this::run);
        this.records = new DeliveryRecords(store, threads);
    }

    /** Continues deliveries that a restart interrupted. */
    void start() {
        store.pending().forEach(this::schedule);
    }

    /**
     * Takes up webhooks of engines that have ended, and looks at those that wait for their next attempt while other engines have news of
     * them. Does not block: at most one thread does so at a time.
     */
    void takeOver() {
        if (open && !isTakingOver.getAndSet(true)) {
            try {
                threads.start("webhooks", () -> {
                    try {
                        claims.takeOver(this::schedule);
                        claims.marked(postponed.queues()).forEach(postponed::hasten);
                    } finally {
                        isTakingOver.set(false);
                    }
                });
            } catch (RuntimeException | Error notStarted) {
                isTakingOver.set(false);
                LOG.log(Level.DEBUG, "the next look takes up webhooks of engines that have ended", notStarted);
            }
        }
    }

    /** Begins no further delivery. */
    void stop() {
        open = false;
    }

    /** Leaves the webhooks to other engines, after a stop. Those with a delivery under way follow by themselves. */
    void close() {
        claims.abandonAllBut(working.keySet());
    }

    /** @throws dev.parley.protocol.A2AException if the webhook must not be called */
    void check(String group, PushConfig config) {
        transport.check(group, config);
    }

    /** The channel of a webhook of a task in a context; null for none. */
    @Nullable
    String channel(Scope scope, String contextId, PushConfig config, String dialect) {
        return transport.ordersContexts(dialect)
                ? Sha256.hex(scope.group() + "\n" + scope.owner() + "\n" + contextId + "\n" + config.url())
                : null;
    }

    /** The webhooks and how far each is. */
    PushStore store() {
        return store;
    }

    /** Says that a task has new events. Does not block. */
    void wake(TaskKey task) {
        wake(task, 0);
    }

    private void wake(TaskKey task, int failures) {
        if (open && announced.add(task)) {
            try {
                threads.start("webhooks", () -> {
                    announced.remove(task); // before the read: a later event starts another read
                    try {
                        store.of(task).forEach(this::schedule);
                    } catch (RuntimeException | Error failure) {
                        wakeLater(task, failures + 1, failure);
                    }
                });
            } catch (RuntimeException | Error notStarted) {
                announced.remove(task);
                wakeLater(task, failures + 1, notStarted);
            }
        }
    }

    private void wakeLater(TaskKey task, int failures, Throwable failure) {
        LOG.log(Level.ERROR, "the webhooks of task " + task.taskId() + " could not be read", failure);
        var unused = timer.schedule(
                () -> wake(task, failures), STORE_PAUSES.bound(failures).toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Looks at the queue of a webhook that was removed or registered anew. Other webhooks may have waited for it, or its sender, which may
     * be another engine, waits for its next attempt.
     *
     * @param before as it was read before the change; an attempt may have failed since
     */
    void replaced(Subscription before) {
        if (before.deadSince() == null) {
            run(before.queue(), receiver(before.config().url()));
        }
    }

    /** Returns the number of webhooks that have undelivered events and are not given up; those of a channel count once. */
    public long backlog() {
        return working.size()
                + postponed.queues().stream()
                        .filter(queue -> !working.containsKey(queue))
                        .count();
    }

    /** Returns the number of webhooks given up since the start. */
    public long givenUp() {
        return givenUp.sum();
    }

    /** The webhooks that were given up, newest first, at most {@code limit}. */
    public List<Subscription> dead(int limit) {
        return store.dead(limit);
    }

    /** The webhooks whose last attempt failed and that are tried again, the next attempt first, at most {@code limit}. */
    public List<Subscription> waiting(int limit) {
        return store.pending().stream()
                .filter(webhook -> webhook.attempts() > 0)
                .sorted(Comparator.comparing(
                        Subscription::nextAttempt, Comparator.nullsFirst(Comparator.naturalOrder())))
                .limit(limit)
                .toList();
    }

    /** Takes a webhook up again that was given up, from the event that it did not accept; says whether there is one. */
    public boolean redeliver(String taskId, String configId) {
        for (Subscription dead : store.dead(Integer.MAX_VALUE)) {
            if (dead.task().taskId().equals(taskId)
                    && requireNonNull(dead.config().id()).equals(configId)) {
                boolean present = store.revive(dead);
                schedule(dead.delivered(dead.delivered()));
                return present;
            }
        }
        return false;
    }

    private void schedule(Subscription subscription) {
        if (subscription.deadSince() == null) {
            Duration pause = pause(subscription);
            String receiver = receiver(subscription.config().url());
            Queue queue = subscription.queue();
            if (pause == null || queue instanceof Channel) { // whose next event may be that of another webhook
                run(queue, receiver);
            } else {
                later(queue, receiver, pause);
            }
        }
    }

    private void later(Queue queue, String receiver, Duration pause) {
        if (open) { // otherwise the next start reads the pending webhooks
            postponed.add(queue, receiver, pause);
        }
    }

    private static Single key(Subscription subscription) {
        return new Single(subscription.task(), id(subscription));
    }

    static String id(Subscription subscription) {
        return requireNonNull(subscription.config().id());
    }

    /** The host that is called. */
    private static String receiver(String url) {
        try {
            String host = new URI(url).getHost();
            return host == null ? url : host.toLowerCase(Locale.ROOT);
        } catch (URISyntaxException foreign) {
            return url;
        }
    }

    private void run(Queue queue, String receiver) {
        Work before = working.put(queue, Work.NEWS);
        if (before == null && open) {
            slots.add(queue.group(), receiver, queue);
            startWaiting();
        } else if (before == null) {
            working.remove(queue); // no worker comes after a stop
        }
    }

    /** Starts a worker for each queue that waits and may have a slot. */
    private void startWaiting() {
        for (var next = slots.next(); next != null; next = slots.next()) {
            var taken = next;
            try {
                threads.start("webhook", () -> {
                    try {
                        work(taken.element(), taken.receiver());
                    } finally {
                        slots.giveBack(taken);
                        startWaiting();
                    }
                });
            } catch (RuntimeException | Error notStarted) {
                slots.giveBack(taken);
                working.remove(taken.element());
                failed(taken.element(), taken.receiver(), notStarted);
                return; // the next attempt starts the others, too
            }
        }
    }

    private void work(Queue queue, String receiver) {
        try {
            deliver(queue, receiver);
            storeFailures.remove(queue);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error failure) { // an Error, too: the engine that has the claim has to go on
            failed(queue, receiver, failure);
        }
        if (!open || Thread.currentThread().isInterrupted()) {
            claims.abandon(queue);
        }
    }

    private void failed(Queue queue, String receiver, Throwable failure) {
        LOG.log(
                open ? Level.ERROR : Level.DEBUG,
                "the state of the " + queue + " could not be read or written",
                failure);
        // The event may be delivered again, which is better than never.
        int failures = storeFailures.merge(queue, 1, Integer::sum);
        later(queue, receiver, STORE_PAUSES.bound(failures));
    }

    /** Delivers until no event is left, or sets the next attempt. */
    private void deliver(Queue queue, String receiver) throws InterruptedException {
        boolean isLeft = false;
        try {
            while (open && !isLeft) {
                working.put(queue, Work.LOOKING);
                Duration pause = null;
                boolean isDone = false;
                switch (claims.claim(queue)) {
                    case GRANTED -> {
                        pause = records.repeat(queue);
                        if (pause == null) {
                            pause = switch (queue) {
                                case Single webhook -> deliverAll(webhook);
                                case Channel channel -> deliverAll(channel);
                            };
                        }
                        isDone = pause == null && open && claims.release(queue);
                    }
                    case TAKEN -> {
                        records.drop(queue);
                        isDone = true; // the other engine looks once more
                    }
                    case BUSY -> pause = claims.pause(queue);
                }
                if (isDone) { // while this is the only worker
                    postponed.remove(queue);
                } else if (pause != null) {
                    later(queue, receiver, pause);
                }
                // Ends or waits only if nothing was announced since this looked: the news may be of a webhook that need
                // not wait.
                isLeft = (isDone || pause != null) && working.remove(queue, Work.LOOKING);
            }
        } finally {
            // If the queue is left, the entry is the mark of the next worker by now.
            if (!isLeft) {
                working.remove(queue);
            }
        }
    }

    /** Delivers all events; returns the pause until the next attempt, or null for none. */
    private @Nullable Duration deliverAll(Single key) throws InterruptedException {
        Subscription subscription = store.find(key.task(), key.configId()).orElse(null);
        var past = new PastTask(log, key.task());
        while (open && subscription != null && subscription.deadSince() == null) {
            if (subscription.channel() != null) { // registered anew meanwhile, for another order
                schedule(subscription);
                return null;
            }
            Duration pause = pause(subscription);
            if (pause != null) {
                return pause;
            }
            List<LoggedEvent> events = log.read(key.task(), subscription.delivered(), BATCH);
            if (events.isEmpty()) {
                return null;
            }
            for (LoggedEvent event : events) {
                subscription = offer(subscription, event, past);
                Recorded recorded = records.record(key, subscription);
                if (recorded == Recorded.BUSY) {
                    return records.pause(key);
                }
                if (recorded == Recorded.REFUSED && claims.claim(key) != ClaimResult.GRANTED) {
                    return claims.pause(key); // another engine sends by now
                }
                // The rest of the batch is for one that was registered anew meanwhile, if any.
                if (recorded == Recorded.REFUSED || subscription.delivered() < event.sequence()) {
                    break;
                }
            }
            // Seen again before each batch: it may have been deleted meanwhile.
            subscription = store.find(key.task(), key.configId()).orElse(null);
        }
        return null;
    }

    /**
     * Delivers all events of a channel by their times; returns the pause until the next attempt, or null for none. Of each webhook only
     * the time of the next event is kept, as a channel may have many.
     */
    private @Nullable Duration deliverAll(Channel channel) throws InterruptedException {
        while (open) {
            // Later events wait for the next round, as they may have earlier ones of further webhooks before them.
            Instant horizon = clock.instant();
            var heads = new PriorityQueue<NextEvent>();
            for (Subscription pending : store.pending(channel.name())) {
                add(NextEvent.of(log, key(pending), pending.delivered(), null), heads);
            }
            if (heads.isEmpty()) {
                return null;
            }
            var pasts = new LinkedHashMap<TaskKey, PastTask>();
            boolean isFirst = true;
            for (NextEvent head = heads.poll();
                    open && head != null && (isFirst || !head.at().isAfter(horizon));
                    head = heads.poll()) {
                isFirst = false;
                Single key = head.key();
                if (pasts.size() >= MOST_PASTS) {
                    pasts.remove(pasts.firstEntry().getKey());
                }
                Subscription subscription =
                        store.find(key.task(), key.configId()).orElse(null);
                if (subscription != null && !channel.name().equals(subscription.channel())) {
                    schedule(subscription); // registered anew meanwhile, for another order
                    continue;
                }
                if (subscription == null
                        || subscription.deadSince() != null
                        || subscription.delivered() != head.sequence() - 1) {
                    continue; // deleted or registered anew
                }
                Duration pause = pause(subscription);
                if (pause != null) {
                    return pause;
                }
                for (LoggedEvent event : log.read(key.task(), subscription.delivered(), 1)) {
                    subscription = offer(
                            subscription, event, pasts.computeIfAbsent(key.task(), task -> new PastTask(log, task)));
                    Recorded recorded = records.record(channel, subscription);
                    if (recorded == Recorded.BUSY) {
                        return records.pause(channel);
                    }
                    if (recorded == Recorded.REFUSED && claims.claim(channel) != ClaimResult.GRANTED) {
                        return claims.pause(channel); // another engine sends by now
                    }
                    if (recorded == Recorded.DONE && subscription.delivered() < event.sequence()) {
                        heads.add(head); // to be offered again, unless it is given up
                    } else {
                        add(NextEvent.of(log, key, event.sequence(), head.at()), heads);
                    }
                }
            }
        }
        return null;
    }

    private static void add(@Nullable NextEvent next, PriorityQueue<NextEvent> heads) {
        if (next != null) {
            heads.add(next);
        }
    }

    private @Nullable Duration pause(Subscription subscription) {
        Instant next = subscription.nextAttempt();
        Duration left = next == null ? Duration.ZERO : Duration.between(clock.instant(), next);
        return left.isPositive() ? left : null;
    }

    /** Offers an event, and returns the webhook after that. */
    private Subscription offer(Subscription subscription, LoggedEvent event, PastTask past)
            throws InterruptedException {
        if (!open) {
            throw new InterruptedException("webhooks stop");
        }
        if (!store.maySend()) {
            throw new IllegalStateException("other engines may have taken over the webhooks of this one");
        }
        return after(
                subscription,
                event,
                event.event().isPublic()
                        ? transport.deliver(subscription, event, () -> past.after(event))
                        : new Outcome.Accepted());
    }

    private Subscription after(Subscription before, LoggedEvent event, Outcome outcome) {
        return switch (outcome) {
            case Outcome.Accepted accepted -> before.delivered(event.sequence());
            case Outcome.Failed failed -> {
                int attempts = before.attempts() + 1;
                boolean dead = !failed.retryable() || attempts >= MAX_ATTEMPTS;
                if (dead) {
                    givenUp.increment();
                    LOG.log(
                            Level.WARNING,
                            "webhook {0} of task {1} is given up after {2} attempts: {3}",
                            before.config().id(),
                            before.task().taskId(),
                            attempts,
                            failed.reason());
                }
                yield before.failed(
                        attempts,
                        dead ? null : clock.instant().plus(backOff(attempts, failed)),
                        dead ? clock.instant() : null,
                        failed.reason());
            }
        };
    }

    private Duration backOff(int attempts, Outcome.Failed failed) {
        Duration wanted = failed.retryAfter();
        if (wanted != null && wanted.compareTo(LONGEST_RETRY_AFTER) > 0) {
            wanted = LONGEST_RETRY_AFTER;
        }
        return requireNonNullElse(failed.pauses(), PAUSES).after(attempts, wanted, threads.random());
    }
}

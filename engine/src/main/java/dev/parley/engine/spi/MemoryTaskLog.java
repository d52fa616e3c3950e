package dev.parley.engine.spi;

import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A log in memory, for tests and for agents that may forget. Writes are done when {@link #submit} returns. */
public final class MemoryTaskLog implements TaskLog {
    /** Time that a webhook without the delivery of the end of its task keeps the task. */
    private static final Duration LONGEST_AWAITED = Duration.ofDays(1);

    private static final Comparator<Head> NEWEST_FIRST = Comparator.comparing(Head::statusTime)
            .thenComparing(head -> head.key().taskId())
            .reversed();

    /** @param times when events were written, by the number of the first one */
    private record Row(
            Head head, List<LoggedEvent> events, Cause cause, int turns, NavigableMap<Long, Instant> times) {}

    private record Context(Scope scope, String agent, String contextId) {
        static Context of(Head head) {
            return new Context(head.key().scope(), head.key().agent(), head.contextId());
        }
    }

    private record TaskOwner(Scope scope, String agent) {
        static TaskOwner of(Head head) {
            return new TaskOwner(head.key().scope(), head.key().agent());
        }
    }

    /** Held while tasks change, and while the events of one are read or several are listed. */
    private final ReentrantLock lock;

    private final Map<TaskKey, Row> rows;
    private final Map<MessageKey, Led> messages;
    private final Map<TaskName, String> names;
    /** The tasks that are about to begin, by what they have claimed. */
    private final Map<Object, String> claims;

    private final Map<Context, Integer> turns;
    private final MemoryPushStore webhooks;
    private final InstantSource clock;
    private final Once once;
    /** The engines that run unfinished tasks of a log of {@link Once#CLAIM}. */
    private final Map<TaskKey, MemoryTaskLog> owners;
    /** All engines that have had the log open. */
    private final List<MemoryTaskLog> engines;
    /** When the engine began or, after that, ended. */
    private volatile Instant changed;

    private volatile boolean isEnded;
    /** The agents that the engine hosts. */
    private volatile Set<String> hosted = Set.of();

    private record Led(String taskId, Instant at) {}

    public MemoryTaskLog() {
        this(InstantSource.system());
    }

    /** A log that tells by {@code clock} when a message was taken. */
    public MemoryTaskLog(InstantSource clock) {
        this(clock, Once.INDEX);
    }

    /** @param once when a message gets its task */
    public MemoryTaskLog(InstantSource clock, Once once) {
        this.lock = new ReentrantLock();
        this.rows = new ConcurrentHashMap<>();
        this.messages = new ConcurrentHashMap<>();
        this.names = new ConcurrentHashMap<>();
        this.claims = new HashMap<>();
        this.turns = new ConcurrentHashMap<>();
        this.webhooks = new MemoryPushStore();
        this.owners = new ConcurrentHashMap<>();
        this.engines = new CopyOnWriteArrayList<>(List.of(this));
        this.clock = clock;
        this.once = once;
        this.changed = clock.instant();
    }

    private MemoryTaskLog(MemoryTaskLog same) {
        this.lock = same.lock;
        this.rows = same.rows;
        this.messages = same.messages;
        this.names = same.names;
        this.claims = same.claims;
        this.turns = same.turns;
        this.webhooks = same.webhooks;
        this.owners = same.owners;
        this.engines = same.engines;
        this.clock = same.clock;
        this.once = same.once;
        this.changed = clock.instant();
    }

    /** Returns the same log for another engine, which owns the tasks that it runs. */
    public MemoryTaskLog share() {
        var shared = new MemoryTaskLog(this);
        engines.add(shared);
        return shared;
    }

    /** The webhooks of its tasks. */
    public PushStore webhooks() {
        return webhooks;
    }

    @Override
    public void submit(Writer writer) {
        lock.lock();
        try {
            Segment segment = writer.take();
            if (segment == null) {
                return;
            }
            String taskId = segment.head().key().taskId();
            Optional<KeyTakenException> taken = taken(segment.messages(), segment.naming(), taskId);
            segment.messages().forEach(key -> claims.remove(key, taskId));
            Naming naming = segment.naming();
            if (naming != null) {
                claims.remove(naming, taskId);
            }
            if (taken.isPresent()) {
                writer.failed(segment, taken.get());
                return;
            }
            Row row = rows.get(segment.head().key());
            long last = row == null ? 0 : row.head().lastSequence();
            if (isEnded || owners.getOrDefault(segment.head().key(), this) != this) {
                writer.failed(segment, new OtherOwnerException(taskId));
                return;
            }
            if (segment.events().getFirst().sequence() != last + 1) {
                writer.failed(
                        segment,
                        once == Once.CLAIM
                                ? new OtherOwnerException(taskId)
                                : new IllegalStateException("task " + taskId + " has other events"));
                return;
            }
            List<LoggedEvent> events = row == null ? new ArrayList<>() : row.events();
            events.addAll(segment.events());
            Cause cause = row == null ? segment.cause() : row.cause();
            int more = segment.messages().size();
            int sum = row == null ? more : row.turns() + more;
            NavigableMap<Long, Instant> times = row == null ? new TreeMap<>() : row.times();
            times.put(segment.events().getFirst().sequence(), clock.instant());
            rows.put(segment.head().key(), new Row(segment.head(), events, cause, sum, times));
            if (once == Once.CLAIM && !segment.head().state().isSettled()) {
                owners.put(segment.head().key(), this);
            } else {
                owners.remove(segment.head().key());
            }
            turns.merge(Context.of(segment.head()), more, Integer::sum);
            var led = new Led(taskId, clock.instant());
            segment.messages().forEach(key -> messages.put(key, led));
            if (naming != null) {
                names.put(naming.name(), taskId);
            }
            segment.webhooks().forEach(webhook -> webhooks.save(webhook, segment.cause()));
            writer.written(segment);
        } finally {
            lock.unlock();
        }
    }

    /** Returns why a task cannot have these keys; empty if it can. */
    private Optional<KeyTakenException> taken(List<MessageKey> keys, @Nullable Naming naming, String taskId) {
        for (MessageKey key : keys) {
            if (!claims.getOrDefault(key, taskId).equals(taskId)) {
                return Optional.of(new KeyTakenException("message \"" + key.messageId() + "\"", true));
            }
            if (!taskOf(key).orElse(taskId).equals(taskId)) {
                return Optional.of(new KeyTakenException("message \"" + key.messageId() + "\"", false));
            }
        }
        if (naming == null) {
            return Optional.empty();
        }
        String holder = names.get(naming.name());
        boolean isPending = !claims.getOrDefault(naming, taskId).equals(taskId);
        boolean isFree = holder == null || holder.equals(naming.before()) || holder.equals(taskId);
        return isFree && !isPending
                ? Optional.empty()
                : Optional.of(new KeyTakenException("name \"" + naming.name().name() + "\"", isPending));
    }

    @Override
    public Once once() {
        return once;
    }

    @Override
    public CompletableFuture<@Nullable Void> claim(Claim claim) {
        lock.lock();
        try {
            KeyTakenException taken = taken(List.of(claim.message()), claim.naming(), claim.taskId())
                    .orElse(null);
            if (taken != null) {
                return CompletableFuture.failedFuture(taken);
            }
            claims.put(claim.message(), claim.taskId());
            Naming naming = claim.naming();
            if (naming != null) {
                claims.put(naming, claim.taskId());
            }
            return CompletableFuture.completedFuture(null);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void release(Claim claim) {
        lock.lock();
        try {
            claims.remove(claim.message(), claim.taskId());
            Naming naming = claim.naming();
            if (naming != null) {
                claims.remove(naming, claim.taskId());
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Head> find(TaskKey key) {
        return Optional.ofNullable(rows.get(key)).map(Row::head);
    }

    @Override
    public Optional<Head> find(String group, String taskId) {
        return rows.keySet().stream()
                .filter(key ->
                        key.taskId().equals(taskId) && key.scope().group().equals(group))
                .findFirst()
                .flatMap(this::find);
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        lock.lock();
        try {
            Row row = rows.get(key);
            if (row == null) {
                return List.of();
            }
            int from = (int) Math.min(after, row.events().size());
            return List.copyOf(row.events()
                    .subList(from, Math.min(from + limit, row.events().size())));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        lock.lock();
        try {
            Row row = rows.get(key);
            if (row == null) {
                return new TreeMap<>();
            }
            Long first = row.times().floorKey(sequence);
            var times = new TreeMap<Long, Instant>();
            row.times().tailMap(first == null ? 0 : first, true).entrySet().stream()
                    .limit(limit)
                    .forEach(each -> times.put(each.getKey(), each.getValue()));
            return times;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        return Optional.ofNullable(rows.get(key)).map(Row::cause);
    }

    @Override
    public List<Head> inTrace(@Nullable String group, String trace, int limit) {
        return heads(
                row -> isIn(row.cause().traceparent(), trace)
                        && (group == null || row.head().key().scope().group().equals(group)),
                limit);
    }

    /** The first tasks by their ids. */
    private List<Head> heads(Predicate<Row> which, int limit) {
        lock.lock();
        try {
            return rows.values().stream()
                    .filter(which)
                    .map(Row::head)
                    .sorted(Comparator.comparing(head -> head.key().taskId()))
                    .limit(limit)
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    private static boolean isIn(@Nullable String traceparent, String trace) {
        return traceparent != null && traceparent.startsWith(trace + "-", "00-".length());
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        return Optional.ofNullable(messages.get(key))
                .filter(led -> led.at().isAfter(clock.instant().minus(Duration.ofHours(24))))
                .map(Led::taskId);
    }

    @Override
    public int turns(Scope scope, String agent, String contextId) {
        return turns.getOrDefault(new Context(scope, agent, contextId), 0);
    }

    @Override
    public Optional<String> taskNamed(TaskName name) {
        return Optional.ofNullable(names.get(name));
    }

    @Override
    public Page list(Query query) {
        List<Head> matching = heads(head -> head.key().scope().group().equals(query.group())
                && (query.owner() == null
                        || query.owner().equals(head.key().scope().owner()))
                && head.key().agent().equals(query.agent())
                && (query.contextId() == null || query.contextId().equals(head.contextId()))
                && (query.state() == null || query.state() == head.state())
                && (query.statusSince() == null || !head.statusTime().isBefore(query.statusSince())));
        List<Head> page = matching.stream()
                .sorted(NEWEST_FIRST)
                .filter(head -> isBehind(head, query.before()))
                .limit(query.limit())
                .toList();
        return new Page(page, matching.size());
    }

    private static boolean isBehind(Head head, @Nullable Position position) {
        if (position == null) {
            return true;
        }
        int times = head.statusTime().compareTo(position.statusTime());
        return times < 0 || times == 0 && head.key().taskId().compareTo(position.taskId()) < 0;
    }

    @Override
    public void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor) {
        Map<TaskOwner, Boolean> visited = new HashMap<>();
        List<Head> matching = heads(head -> isSelected(selection, head)
                && visited.computeIfAbsent(TaskOwner.of(head), lane -> lanes.test(lane.scope(), lane.agent())));
        for (Head head : matching.stream().sorted(NEWEST_FIRST).toList()) {
            String caller = cause(head.key()).map(Cause::caller).orElse("");
            if (!visitor.test(new Listed(head, caller))) {
                return;
            }
        }
    }

    private static boolean isSelected(Selection selection, Head head) {
        Scope scope = head.key().scope();
        return (selection.group() == null || selection.group().equals(scope.group()))
                && (selection.owners().isEmpty() || selection.owners().contains(scope.owner()))
                && (selection.agent() == null
                        || selection.agent().equals(head.key().agent()))
                && (selection.states().isEmpty() || selection.states().contains(head.state()))
                && (selection.contextId() == null || selection.contextId().equals(head.contextId()))
                && (selection.since() == null || !head.statusTime().isBefore(selection.since()))
                && (selection.until() == null || !head.statusTime().isAfter(selection.until()))
                && isBehind(head, selection.before());
    }

    @Override
    public List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        var selection = new Selection(group, owners, agent, Set.of(), null, null, null, null);
        return heads(head -> isSelected(selection, head)).stream()
                .collect(Collectors.groupingBy(
                        head -> new Count(head.key().scope(), head.key().agent(), head.state(), 0),
                        Collectors.counting()))
                .entrySet()
                .stream()
                .map(each -> new Count(
                        each.getKey().scope(),
                        each.getKey().agent(),
                        each.getKey().state(),
                        each.getValue()))
                .sorted(Comparator.comparingLong(Count::tasks).reversed())
                .limit(limit)
                .toList();
    }

    @Override
    public List<Head> unfinished() {
        return heads(head -> !head.state().isSettled());
    }

    @Override
    public List<Head> interrupted() {
        return once == Once.INDEX ? unfinished() : heads(head -> owners.get(head.key()) == this);
    }

    @Override
    public List<Head> takeOver(Set<String> agents, int limit) {
        lock.lock();
        try {
            hosted = agents;
            Instant before = clock.instant().minus(LONGEST_UNHOSTED);
            boolean isQuiet = engines.stream().noneMatch(engine -> engine.changed.isAfter(before));
            List<Head> taken = heads(head -> {
                        MemoryTaskLog owner = owners.get(head.key());
                        String agent = head.key().agent();
                        return owner != null
                                && owner.isEnded
                                && (agents.contains(agent) || isQuiet && !isHosted(agent));
                    })
                    .stream()
                    .sorted(Comparator.comparing(head -> head.key().taskId()))
                    .limit(limit)
                    .toList();
            taken.forEach(head -> owners.put(head.key(), this));
            return taken;
        } finally {
            lock.unlock();
        }
    }

    private boolean isHosted(String agent) {
        return engines.stream().anyMatch(engine -> !engine.isEnded && engine.hosted.contains(agent));
    }

    private List<Head> heads(Predicate<Head> which) {
        lock.lock();
        try {
            return rows.values().stream().map(Row::head).filter(which).toList();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public List<Head> about(Subject subject, @Nullable String after, int limit) {
        return heads(
                row -> isAbout(row, subject)
                        && (after == null || row.head().key().taskId().compareTo(after) > 0),
                limit);
    }

    private static boolean isAbout(Row row, Subject subject) {
        Scope scope = row.head().key().scope();
        String principal = subject.principal();
        String contextId = subject.contextId();
        return scope.group().equals(subject.group())
                && (principal == null
                        || principal.equals(scope.owner())
                        || principal.equals(row.cause().caller()))
                && (contextId == null || contextId.equals(row.head().contextId()));
    }

    @Override
    public void erase(List<TaskKey> tasks) {
        lock.lock();
        try {
            for (TaskKey key : tasks) {
                webhooks.remove(key);
                owners.remove(key);
                Row row = rows.remove(key);
                if (row != null) {
                    turns.computeIfPresent(
                            Context.of(row.head()), (context, all) -> all == row.turns() ? null : all - row.turns());
                }
                messages.values().removeIf(led -> led.taskId().equals(key.taskId()));
                names.values().removeIf(key.taskId()::equals);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void forget(String group, String principal) {
        var scope = new Scope(group, principal);
        lock.lock();
        try {
            Set<String> tasks = rows.keySet().stream().map(TaskKey::taskId).collect(Collectors.toSet());
            messages.entrySet()
                    .removeIf(row -> row.getKey().scope().equals(scope)
                            && !tasks.contains(row.getValue().taskId()));
            names.entrySet().removeIf(row -> row.getKey().scope().equals(scope) && !tasks.contains(row.getValue()));
        } finally {
            lock.unlock();
        }
    }

    /** True if a webhook of a task has undelivered events, or was given up since {@code before}; for a day at most. */
    private boolean isAwaited(Head head, Instant before) {
        return !head.statusTime().isBefore(before.minus(LONGEST_AWAITED))
                && webhooks.of(head.key()).stream()
                        .anyMatch(webhook -> webhook.deadSince() == null
                                ? webhook.delivered() < head.lastSequence()
                                : !webhook.deadSince().isBefore(before));
    }

    @Override
    public int removeEnded(Instant before, int limit) {
        lock.lock();
        try {
            List<TaskKey> ended = heads(head ->
                            head.state().isTerminal() && head.statusTime().isBefore(before) && !isAwaited(head, before))
                    .stream()
                    .sorted(NEWEST_FIRST.reversed())
                    .limit(limit)
                    .map(Head::key)
                    .toList();
            erase(ended);
            return ended.size();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the engine of a log of {@link Once#CLAIM}: others may take over its tasks. A log of one engine is kept for the next one. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (once == Once.CLAIM && !isEnded) {
                isEnded = true;
                changed = clock.instant();
            }
        } finally {
            lock.unlock();
        }
    }
}

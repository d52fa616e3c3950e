package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.activity.hub.Moves.Move;
import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Role;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.shared.Feeds;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The feed of changes of a hub. Safe for any thread; its observer does a few small steps for each segment of a task. */
final class ActivityFeed implements HubObserver {
    private static final int TEXT = 200;

    /** Feed of the changes of tasks that hubs have committed. */
    private static final String CHANGES = "changes of tasks";

    /** Feed of the other rows of the audit. Operators read the rows again after a hint, and after each {@code LISTEN} of their hub. */
    private static final String ROWS = "rows of the audit";

    /** Entries before the newest one from which a reader may resume; after them it begins anew. */
    private static final long MOST_REPLAYED = 50_000;

    /** Key of the changes of all groups. No group has this name. */
    private static final String ALL = "*";

    /** Time in which calls gather before operators learn of them. */
    private static final Duration CALLS = Duration.ofSeconds(2);

    private final HubParts hub;
    private final InstantSource clock = InstantSource.system();
    private final Moves source;
    private final @Nullable RememberedMoves remembered;
    /** The feeds between the hubs of the database. */
    private final Feeds others;

    private final Map<String, WatchedChanges> tails = new ConcurrentHashMap<>();
    /** Streams of operators. */
    private final AtomicInteger operators = new AtomicInteger();

    /** Whether calls will be announced. */
    private final AtomicBoolean isCalled = new AtomicBoolean();

    private volatile boolean announces;
    private volatile boolean isClosed;

    ActivityFeed(HubParts hub) {
        this.hub = hub;
        this.others = hub.database().access().feeds();
        this.remembered = hub.isKept() ? null : new RememberedMoves();
        this.source = remembered == null ? new AuditedMoves(hub) : remembered;
    }

    Feed<Change> watch(WatchChanges watch, CallContext caller) {
        Sight sight = Sight.of(hub.agents(), caller, watch.reach());
        String key = sight.group() == null ? ALL : sight.group();
        AuditPosition newest = source.newest();
        WatchedChanges tail = tails.compute(key, (name, watched) -> {
            WatchedChanges entered = watched == null ? new WatchedChanges(source, sight.group(), newest) : watched;
            entered.enter();
            return entered;
        });
        if (isClosed) {
            tail.close();
        }
        boolean administers = hub.isLocal() || sight.administers();
        int operator = administers ? 1 : 0;
        operators.addAndGet(operator);
        var isOpen = new AtomicBoolean(true);
        Runnable end = () -> {
            if (isOpen.compareAndSet(true, false)) {
                operators.addAndGet(-operator);
                tails.computeIfPresent(key, (name, watched) -> tail.leave() ? null : watched);
            }
        };
        AuditPosition begin = begin(watch.after(), newest);
        var watcher = new Watcher(tail, sight, administers, watch, begin, clock, end);
        // Changes without numbers have been left out since then.
        return watch.after() == null || watch.after().equals("0") ? watcher : watcher.behindGap();
    }

    /** The place after which a caller gets changes. */
    private AuditPosition begin(@Nullable String after, AuditPosition newest) {
        if (after == null) {
            return newest;
        }
        AuditPosition place;
        try {
            place = AuditPosition.read(after);
        } catch (IllegalArgumentException foreign) {
            return newest; // no id of this server
        }
        // A place that is not there yet is one of other data, such as those before a backup was restored. All changes
        // are read for a
        // caller that wants all; one that was away for long begins anew.
        long behind = source.behind(place, newest);
        boolean isAll = place.equals(AuditPosition.BEGINNING);
        return behind < 0 || !isAll && behind > MOST_REPLAYED ? newest : place;
    }

    /** The place after the newest change. */
    String newest() {
        return source.newest().toString();
    }

    /** Announces agents that are hosted or removed from now on, and rows of the audit log. */
    void start() {
        hub.agents().onHosted((agent, card) -> announce(agent, true));
        hub.agents().onRemoved(agent -> announce(agent, false));
        announces = true;
        hub.audit().onRows(() -> {
            tell(Change.ofAudit(clock.instant()));
            others.tell(ROWS);
        });
        others.hear(ROWS, () -> tell(Change.ofAudit(clock.instant())));
        others.follow(CHANGES, () -> tails.values().forEach(WatchedChanges::changed));
    }

    /** Tells operators that rows or measures have changed. */
    private void tell(Change change) {
        if (operators.get() > 0) {
            announce(change.kind().name(), change);
        }
    }

    private void announce(String agent, boolean isHosted) {
        if (announces) {
            announce("agent " + agent, Change.ofAgent(clock.instant(), agent, isHosted));
        }
    }

    private void announce(String key, Change change) {
        var move = new Move(new Scope("", ""), change);
        tails.values().forEach(tail -> tail.note(key, () -> move));
    }

    @Override
    public void stateChanged() {
        announce(Change.Kind.HUB.name(), Change.ofHub(clock.instant()));
    }

    void close() {
        isClosed = true;
        tails.values().forEach(WatchedChanges::close);
    }

    @Override
    public void written(Segment segment) {
        if (tails.isEmpty() && remembered == null && !others.isShared()) {
            return;
        }
        Head head = segment.head();
        boolean isProgress = segment.before() == head.state() && !isContinued(segment);
        if (!isProgress) {
            others.tell(CHANGES);
        }
        if (!isProgress && remembered != null) {
            remembered.add(segment);
        }
        for (String key : new String[] {head.key().scope().group(), ALL}) {
            WatchedChanges tail = tails.get(key);
            if (tail == null) {
                continue;
            }
            if (isProgress) {
                TaskEvent last = segment.events().getLast().event();
                tail.note(head.key(), () -> new Move(head.key().scope(), progress(head, last)));
            } else {
                tail.changed();
            }
        }
    }

    /** Whether a segment has a message of a caller, for which the audit has a number also if it leaves the state as it was. */
    private static boolean isContinued(Segment segment) {
        return !segment.messages().isEmpty()
                || segment.events().stream()
                        .anyMatch(each -> each.event() instanceof Message message && message.role() == Role.USER);
    }

    private Change progress(Head head, TaskEvent last) {
        Message message =
                last instanceof TaskStatusUpdateEvent update ? update.status().message() : null;
        Instant at = last instanceof TaskStatusUpdateEvent ? head.statusTime() : clock.instant();
        return Change.progress(
                at,
                head.key().taskId(),
                head.key().agent(),
                head.key().scope().group(),
                message == null ? null : VisibleText.of(message, TEXT));
    }

    /** Announces the first call and those of the next seconds together. */
    @Override
    public void called(String agent, Operation operation, CallContext caller, long nanos, @Nullable ErrorKind error) {
        if (operators.get() > 0 && isCalled.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(CALLS.toMillis(), TimeUnit.MILLISECONDS, Thread::startVirtualThread)
                    .execute(() -> {
                        isCalled.set(false);
                        tell(Change.ofCalls(clock.instant()));
                    });
        }
    }

    @Override
    public void carried(String agent, Operation operation, CallContext caller, long received, long sent) {}

    @Override
    public void ran(String agent, Request request, long nanos) {}

    @Override
    public void offered(TaskKey task, String caller, boolean accepted) {}
}

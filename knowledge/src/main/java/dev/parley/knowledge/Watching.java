package dev.parley.knowledge;

import dev.parley.knowledge.Alignment.On;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.changes.RecentChanges;
import dev.parley.knowledge.graphql.GraphQlSubscription;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reader of a group's changes from a position on. */
final class Watching implements Feed<Change> {
    /** Limit of changes examined before the reader gets a result. */
    private static final int AT_ONCE = 256;

    private final Source source;
    private final String caller;
    private final GraphQlSubscription subscription;
    private final @Nullable Projection projection;
    private final Runnable closed;
    private final AtomicBoolean open = new AtomicBoolean(true);

    private final Start start;
    private @Nullable Snapshot snapshot;
    private @Nullable String shown;
    private long position;
    private Alignment known;
    private ReadFilter readFilter;

    /** Reads changes from the table that the feed no longer holds. */
    interface Backlog {
        /** @throws A2AException KNOWLEDGE_SUBSCRIPTION if they are forgotten */
        List<Numbered> after(long number, int limit);
    }

    /** Reads the statements that existed when the reader began and are unchanged; later changes follow as changes. */
    interface Snapshot {
        StatementPage<Change> after(@Nullable String cursor);
    }

    /** Returns the present types of an entity that a reader may see. */
    interface Types {
        Set<String> of(String id, ReadFilter reader);
    }

    /** Adds what the subscription selects of a change. */
    interface Projection {
        Map<String, @Nullable Object> of(GraphQlSubscription subscription, Change change);
    }

    /** Changes of a group, with its rules as they are at a time. */
    record Source(RecentChanges feed, Backlog backlog, Supplier<Alignment> rules, Types types) {}

    /**
     * The change after which a reader begins, by its number and its id.
     *
     * @param snapshot statements for the reader before any change; null for none
     */
    record Start(@Nullable Snapshot snapshot, long position, String id) {}

    /** @param closed is run once */
    Watching(
            Source source,
            String caller,
            GraphQlSubscription subscription,
            @Nullable Projection projection,
            Start start,
            Runnable closed) {
        this.source = source;
        this.caller = caller;
        this.subscription = subscription;
        this.projection = projection;
        this.start = start;
        this.snapshot = start.snapshot();
        this.position = start.position();
        this.closed = closed;
        this.known = source.rules().get();
        this.readFilter = known.readFilter(On.SUBSCRIBE, caller);
    }

    @Override
    public String position() {
        return start.id();
    }

    @Override
    public @Nullable List<Change> next(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + RecentChanges.bounded(patience).toNanos();
        while (open.get()) {
            requireRight();
            if (snapshot != null) {
                StatementPage<Change> page = snapshot.after(shown);
                shown = page.next();
                snapshot = shown == null ? null : snapshot;
                if (!page.items().isEmpty()) {
                    return page.items();
                }
                continue;
            }
            Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
            List<Numbered> news = source.feed().after(position, left);
            if (news == null) {
                news = source.backlog().after(position, AT_ONCE);
            }
            requireRight(); // rules may have changed while it waited
            List<Change> wanted = wanted(news);
            if (!wanted.isEmpty() || news.isEmpty() && System.nanoTime() >= end) {
                return open.get() ? wanted : null;
            }
        }
        return null;
    }

    private List<Change> wanted(List<Numbered> news) {
        var wanted = new ArrayList<Change>();
        for (Numbered one : news) {
            boolean seesAll = readFilter.equals(ReadFilter.NONE);
            Function<String, Set<String>> of = one.types(id -> source.types().of(id, ReadFilter.NONE));
            Numbered shown = seesAll ? one : one.seenBy(statement -> readFilter.sees(statement, of));
            // A reader that may not see a type must not find entities by it either.
            Function<String, Set<String>> asked =
                    seesAll ? of : id -> source.types().of(id, readFilter);
            if (shown != null && subscription.filter().matches(shown.change(), shown.replaced(), asked)) {
                wanted.add(projection == null ? shown.change() : projected(projection, shown.change()));
            }
        }
        if (!news.isEmpty()) {
            position = news.getLast().number(); // only now: a reader that could not be answered asks again
        }
        return wanted;
    }

    private Change projected(Projection projection, Change change) {
        var metadata = new LinkedHashMap<>(change.metadata());
        metadata.put("projection", projection.of(subscription, change));
        return new Change(change.op(), change.statement(), change.changeId(), change.timestamp(), metadata);
    }

    /** Rules may have changed since the last look. */
    private void requireRight() {
        Alignment now = source.rules().get();
        if (!now.equals(known)) {
            known = now;
            readFilter = now.readFilter(On.SUBSCRIBE, caller);
            if (now.forbids(On.SUBSCRIBE, caller, subscription.filter()::names).isPresent()) {
                close();
                throw A2AException.of(
                        KnowledgeError.KNOWLEDGE_SUBSCRIPTION,
                        KnowledgeError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(),
                        Map.of("reason", "revoked"));
            }
        }
    }

    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            closed.run();
            source.feed().wake();
        }
    }
}

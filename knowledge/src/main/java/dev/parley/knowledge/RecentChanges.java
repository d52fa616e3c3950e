package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Newest changes of a group, for watchers. A reader that is further behind reads the table instead, so that slow readers
 * cost no memory. Safe for any thread.
 */
final class RecentChanges {
    static final int KEPT = 4_096;
    static final long MAX_CHARACTERS = 4L << 20;

    /**
     * A change and its place in the order of all.
     *
     * @param replaced other statements that it removed
     * @param types types of its subject at that time; null if no rule depends on them
     */
    record Numbered(
            long number,
            Change change,
            List<Statement> replaced,
            @Nullable Set<String> types) {
        Numbered {
            replaced = List.copyOf(replaced);
            types = types == null ? null : Set.copyOf(types);
        }

        /** Returns the types that rules apply to: those at the time of the change, else the present ones. */
        Function<String, Set<String>> types(Function<String, Set<String>> now) {
            String subject = change.statement().subject().id();
            return types == null ? now : id -> id.equals(subject) ? types : now.apply(id);
        }

        /**
         * Returns the part of this change that a reader may see, or null if there is none. A reader may see a statement but not
         * all statements or types that it replaced; a removal names the statement, so the reader must be allowed to see that.
         */
        @Nullable
        Numbered seenBy(Predicate<Statement> reader) {
            List<Statement> seen = replaced.stream().filter(reader).toList();
            boolean all = seen.size() == replaced.size();
            if (!reader.test(change.statement()) || change.op() == Patch.Op.REMOVE && !all) {
                return null;
            }
            Statement said = change.statement();
            boolean mentionsTypes = said.subject().type() != null
                    || said.object() instanceof Resource resource && resource.type() != null;
            if (all && !mentionsTypes) {
                return this;
            }
            Resource subject = withSeenType(said.subject(), reader);
            Term object = said.object() instanceof Resource resource ? withSeenType(resource, reader) : said.object();
            var shown =
                    new Statement(subject, said.predicate(), object, said.graph(), said.certainty(), said.provenance());
            var metadata = new LinkedHashMap<>(change.metadata());
            if (!all) {
                metadata.remove("replaced");
            }
            if (!all && !seen.isEmpty()) {
                metadata.put("replaced", Journal.values(seen));
            }
            return new Numbered(
                    number,
                    new Change(change.op(), shown, change.changeId(), change.timestamp(), metadata),
                    seen,
                    types);
        }

        private Resource withSeenType(Resource resource, Predicate<Statement> reader) {
            return resource.type() == null || reader.test(type(resource, change.statement()))
                    ? resource
                    : Resource.of(resource.id());
        }

        /** The statement that a type which is mentioned stands for. */
        static Statement type(Resource resource, Statement with) {
            return new Statement(
                    Resource.of(resource.id()),
                    Term.TYPE,
                    Resource.of(Objects.requireNonNull(resource.type())),
                    with.graph(),
                    with.certainty(),
                    with.provenance());
        }

        private long characters() {
            return Characters.of(change)
                    + replaced.stream().mapToLong(Characters::of).sum();
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();

    private final ArrayDeque<Numbered> newest = new ArrayDeque<>();
    private long characters;
    private long generation;

    /** Everything up to this change is not here. */
    private long begin;

    /** @param last the newest change there is */
    RecentChanges(long last) {
        this.begin = last;
    }

    /** Shows changes that are on disk, in their order. */
    void publish(List<Numbered> changes) {
        if (changes.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            for (Numbered change : changes) {
                if (change.number() > begin) {
                    newest.add(change);
                    characters += change.characters();
                }
            }
            while (newest.size() > KEPT || characters > MAX_CHARACTERS) {
                Numbered oldest = newest.remove();
                characters -= oldest.characters();
                begin = oldest.number();
            }
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Forgets the changes in memory; readers that have not read them read the table. */
    void forget() {
        lock.lock();
        try {
            if (!newest.isEmpty()) {
                begin = newest.getLast().number();
                newest.clear();
                characters = 0;
                news.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Learns of the newest change on disk. If it was never shown here, readers find it, and all before it, in the table. */
    void catchUp(long newestOnDisk) {
        lock.lock();
        try {
            if (newestOnDisk > (newest.isEmpty() ? begin : newest.getLast().number())) {
                newest.clear();
                characters = 0;
                begin = newestOnDisk;
                news.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Wakes all waiting readers to check their permissions again. */
    void wake() {
        lock.lock();
        try {
            generation++;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns changes behind {@code after}, waiting for the first of them.
     *
     * @return an empty list if nothing came within {@code patience}, or {@link #wake} was called; null if the oldest of
     *     them are not here any more
     */
    @Nullable
    List<Numbered> after(long after, Duration patience) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = patience.toNanos();
            long asked = generation;
            while (after >= begin && (newest.isEmpty() || newest.getLast().number() <= after)) {
                if (left <= 0 || asked != generation) {
                    return List.of();
                }
                left = news.awaitNanos(left);
            }
            return after < begin ? null : since(after);
        } finally {
            lock.unlock();
        }
    }

    private List<Numbered> since(long after) {
        var found = new ArrayList<Numbered>();
        Iterator<Numbered> backwards = newest.descendingIterator();
        while (backwards.hasNext()) {
            Numbered one = backwards.next();
            if (one.number() <= after) {
                break;
            }
            found.add(one);
        }
        return found.reversed();
    }

    /** Longest wait, so that its arithmetic cannot overflow. */
    static Duration bounded(Duration patience) {
        Duration most = Duration.ofNanos(TimeUnit.DAYS.toNanos(365));
        return patience.compareTo(most) > 0 ? most : patience;
    }
}

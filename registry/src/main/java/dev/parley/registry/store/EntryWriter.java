package dev.parley.registry.store;

import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryModel;
import dev.parley.registry.RegistryError;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.shared.RowLock;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.registry.store.History.Version;
import dev.parley.registry.store.SelectiveViews.View;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseRead;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Changes entries in transactions that write their rows, the log and what listeners keep. Safe for any thread. */
public final class EntryWriter {
    /** Changes by owners that a full group may make. */
    private static final Set<EntryChange.Kind> UNLIMITED = Set.of(EntryChange.Kind.DELETED, EntryChange.Kind.RENEWED);

    /** Changes that do not count as edits of an entry. */
    private static final Set<EntryChange.Kind> UNEDITED =
            Set.of(EntryChange.Kind.HEALTH, EntryChange.Kind.TRUST, EntryChange.Kind.RENEWED);

    private final Database database;
    private final EntryBytes bytes;
    private final EntryCache cache;
    private final EntryReader reader;
    private final Disclosure disclosure;
    private final EntryLog log;
    private final InstantSource clock;
    private final HubTimers.Timers timers;
    private final List<EntryListener> listeners = new CopyOnWriteArrayList<>();
    private final RowLock lock;
    private final boolean isPostgresql;

    EntryWriter(
            Database database,
            EntryCache cache,
            EntryReader reader,
            Disclosure disclosure,
            EntryLog log,
            HubTimers timers,
            InstantSource clock) {
        this.database = database;
        this.bytes = new EntryBytes(database.storage());
        this.cache = cache;
        this.reader = reader;
        this.disclosure = disclosure;
        this.log = log;
        this.clock = clock;
        this.lock = new RowLock(database, "SELECT change FROM registry_newest");
        this.isPostgresql = database.kind() == DatabaseKind.POSTGRESQL;
        this.timers = timers.named("registry/entries", this::due);
    }

    /** Adds a listener, before the first change. */
    public void listen(EntryListener listener) {
        listeners.add(listener);
    }

    /** The lock of the registry, before the first read of a transaction. */
    RowLock lock() {
        return lock;
    }

    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /** Refuses an entry that does not fit into the quota of its group. */
    void require(DatabaseSession session, @Nullable Numbered before, Entry now, long more) throws SQLException {
        bytes.require(session, before, now, EntryModel.write(now).length, more);
    }

    /** Writes an entry, its row in the log, and what the listeners keep, within a transaction. */
    Numbered write(
            DatabaseSession session,
            @Nullable Numbered before,
            Entry draft,
            byte @Nullable [] views,
            @Nullable Resource open,
            EntryChange.Kind kind,
            Map<String, Object> details)
            throws SQLException {
        long change = EntryRows.nextChange(session);
        long number = before != null
                ? before.number()
                : session.number(
                        isPostgresql
                                ? "SELECT nextval('registry_entry_number_seq')"
                                : "SELECT coalesce(max(number), 0) + 1 FROM registry_entry");
        Instant now = now();
        State state = draft.state();
        Instant updated = UNEDITED.contains(kind) ? state.updated() : now;
        Entry entry = draft.with(
                new State(state.status(), state.revision(), change, state.created(), updated, state.leaseUntil()));
        Numbered written = Numbered.of(number, entry, views, open);
        if (before == null) {
            EntryRows.insert(session, written);
        } else {
            bytes.remove(session, before);
            EntryRows.update(session, before, written);
        }
        EntryLog.add(session, before, written, now, kind, details);
        Instant due = Leases.due(entry);
        if (due != null && (before == null || !due.equals(Leases.due(before.entry())))) {
            timers.set(session, Long.toString(number), due, "");
        }
        for (EntryListener listener : listeners) {
            listener.changed(session, number, written.found());
        }
        return written;
    }

    /** Expires or erases an entry whose time has come. */
    private void due(String number, String content) {
        Numbered entry = database.read(session -> EntryRows.byNumber(session, Long.parseLong(number)))
                .orElse(null);
        Instant due = entry == null ? null : Leases.due(entry.entry());
        if (entry == null || due == null || due.isAfter(now())) {
            return; // renewed, restored or erased meanwhile
        }
        if (entry.entry().state().status() == Status.DELETED) {
            erase(entry);
            return;
        }
        var unused =
                change(entry.entry().id(), EntryChange.Kind.EXPIRED, Map.of(), null, now -> Leases.expired(now, now()));
    }

    /** Erases an entry with its documents, changes and reviews for good. */
    private void erase(Numbered entry) {
        var unused = lock.within(database::erase, session -> {
            Numbered now = EntryRows.byNumber(session, entry.number()).orElse(null);
            if (now != null && now.entry().state().status() == Status.DELETED) { // not restored meanwhile
                EntryRows.erase(session, now, now(), bytes);
                for (EntryListener listener : listeners) {
                    listener.erased(session, now.number());
                }
            }
            return Optional.of(entry);
        });
        cache.remove(entry.entry().id());
    }

    /**
     * Erases the entries of a principal with their documents, changes and reviews. Of an entry that others could see, an id stays with a
     * change that deletes it, as long as it could be restored otherwise, so that subscribers and peers delete their copies.
     *
     * @param pseudonym owner of these ids
     * @return number of entries
     */
    int eraseOwned(String group, String principal, String pseudonym) {
        if (principal.equals(Entry.HUB) || group.equals(Entry.HUB)) {
            return 0; // agents of the hub, and copies from peers
        }
        List<Long> numbers = database.read(session -> session.list(
                row -> row.getLong(1),
                "SELECT number FROM registry_entry WHERE group_id = ? AND owner = ? ORDER BY number",
                group,
                principal));
        for (long number : numbers) {
            Optional<Numbered> left = lock.within(database::erase, session -> eraseOwned(session, number, pseudonym));
            left.ifPresentOrElse(cache::written, () -> cache.remove(number));
        }
        disclosure.forget();
        log.wake();
        return numbers.size();
    }

    private Optional<Numbered> eraseOwned(DatabaseSession session, long number, String pseudonym) throws SQLException {
        Numbered entry = EntryRows.byNumber(session, number).orElse(null);
        if (entry == null) {
            return Optional.empty();
        }
        long shown = session.number("SELECT coalesce(max(visibility), 0) FROM registry_change WHERE entry = ?", number);
        Numbered left = null;
        if (shown == 0) {
            EntryRows.erase(session, entry, now(), bytes);
        } else {
            EntryRows.eraseContent(session, number, bytes);
            Ownership owner = new Ownership(
                    entry.entry().ownership().group(), pseudonym, EntryRows.visibility(Math.toIntExact(shown)));
            Entry tombstone = Disclosure.tombstone(entry.entry()).with(owner);
            left = write(session, entry, tombstone, null, null, EntryChange.Kind.DELETED, Map.of());
            session.update(
                    "DELETE FROM registry_change WHERE entry = ? AND number < ?",
                    number,
                    left.entry().state().change());
            bytes.count(session, left);
        }
        for (EntryListener listener : listeners) {
            listener.erased(session, number);
        }
        return Optional.ofNullable(left);
    }

    /** Runs a transaction that changes an entry, and shows its outcome to readers; null if it changes nothing. */
    @Nullable
    Numbered commit(String group, String id, DatabaseRead<Optional<Numbered>> change) {
        Numbered written;
        try {
            written = lock.within(work -> database.admit(group, work), session -> {
                        Optional<Numbered> changed = change.ask(session);
                        if (changed.isPresent()) {
                            bytes.count(session, changed.get());
                        }
                        return changed;
                    })
                    .orElse(null);
        } catch (RuntimeException failed) {
            cache.remove(id); // a commit that failed may be on disk
            throw failed;
        }
        if (written != null) {
            cache.written(written);
            disclosure.written(written);
            log.wake();
        }
        return written;
    }

    /**
     * Changes an entry that the caller owns, or as the registry itself, and writes it to the log.
     *
     * @param editor null for the registry itself
     */
    public Entry change(
            String id,
            EntryChange.Kind kind,
            Map<String, Object> details,
            @Nullable CallContext editor,
            UnaryOperator<Entry> edit) {
        Numbered known = editor == null ? reader.load(id) : reader.named(id);
        if (known == null) {
            throw Viewer.notFound(id);
        }
        if (editor != null) {
            disclosure.viewer(editor).requireOwner(known.entry());
        }
        String key = known.entry().id();
        Numbered written = commit(known.entry().ownership().group(), key, session -> {
            Numbered current = EntryRows.byId(session, key).orElse(null);
            if (current == null) {
                return Optional.empty(); // erased meanwhile
            }
            Entry edited = edit.apply(current.entry());
            if (edited.equals(current.entry())) {
                return Optional.empty();
            }
            if (editor != null && !UNLIMITED.contains(kind)) {
                require(session, current, edited, 0);
            }
            return Optional.of(
                    write(session, current, edited, current.views(), openOf(edited, current), kind, details));
        });
        if (written != null && kind == EntryChange.Kind.DELETED) {
            eraseOldest(written.entry().ownership().group());
        }
        Numbered now = written != null ? written : reader.load(key);
        if (now == null) {
            throw Viewer.notFound(id);
        }
        return now.entry();
    }

    /** Erases the oldest deleted entries of a group with a quota, as far as they take more than their share of it. */
    private void eraseOldest(String group) {
        while (bytes.hasTooManyDeleted(group)) {
            Optional<Numbered> oldest = database.read(session -> EntryRows.first(
                    session, "e.status = 'deleted' AND e.group_id = ? ORDER BY e.updated_ms, e.number LIMIT 1", group));
            if (oldest.isEmpty()) {
                return;
            }
            erase(oldest.get());
        }
    }

    /** Part of an entry that all readers see, if its document has not changed. */
    private static @Nullable Resource openOf(Entry edited, Numbered before) {
        Resource open = before.open();
        return open == null ? null : CardReader.with(open, edited.resource().humanId(), open.metadata());
    }

    /** Sets the selective views of an entry; an empty map shows all of it to all readers. */
    void setViews(String id, Map<String, ReviewOperation.View> given, CallContext owner) {
        Numbered known = reader.require(id, owner);
        disclosure.viewer(owner).requireOwner(known.entry());
        String key = known.entry().id();
        Version version = disclosure.kept(known, null);
        List<View> views = SelectiveViews.checked(given, version.type(), version.bytes());
        byte[] stored = views.isEmpty() ? null : JsonText.write(ReviewOperation.VIEWS_JSON, given);
        Numbered written = commit(known.entry().ownership().group(), key, session -> {
            Numbered current = EntryRows.byId(session, key).orElse(null);
            if (current == null || current.entry().state().revision() != version.revision()) {
                return Optional.empty();
            }
            bytes.require(
                    session,
                    current,
                    current.entry(),
                    current.content().length,
                    (stored == null ? 0 : stored.length) - length(current.views()));
            Resource open = SelectiveViews.open(current.entry().resource(), views, version.bytes());
            return Optional.of(write(
                    session,
                    current,
                    current.entry(),
                    stored,
                    open,
                    EntryChange.Kind.CHANGED,
                    Map.of("views", views.size())));
        });
        if (written == null) {
            throw A2AException.of(RegistryError.REFUSED_CHANGE, "the document has changed meanwhile");
        }
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    /** Renews the lease of an entry; for null by its length before. */
    Entry renew(String id, @Nullable Duration lease, CallContext owner) {
        Leases.check(lease);
        return change(id, EntryChange.Kind.RENEWED, Map.of(), owner, entry -> Leases.renewed(entry, lease, now()));
    }

    /** Tells the listeners of a review that was written or removed in a transaction that has the lock. */
    void reviewed(DatabaseSession session, long number) throws SQLException {
        Numbered entry = EntryRows.byNumber(session, number).orElse(null);
        if (entry != null) {
            for (EntryListener listener : listeners) {
                listener.reviewed(session, number, entry.found());
            }
        }
    }
}

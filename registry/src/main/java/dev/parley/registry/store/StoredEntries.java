package dev.parley.registry.store;

import dev.parley.extension.HubSignatures;
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
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.RegistryError;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.document.Document;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.registry.store.History.Version;
import dev.parley.registry.store.Views.View;
import dev.parley.store.database.Database;
import dev.parley.store.database.Question;
import dev.parley.store.database.Session;
import dev.parley.store.spi.StoreException;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Entries in the tables of the hub's database. See {@code docs/adr/0049-record-of-a-registry.md}. */
public final class StoredEntries implements AutoCloseable {
    /** Changes by owners that a full group may make. */
    private static final Set<EntryChange.Kind> UNLIMITED = Set.of(EntryChange.Kind.DELETED, EntryChange.Kind.RENEWED);

    /** Changes that do not count as edits of an entry. */
    private static final Set<EntryChange.Kind> UNEDITED =
            Set.of(EntryChange.Kind.HEALTH, EntryChange.Kind.TRUST, EntryChange.Kind.RENEWED);

    private final Database database;
    private final EntryBytes bytes;
    private final Urns urns;
    private final EntryCache cache = new EntryCache(EntryCache.MAX_BYTES);
    private final InstantSource clock;
    private final History history;
    private final Reviews reviews;
    private final Disclosure disclosure;
    private final EntryLog log;
    private final HubTimers.Timers timers;
    private final List<EntryListener> listeners = new CopyOnWriteArrayList<>();
    private final EntryPublisher publisher;

    /**
     * Makes or opens the tables.
     *
     * @param publisher domain of the hub in URNs
     * @param domains further domains as {@code GROUP=DOMAIN}
     * @param knowsAgent whether a caller may know an agent of the hub itself
     */
    public StoredEntries(
            Database database,
            String publisher,
            List<String> domains,
            BiPredicate<CallContext, String> knowsAgent,
            HubTimers timers,
            HubSignatures signatures,
            InstantSource clock) {
        this.database = database;
        this.bytes = new EntryBytes(database.storage());
        this.urns = new Urns(publisher, domains);
        this.clock = clock;
        RegistryTables.make(database);
        this.history = new History(database);
        this.disclosure = new Disclosure(database, history, knowsAgent, signatures);
        this.log = new EntryLog(database, disclosure);
        this.reviews = new Reviews(database, this, clock);
        this.publisher = new EntryPublisher(database, cache, urns, disclosure, this, this);
        this.timers = timers.named("registry/entries", this::due);
    }

    /**
     * The domain of a hub in URNs: the given one, or one of its own, which stays the same as long as the database, so that hubs with default
     * settings can be peers. See {@code docs/adr/0086-default-publisher.md}.
     */
    public static String publisher(Database database, @Nullable String given) {
        if (given != null) {
            return given;
        }
        RegistryTables.make(database);
        byte[] random = new byte[5];
        new SecureRandom().nextBytes(random);
        return database.write(session -> {
            session.update(
                    "INSERT INTO registry_setting (name, value) VALUES ('publisher', ?) ON CONFLICT DO NOTHING",
                    "hub-" + HexFormat.of().formatHex(random) + Urns.DEFAULT_PUBLISHERS);
            return session.first(
                            row -> Session.text(row, 1), "SELECT value FROM registry_setting WHERE name = 'publisher'")
                    .orElseThrow();
        });
    }

    /** Adds a listener, before the first change. */
    public void listen(EntryListener listener) {
        listeners.add(listener);
    }

    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /** Refuses an entry that does not fit into the quota of its group. */
    void require(Session session, @Nullable Numbered before, Entry now, long more) throws SQLException {
        bytes.require(session, before, now, EntryModel.write(now).length, more);
    }

    /** Writes an entry, its row in the log, and what the listeners keep, within a transaction. */
    Numbered write(
            Session session,
            @Nullable Numbered before,
            Entry draft,
            byte @Nullable [] views,
            @Nullable Resource open,
            EntryChange.Kind kind,
            Map<String, Object> details)
            throws SQLException {
        long change = EntryRows.newestChange(session) + 1;
        long number = before != null
                ? before.number()
                : session.number("SELECT coalesce(max(number), 0) + 1 FROM registry_entry");
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
        var unused = database.erase(session -> {
            Numbered now = EntryRows.byNumber(session, entry.number()).orElse(null);
            if (now != null && now.entry().state().status() == Status.DELETED) { // not restored meanwhile
                EntryRows.erase(session, now, now(), bytes);
                for (EntryListener listener : listeners) {
                    listener.erased(session, now.number());
                }
            }
            return entry;
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
            Optional<Numbered> left = database.erase(session -> eraseOwned(session, number, pseudonym));
            left.ifPresentOrElse(cache::put, () -> cache.remove(number));
        }
        disclosure.forget();
        log.wake();
        return numbers.size();
    }

    private Optional<Numbered> eraseOwned(Session session, long number, String pseudonym) throws SQLException {
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
    Numbered commit(String group, String id, Question<Optional<Numbered>> change) {
        Numbered written;
        try {
            written = database.admit(group, session -> {
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
            cache.put(written);
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
        Numbered known = editor == null ? load(id) : named(id);
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
        Numbered now = written != null ? written : load(key);
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
        Numbered known = require(id, owner);
        disclosure.viewer(owner).requireOwner(known.entry());
        String key = known.entry().id();
        Version version = disclosure.kept(known, null);
        List<View> views = Views.checked(given, version.type(), version.bytes());
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
            Resource open = Views.open(current.entry().resource(), views, version.bytes());
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

    /** Tells the listeners of a review that was written or removed in a transaction. */
    void reviewed(Session session, long number) throws SQLException {
        Numbered entry = EntryRows.byNumber(session, number).orElse(null);
        if (entry != null) {
            for (EntryListener listener : listeners) {
                listener.reviewed(session, number, entry.found());
            }
        }
    }

    /** The entry with a URN or readable id that the caller may see. */
    public Optional<Entry> find(String id, CallContext viewer) {
        return Optional.ofNullable(seen(id, viewer)).map(entry -> disclosure.shown(entry, viewer));
    }

    /** The entry that a caller names, also by the domain of all hubs with default settings. */
    @Nullable
    Numbered named(String id) {
        Numbered entry = load(id);
        String own = entry == null ? urns.ofThisHub(id) : null;
        return own == null ? entry : load(own);
    }

    private @Nullable Numbered seen(String id, CallContext caller) {
        Numbered entry = named(id);
        return entry != null && disclosure.viewer(caller).sees(entry.entry()) ? entry : null;
    }

    @Nullable
    Numbered load(String id) {
        String urn = Urns.written(id);
        Numbered cached = cache.get(urn);
        if (cached != null) {
            return cached;
        }
        Numbered read = database.read(session -> {
                    Optional<Numbered> byId = EntryRows.byId(session, urn);
                    return byId.isPresent()
                            ? byId
                            : id.startsWith("urn:")
                                    ? EntryRows.byAlias(session, urn)
                                    : EntryRows.byHumanId(session, id);
                })
                .orElse(null);
        if (read != null) {
            cache.put(read);
        }
        return read;
    }

    /** The bytes of a version of a document as the caller may see it, with its own entity tag; of the newest one for null. */
    public Document document(String id, @Nullable Long revision, CallContext caller) {
        return disclosure.document(require(id, caller), revision, caller);
    }

    /** The entry with the content of an older version of its document, if that is kept and the caller may see it. */
    public Optional<Entry> version(String id, int revision, CallContext caller) {
        Numbered entry = seen(id, caller);
        return entry == null ? Optional.empty() : disclosure.version(entry, revision, caller);
    }

    /** The entry with the key of its row, for operations on what stands beside it. */
    Numbered require(String id, CallContext viewer) {
        Numbered entry = seen(id, viewer);
        if (entry == null) {
            throw Viewer.notFound(id);
        }
        return entry;
    }

    /** The entry for readers of its versions. */
    Numbered whole(String id, CallContext viewer) {
        Numbered entry = require(id, viewer);
        if (entry.views() != null) {
            disclosure.viewer(viewer).requireOwner(entry.entry());
        }
        return entry;
    }

    /** JSON of an entry as a caller sees it; as it is stored, if that is the same. */
    byte[] json(String id, CallContext caller) {
        Numbered entry = require(id, caller);
        Entry shown = disclosure.shown(entry, caller);
        return shown.equals(entry.entry()) ? entry.content() : EntryModel.write(shown);
    }

    /** An entry as a caller sees it. */
    Entry shown(String id, CallContext caller) {
        return disclosure.shown(require(id, caller), caller);
    }

    /** The selective views of an entry, for its owner. */
    Map<String, ReviewOperation.View> views(String id, CallContext owner) {
        Numbered known = require(id, owner);
        disclosure.viewer(owner).requireOwner(known.entry());
        byte[] stored = known.views();
        return stored == null ? Map.of() : JsonText.read(stored, ReviewOperation.VIEWS_JSON);
    }

    /** A page of entries in a stable order: {@code name}, {@code change}, {@code updated} or {@code created}, descending after a minus. */
    public EntryPage list(EntryFilter filter, String order, int size, @Nullable String token, CallContext viewer) {
        return list(filter, order, size, token, false, viewer);
    }

    /** @param withDocuments whether the documents of the entries are read with the page */
    EntryPage list(
            EntryFilter filter,
            String order,
            int size,
            @Nullable String token,
            boolean withDocuments,
            CallContext viewer) {
        EntryQuery query = disclosure.query(filter, viewer, false);
        return database.read(session ->
                query.page(session, order, size, token, withDocuments, entry -> disclosure.shown(entry, viewer)));
    }

    /**
     * The first entries of a list.
     *
     * @param read number of the rows that were read, those included that the caller may not see
     */
    public record Some(List<Entry> entries, int read) {}

    /**
     * Entries by the keys of their rows: those that the caller may see, in the order of the keys, up to the first one with which they have
     * more than the bytes of a page.
     */
    public Some byNumbers(List<Long> numbers, CallContext caller) {
        Viewer viewer = disclosure.viewer(caller);
        var entries = new ArrayList<Entry>();
        long bytes = 0;
        int count = 0;
        for (long number : numbers) {
            Numbered cached = cache.get(number);
            Numbered entry = cached != null
                    ? cached
                    : database.read(session -> EntryRows.byNumber(session, number))
                            .orElse(null);
            if (entry != null) {
                bytes += entry.content().length;
                if (count > 0 && bytes > EntryQuery.PAGE_BYTES) {
                    return new Some(entries, count);
                }
                if (cached == null) {
                    cache.put(entry);
                }
                if (viewer.sees(entry.entry())) {
                    entries.add(disclosure.shown(entry, caller));
                }
            }
            count++;
        }
        return new Some(entries, count);
    }

    /** Entries that no Parley has written in this form, in words; for operators, also of a hub that is running. */
    public static List<String> damaged(Database database) {
        try {
            return database.read(EntryRows::damaged).entrySet().stream()
                    .map(row -> "entry number " + row.getKey() + ": " + row.getValue())
                    .sorted()
                    .toList();
        } catch (StoreException noTable) {
            return List.of();
        }
    }

    public EntryPublisher publisher() {
        return publisher;
    }

    History history() {
        return history;
    }

    Reviews reviews() {
        return reviews;
    }

    public Disclosure disclosure() {
        return disclosure;
    }

    public EntryLog log() {
        return log;
    }

    @Override
    public void close() {
        log.close();
    }
}

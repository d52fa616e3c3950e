package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.support.LruMap;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Trust;
import dev.parley.registry.EntryModel;
import dev.parley.registry.RegistryError;
import dev.parley.registry.store.CardDiff.Difference;
import dev.parley.registry.store.CardReader.Reading;
import dev.parley.registry.store.ChangeFeed.Batch;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.registry.store.History.Version;
import dev.parley.registry.store.Views.View;
import dev.parley.store.database.Database;
import dev.parley.store.database.Question;
import dev.parley.store.database.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Entries in the tables of the hub's database. See {@code docs/adr/0049-record-of-a-registry.md}. */
public final class StoredEntries implements Entries, AutoCloseable {
    /** Member of the metadata of the hub's own agents: the name of the agent. */
    public static final String AGENT = "agent";

    /** Member of the metadata of entries with a lease: its length. */
    private static final String LEASE = "leaseSeconds";

    /** How long a deleted entry can be restored. */
    private static final Duration RESTORABLE = Duration.ofDays(30);

    /** Changes of an entry that are kept. */
    private static final int KEPT = 100;

    /** Views of documents in memory. */
    private static final int DISCLOSED = 128;

    private static final int CHANGES_AT_ONCE = 500;
    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(10);
    private static final Duration LONGEST_LEASE = Duration.ofDays(366);
    private static final Trust UNCHECKED = new Trust("unsigned", "", null, null, null, null);

    private final Database database;
    private final Urns urns;
    private final BiPredicate<CallContext, String> knowsAgent;
    private final InstantSource clock;
    private final History history;
    private final Reviews reviews;
    private final HubTimers.Timers timers;
    private final HubSignatures signatures;
    private final Map<String, Disclosed> disclosed = new LruMap<>(DISCLOSED);
    private final EntryCache cache = new EntryCache(EntryCache.MAX_BYTES);
    private final ChangeFeed feed = new ChangeFeed();
    private final List<EntryListener> listeners = new CopyOnWriteArrayList<>();
    private final List<EntryCheck> checks = new CopyOnWriteArrayList<>();

    /** The hub's own agents, by the keys of their rows. */
    private final Map<Long, Entry> own = new ConcurrentHashMap<>();

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
        this.urns = new Urns(publisher, domains);
        this.knowsAgent = knowsAgent;
        this.clock = clock;
        RegistryTables.make(database);
        this.history = new History(database);
        this.reviews = new Reviews(database, clock);
        this.signatures = signatures;
        this.timers = timers.named("registry/entries", this::due);
        List<Numbered> ofHub = database.read(session -> session.list(
                Numbered::of,
                "SELECT " + EntryRows.COLUMNS + " FROM registry_label l JOIN registry_entry e ON e.number = l.entry"
                        + " WHERE l.label = ?",
                EntryRows.label("owner", Entry.HUB)));
        ofHub.forEach(each -> own.put(each.number(), each.entry()));
    }

    private Viewer viewer(CallContext caller) {
        return Viewer.of(
                caller,
                entry -> knowsAgent.test(
                        caller, String.valueOf(entry.resource().metadata().get(AGENT))));
    }

    // ---- Publishing

    @Override
    public Entry publish(Publication publication, CallContext publisher) {
        Viewer viewer = viewer(publisher);
        if (viewer.isStranger()) {
            throw A2AException.of(RegistryError.NOT_OWNER, "anonymous callers cannot publish");
        }
        return publish(
                publication,
                publisher,
                new Ownership(viewer.group(), viewer.principal(), publication.visibility()),
                List.of());
    }

    /**
     * Publishes an agent of the hub itself, whose card the hub serves.
     *
     * @param faces its addresses in protocols that are not on its card
     */
    public Entry publishOwn(String agent, byte[] card, List<Endpoint> faces, Entry.Visibility visibility) {
        var given = new Publication(
                urns.ofOwn(agent),
                Entry.AGENT_CARD,
                card,
                null,
                null,
                visibility,
                null,
                List.of(),
                Map.of(AGENT, agent));
        return publish(given, CallContext.anonymous(), new Ownership("agents", Entry.HUB, visibility), faces);
    }

    /** Deletes the entries of agents of the hub itself. */
    public void removeOwn(Predicate<String> agents) {
        for (Entry entry : List.copyOf(own.values())) {
            if (agents.test(String.valueOf(entry.resource().metadata().get(AGENT)))) {
                change(
                        entry.id(),
                        "deleted",
                        Map.of(),
                        null,
                        gone -> gone.with(gone.state().with("deleted")));
            }
        }
    }

    private Entry publish(Publication given, CallContext publisher, Ownership owner, List<Endpoint> faces) {
        Reading reading =
                CardReader.read(given.type(), given.document(), given.url(), given.humanId(), given.metadata());
        Secrets.refuse(reading.members());
        Secrets.refuse(given.metadata());
        checkLease(given.lease());
        while (true) {
            Numbered before = place(given, reading.resource(), publisher, owner);
            if (before != null && before.entry().state().status().equals("revoked")) {
                throw A2AException.of(
                        RegistryError.REFUSED_CHANGE,
                        "entry " + before.entry().id() + ": revoked: "
                                + before.entry().trust().reason());
            }
            String id = before != null ? before.entry().id() : id(given, reading.resource(), publisher, owner);
            Entry draft = draft(id, given, reading.resource(), owner, before, faces);
            for (EntryCheck check : checks) {
                draft = check.checked(draft, given.document(), publisher);
            }
            List<Difference> differences = before == null
                            || before.entry()
                                    .resource()
                                    .digest()
                                    .equals(reading.resource().digest())
                    ? List.of()
                    : CardDiff.of(
                            history.version(before.number(), null).orElseThrow().read(), reading);
            refuse(given.refuse(), differences);
            Entry written = write(before, draft, given, publisher, differences);
            if (written != null) {
                return written;
            }
            cache.remove(id);
        }
    }

    static void checkLease(@Nullable Duration lease) {
        if (lease != null && (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0)) {
            throw A2AException.invalidParams(
                    "lease",
                    lease.toSeconds() + " s (expected: " + SHORTEST_LEASE.toSeconds() + " to "
                            + LONGEST_LEASE.toSeconds() + " s)");
        }
    }

    /** The entry of which the document is a new version; null for a new entry. */
    private @Nullable Numbered place(Publication given, Resource resource, CallContext publisher, Ownership owner) {
        Numbered named = null;
        if (given.id() != null) {
            named = load(given.id());
        } else if (resource.humanId() != null) {
            named = read(session -> session.first(
                            Numbered::of,
                            "SELECT " + EntryRows.COLUMNS
                                    + " FROM registry_entry e WHERE e.human_id = ? AND e.group_id = ? AND e.owner = ?",
                            resource.humanId(),
                            owner.group(),
                            owner.principal()))
                    .orElse(null);
        }
        if (named == null && given.id() == null) {
            named = load(urns.of(owner.group(), resource.name()));
            if (named != null && !isOwner(named.entry(), owner)) {
                return null; // the name is taken; the id gets a number
            }
            if (named != null && !sameHumanId(named.entry(), resource)) {
                return null;
            }
        }
        if (named != null
                && !isOwner(named.entry(), owner)
                && !viewer(publisher).owns(named.entry())) {
            throw viewer(publisher).sees(named.entry())
                    ? A2AException.of(
                            RegistryError.NOT_OWNER, "entry " + named.entry().id() + ": owned by another principal")
                    : A2AException.invalidParams("id", given.id() + " (expected: a free id)");
        }
        return named;
    }

    private static boolean sameHumanId(Entry entry, Resource resource) {
        String id = entry.resource().humanId();
        return id == null || resource.humanId() == null || id.equals(resource.humanId());
    }

    private static boolean isOwner(Entry entry, Ownership owner) {
        return entry.ownership().group().equals(owner.group())
                && entry.ownership().principal().equals(owner.principal());
    }

    /** A free id, for a new entry. */
    private String id(Publication given, Resource resource, CallContext publisher, Ownership owner) {
        if (given.id() != null
                && (owner.principal().equals(Entry.HUB)
                        || owner.group().equals(Entry.HUB)
                        || urns.mayUse(given.id(), publisher))) {
            return given.id();
        }
        String id = urns.of(owner.group(), resource.name());
        String free = id;
        for (int i = 2; load(free) != null; i++) {
            free = id + "-" + i;
        }
        return free;
    }

    private Entry draft(
            String id,
            Publication given,
            Resource resource,
            Ownership owner,
            @Nullable Numbered before,
            List<Endpoint> faces) {
        Instant now = now();
        Entry old = before == null ? null : before.entry();
        var metadata = new LinkedHashMap<>(resource.metadata());
        if (given.id() != null && !given.id().equals(id)) {
            metadata.put("sourceIdentifier", Urns.written(given.id()));
        }
        metadata.remove(LEASE);
        if (given.lease() != null) {
            metadata.put(LEASE, given.lease().toSeconds());
        }
        Resource described = CardReader.with(resource, resource.humanId(), metadata, faces);
        boolean isSame = old != null && old.resource().digest().equals(resource.digest());
        Ownership kept = old == null
                ? owner
                : new Ownership(old.ownership().group(), old.ownership().principal(), owner.visibility());
        return new Entry(
                id,
                described,
                kept,
                old == null ? UNCHECKED : old.trust(),
                old == null ? Health.UNKNOWN : old.health(),
                new State(
                        "active",
                        old == null ? 1 : old.state().revision() + (isSame ? 0 : 1),
                        old == null ? 0 : old.state().change(),
                        old == null ? now : old.state().created(),
                        old == null ? now : old.state().updated(),
                        given.lease() == null ? null : now.plus(given.lease())));
    }

    private static void refuse(List<String> kinds, List<Difference> differences) {
        for (Difference each : differences) {
            if (kinds.contains(each.kind())) {
                throw A2AException.of(
                        RegistryError.REFUSED_CHANGE,
                        each.path() + ": " + each.text() + " (expected: no change that is " + String.join(" or ", kinds)
                                + ")",
                        Map.of("kind", each.kind(), "path", each.path()));
            }
        }
    }

    /** Writes a publication; null if the entry has changed meanwhile. */
    private @Nullable Entry write(
            @Nullable Numbered before,
            Entry draft,
            Publication given,
            CallContext publisher,
            List<Difference> differences) {
        if (before != null && before.entry().equals(draft)) {
            return before.entry();
        }
        var details = new LinkedHashMap<String, Object>();
        details.put("revision", draft.state().revision());
        if (!differences.isEmpty()) {
            details.put("verdict", History.verdict(differences));
            details.put("changes", differences.stream().map(Difference::json).toList());
        }
        Numbered after = commit(draft.ownership().group(), draft.id(), session -> {
            Numbered current = EntryRows.byId(session, draft.id()).orElse(null);
            long expected = before == null ? -1 : before.entry().state().change();
            if (expected != (current == null ? -1 : current.entry().state().change())) {
                return Optional.empty();
            }
            String kind = current == null ? "registered" : "changed";
            byte[] views = current == null ? null : current.views();
            Resource open = Views.open(draft.resource(), Views.of(views), given.document());
            Numbered now = write(session, current, draft, views, open, kind, details);
            if (current == null
                    || current.entry().state().revision() != draft.state().revision()) {
                History.add(session, now, now(), publisher.caller(), differences, given.document());
            }
            return Optional.of(now);
        });
        return after == null ? null : after.entry();
    }

    // ---- Changes

    /** Writes an entry, its row in the log, and what the listeners keep, within a transaction. */
    private Numbered write(
            Session session,
            @Nullable Numbered before,
            Entry draft,
            byte @Nullable [] views,
            @Nullable Resource open,
            String kind,
            Map<String, Object> details)
            throws SQLException {
        long change = session.number("SELECT coalesce(max(number), 0) + 1 FROM registry_change");
        long number = before != null
                ? before.number()
                : session.number("SELECT coalesce(max(number), 0) + 1 FROM registry_entry");
        Instant now = now();
        State state = draft.state();
        boolean isEdited = !kind.equals("health") && !kind.equals("trust") && !kind.equals("renewed");
        var entry = new Entry(
                draft.id(),
                draft.resource(),
                draft.ownership(),
                draft.trust(),
                draft.health(),
                new State(
                        state.status(),
                        state.revision(),
                        change,
                        state.created(),
                        isEdited ? now : state.updated(),
                        state.leaseUntil()));
        Numbered written = Numbered.of(number, entry, views, open);
        if (before == null) {
            EntryRows.insert(session, written);
        } else {
            EntryRows.update(session, before, written);
        }
        int visibility = EntryRows.rank(entry.ownership().visibility());
        session.update(
                "INSERT INTO registry_change (number, entry, at_ms, kind, group_id, owner, visibility, details)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                change,
                number,
                now,
                kind,
                entry.ownership().group(),
                entry.ownership().principal(),
                before == null
                        ? visibility
                        : Math.max(
                                visibility,
                                EntryRows.rank(before.entry().ownership().visibility())),
                Json.write(details));
        if (before != null) {
            session.update(
                    "DELETE FROM registry_change WHERE entry = ? AND number <= (SELECT number FROM registry_change"
                            + " WHERE entry = ? ORDER BY number DESC LIMIT 1 OFFSET " + KEPT + ")",
                    number,
                    number);
        }
        Instant due = due(entry);
        if (due != null && (before == null || !due.equals(due(before.entry())))) {
            timers.set(session, Long.toString(number), due, "");
        }
        for (EntryListener listener : listeners) {
            listener.changed(session, number, written.found());
        }
        return written;
    }

    /** When an entry expires or is erased; null for never. */
    private static @Nullable Instant due(Entry entry) {
        State state = entry.state();
        return switch (state.status()) {
            case "deleted" -> state.updated().plus(RESTORABLE);
            case "active", "deprecated" -> state.leaseUntil();
            default -> null;
        };
    }

    /** Expires or erases an entry whose time has come. */
    private void due(String number, String content) {
        Numbered entry = read(session -> EntryRows.byNumber(session, Long.parseLong(number)))
                .orElse(null);
        Instant due = entry == null ? null : due(entry.entry());
        if (entry == null || due == null || due.isAfter(now())) {
            return; // renewed, restored or erased meanwhile
        }
        if (entry.entry().state().status().equals("deleted")) {
            erase(entry);
            return;
        }
        var unused = change(entry.entry().id(), "expired", Map.of(), null, now -> {
            Instant end = due(now);
            return end == null || end.isAfter(now())
                    ? now
                    : now.with(now.state().with("expired"))
                            .with(new Health("down", "lease", "no heartbeat before " + end, end, -1));
        });
    }

    /** Erases an entry with its documents, changes and reviews for good. */
    private void erase(Numbered entry) {
        var unused = database.erase(session -> {
            EntryRows.erase(session, entry, now());
            for (EntryListener listener : listeners) {
                listener.erased(session, entry.number());
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
        List<Long> numbers = read(session -> session.list(
                row -> row.getLong(1),
                "SELECT number FROM registry_entry WHERE group_id = ? AND owner = ? ORDER BY number",
                group,
                principal));
        for (long number : numbers) {
            Optional<Numbered> left = database.erase(session -> eraseOwned(session, number, pseudonym));
            left.ifPresentOrElse(cache::put, () -> cache.remove(number));
        }
        synchronized (disclosed) {
            disclosed.clear();
        }
        feed.wake();
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
            EntryRows.erase(session, entry, now());
        } else {
            EntryRows.eraseContent(session, number);
            Ownership owner = new Ownership(
                    entry.entry().ownership().group(), pseudonym, EntryRows.visibility(Math.toIntExact(shown)));
            Entry tombstone = tombstone(entry.entry()).with(owner);
            left = write(session, entry, tombstone, null, null, "deleted", Map.of());
            session.update(
                    "DELETE FROM registry_change WHERE entry = ? AND number < ?",
                    number,
                    left.entry().state().change());
        }
        for (EntryListener listener : listeners) {
            listener.erased(session, number);
        }
        return Optional.ofNullable(left);
    }

    /** Runs a transaction that changes an entry, and shows its outcome to readers; null if it changes nothing. */
    private @Nullable Numbered commit(String group, String id, Question<Optional<Numbered>> change) {
        Numbered written;
        try {
            written = database.write(group, change).orElse(null);
        } catch (RuntimeException failed) {
            cache.remove(id); // a commit that failed may be on disk
            throw failed;
        }
        if (written != null) {
            cache.put(written);
            if (written.entry().ownership().principal().equals(Entry.HUB)) {
                own.put(written.number(), written.entry());
            }
            feed.wake();
        }
        return written;
    }

    @Override
    public Entry change(
            String id,
            String kind,
            Map<String, Object> details,
            @Nullable CallContext editor,
            UnaryOperator<Entry> edit) {
        Numbered known = load(id);
        if (known == null) {
            throw notFound(id);
        }
        if (editor != null) {
            requireOwner(known.entry(), viewer(editor));
        }
        String key = known.entry().id();
        Numbered written = commit(known.entry().ownership().group(), key, session -> {
            Numbered current = EntryRows.byId(session, key).orElse(null);
            if (current == null) {
                return Optional.empty(); // erased meanwhile
            }
            Entry edited = edit.apply(current.entry());
            return edited.equals(current.entry())
                    ? Optional.empty()
                    : Optional.of(
                            write(session, current, edited, current.views(), openOf(edited, current), kind, details));
        });
        Numbered now = written != null ? written : load(key);
        if (now == null) {
            throw notFound(id);
        }
        return now.entry();
    }

    /** Part of an entry that all readers see, if its document has not changed. */
    private static @Nullable Resource openOf(Entry edited, Numbered before) {
        Resource open = before.open();
        return open == null ? null : CardReader.with(open, edited.resource().humanId(), open.metadata());
    }

    /** Sets the selective views of an entry; an empty map shows all of it to all readers. */
    void setViews(String id, Map<String, ?> json, CallContext owner) {
        Numbered known = require(id, owner);
        requireOwner(known.entry(), viewer(owner));
        String key = known.entry().id();
        Version version = history.version(known.number(), null).orElseThrow(() -> notFound(id));
        List<View> views = Views.checked(json, version.type(), version.bytes());
        byte[] stored = views.isEmpty() ? null : Json.write(json);
        Numbered written = commit(known.entry().ownership().group(), key, session -> {
            Numbered current = EntryRows.byId(session, key).orElse(null);
            if (current == null || current.entry().state().revision() != version.revision()) {
                return Optional.empty();
            }
            Resource open = Views.open(current.entry().resource(), views, version.bytes());
            return Optional.of(
                    write(session, current, current.entry(), stored, open, "changed", Map.of("views", views.size())));
        });
        if (written == null) {
            throw A2AException.of(RegistryError.REFUSED_CHANGE, "the document has changed meanwhile");
        }
    }

    /** The selective views of an entry, for its owner. */
    Map<String, ?> views(String id, CallContext owner) {
        Numbered known = require(id, owner);
        requireOwner(known.entry(), viewer(owner));
        byte[] stored = known.views();
        return stored == null ? Map.of() : JsonText.read(stored, Codecs.STRUCT);
    }

    /** An entry as a caller sees it: by its view, if it has views. */
    private Entry shown(Numbered entry, CallContext caller, Viewer viewer) {
        if (entry.views() == null || viewer.owns(entry.entry())) {
            return entry.entry();
        }
        View view = view(entry, caller);
        if (view == null) {
            return entry.entry().with(Views.bare(entry.entry().resource()));
        }
        return view.isForAll()
                ? entry.found()
                : entry.entry().with(disclosed(entry, view).resource());
    }

    private static @Nullable View view(Numbered entry, CallContext caller) {
        return Views.of(entry.views()).stream()
                .filter(each -> each.isFor(caller))
                .findFirst()
                .orElse(null);
    }

    /** A view of a document, signed. */
    private Disclosed disclosed(Numbered entry, View view) {
        String key = entry.number() + " " + entry.entry().state().change() + " " + view.name();
        synchronized (disclosed) {
            Disclosed known = disclosed.get(key);
            if (known != null) {
                return known;
            }
        }
        Version version = history.version(entry.number(), null)
                .orElseThrow(() -> notFound(entry.entry().id()));
        byte[] bytes = view.of(version.bytes());
        byte[] signed = version.type().equals(Entry.AGENT_CARD) ? Views.signed(bytes, signatures) : bytes;
        var made = new Disclosed(
                Views.resource(entry.entry().resource(), view, version.bytes()),
                new Document(signed, version.type(), tag(bytes)));
        synchronized (disclosed) {
            disclosed.put(key, made);
        }
        return made;
    }

    /** @param document with the tag of its bytes without the signature, which differs each time */
    private record Disclosed(Resource resource, Document document) {}

    private static String tag(byte[] bytes) {
        String digest = CardReader.digest(bytes);
        return digest.substring(digest.length() - 32);
    }

    private static void requireOwner(Entry entry, Viewer viewer) {
        if (!viewer.owns(entry)) {
            throw viewer.sees(entry)
                    ? A2AException.of(RegistryError.NOT_OWNER, "entry " + entry.id() + ": owned by another principal")
                    : notFound(entry.id());
        }
    }

    private static A2AException notFound(String id) {
        return A2AException.of(RegistryError.ENTRY_NOT_FOUND, "entry \"" + id + "\": unknown");
    }

    // ---- Reading

    @Override
    public Optional<Entry> find(String id, CallContext viewer) {
        return Optional.ofNullable(seen(id, viewer)).map(entry -> shown(entry, viewer, viewer(viewer)));
    }

    private @Nullable Numbered seen(String id, CallContext caller) {
        Numbered entry = load(id);
        return entry != null && viewer(caller).sees(entry.entry()) ? entry : null;
    }

    private @Nullable Numbered load(String id) {
        String urn = Urns.written(id);
        Numbered cached = cache.get(urn);
        if (cached != null) {
            return cached;
        }
        Numbered read = read(session -> {
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

    private <T> T read(Question<T> question) {
        return database.read(question);
    }

    @Override
    public Document document(Entry entry, CallContext viewer) {
        return document(entry.id(), null, viewer);
    }

    @Override
    public Optional<Entry> version(String id, int revision, CallContext caller) {
        Numbered entry = seen(id, caller);
        if (entry == null || entry.views() != null && !viewer(caller).owns(entry.entry())) {
            return Optional.empty(); // older versions of a document with views are the owner's
        }
        State state = entry.entry().state();
        return history.version(entry.number(), (long) revision)
                .filter(version -> version.revision() == revision)
                .map(version -> entry.entry()
                        .with(version.read().resource())
                        .with(new State(
                                state.status(),
                                revision,
                                state.change(),
                                state.created(),
                                state.updated(),
                                state.leaseUntil())));
    }

    @Override
    public Document document(String id, @Nullable Long revision, CallContext caller) {
        Numbered entry = require(id, caller);
        if (entry.views() != null && !viewer(caller).owns(entry.entry())) {
            View view = view(entry, caller);
            if (view == null) {
                throw caller.isUnauthenticated()
                        ? A2AException.of(A2AError.UNAUTHENTICATED, "the document has no view for anonymous callers")
                        : A2AException.of(A2AError.PERMISSION_DENIED, "the document has no view for this caller");
            }
            if (revision != null && revision != entry.entry().state().revision()) {
                throw A2AException.of(
                        RegistryError.NOT_OWNER, "older versions of a document with views are the owner's");
            }
            return disclosed(entry, view).document();
        }
        Version version = history.version(entry.number(), revision)
                .orElseThrow(() -> notFound(entry.entry().id()));
        return new Document(version.bytes(), version.type(), tag(version.bytes()));
    }

    /** The entry with the key of its row, for operations on what stands beside it. */
    Numbered require(String id, CallContext viewer) {
        Numbered entry = seen(id, viewer);
        if (entry == null) {
            throw notFound(id);
        }
        return entry;
    }

    /** The entry for readers of its versions. */
    Numbered whole(String id, CallContext viewer) {
        Numbered entry = require(id, viewer);
        if (entry.views() != null) {
            requireOwner(entry.entry(), viewer(viewer));
        }
        return entry;
    }

    /** JSON of an entry as a caller sees it; as it is stored, if that is the same. */
    byte[] json(String id, CallContext caller) {
        Numbered entry = require(id, caller);
        Entry shown = shown(entry, caller, viewer(caller));
        return shown.equals(entry.entry()) ? entry.content() : EntryModel.write(shown);
    }

    /** An entry as a caller sees it. */
    Entry shown(String id, CallContext caller) {
        return shown(require(id, caller), caller, viewer(caller));
    }

    /**
     * Renews the lease of an entry, which is active again if it had expired.
     *
     * @param lease null for one as long as before
     */
    Entry renew(String id, @Nullable Duration lease, CallContext owner) {
        checkLease(lease);
        return change(id, "renewed", Map.of(), owner, entry -> {
            State state = entry.state();
            Instant until = state.leaseUntil();
            if (lease == null && until == null) {
                throw A2AException.invalidParams("lease", "missing (expected: seconds, as the entry has no lease)");
            }
            Instant now = now();
            Object length = entry.resource().metadata().get(LEASE);
            Duration next = lease != null ? lease : Duration.ofSeconds(length instanceof Number n ? n.longValue() : 60);
            String status = state.status().equals("expired") ? "active" : state.status();
            var metadata = new LinkedHashMap<>(entry.resource().metadata());
            metadata.put(LEASE, next.toSeconds());
            return new Entry(
                    entry.id(),
                    CardReader.with(entry.resource(), entry.resource().humanId(), metadata),
                    entry.ownership(),
                    entry.trust(),
                    entry.health().cause().equals("lease") ? Health.UNKNOWN : entry.health(),
                    new State(
                            status,
                            state.revision(),
                            state.change(),
                            state.created(),
                            state.updated(),
                            now.plus(next)));
        });
    }

    /** Number of the last change. */
    long newest() {
        return read(session -> session.number("SELECT coalesce(max(number), 0) FROM registry_change"));
    }

    History history() {
        return history;
    }

    Reviews reviews() {
        return reviews;
    }

    /** Writes a review or a note of a caller; one without stars and text removes it. */
    void review(String id, String kind, long stars, String text, CallContext caller) {
        long number = require(id, caller).number();
        var unused = database.write(caller.scope().group(), session -> {
            int rows = reviews.write(session, number, kind, stars, text, caller);
            Numbered entry = EntryRows.byNumber(session, number).orElse(null);
            if (entry != null && kind.equals(Reviews.REVIEW)) {
                for (EntryListener listener : listeners) {
                    listener.reviewed(session, number, entry.found());
                }
            }
            return rows;
        });
    }

    @Override
    public Page list(Filter filter, String order, int size, @Nullable String token, CallContext viewer) {
        Viewer by = viewer(viewer);
        return read(session -> new EntryQuery(filter, by, unknown(by), false)
                .page(session, order, size, token, entry -> shown(entry, viewer, by)));
    }

    /**
     * What a caller may see of the entries that fulfil a filter.
     *
     * @param isPerEntry for searches that look at a few of the entries
     */
    public Conditions conditions(Filter filter, CallContext viewer, boolean isPerEntry) {
        Viewer by = viewer(viewer);
        return new EntryQuery(filter, by, unknown(by), isPerEntry).conditions();
    }

    /** Keys of the rows of the hub's own agents that a caller may not know. */
    public Collection<Long> unknown(CallContext caller) {
        return unknown(viewer(caller));
    }

    private Collection<Long> unknown(Viewer viewer) {
        var unknown = new ArrayList<Long>();
        own.forEach((number, entry) -> {
            if (!viewer.isOperator() && !viewer.knows().test(entry)) {
                unknown.add(number);
            }
        });
        return unknown;
    }

    @Override
    public List<Entry> byNumbers(List<Long> numbers, CallContext viewer) {
        Viewer by = viewer(viewer);
        var entries = new ArrayList<Entry>();
        for (long number : numbers) {
            Numbered cached = cache.get(number);
            Numbered entry = cached != null
                    ? cached
                    : read(session -> EntryRows.byNumber(session, number)).orElse(null);
            if (entry != null) {
                if (cached == null) {
                    cache.put(entry);
                }
                if (by.sees(entry.entry())) {
                    entries.add(shown(entry, viewer, by));
                }
            }
        }
        return entries;
    }

    @Override
    public Feed<Change> changes(long after, Filter filter, CallContext viewer) {
        return feed.open(after, from -> read(session -> batch(session, from, filter, viewer)));
    }

    /** The changes behind a number, at most so many. */
    Batch changesOnce(long after, Filter filter, int size, CallContext viewer) {
        var changes = new ArrayList<Change>();
        long last = after;
        while (true) {
            long from = last;
            Batch batch = read(session -> batch(session, from, filter, viewer));
            for (Change change : batch.changes()) {
                changes.add(change);
                if (changes.size() == size) {
                    return new Batch(changes, change.number());
                }
            }
            last = batch.last();
            if (last == from) {
                return new Batch(changes, last);
            }
        }
    }

    /** A page of changes. An entry that the viewer may no longer see is shown as deleted, without its content. */
    private Batch batch(Session session, long after, Filter filter, CallContext caller) throws SQLException {
        Viewer viewer = viewer(caller);
        var last = new long[] {after};
        var changes = new ArrayList<Change>();
        session.list(
                row -> {
                    last[0] = row.getLong(1);
                    byte[] open = row.getBytes(11);
                    Numbered entry = new Numbered(
                            row.getLong(8),
                            EntryModel.read(row.getBytes(9)),
                            new byte[0],
                            row.getBytes(10),
                            open == null ? null : EntryModel.read(open).resource());
                    Entry now = entry.entry();
                    var ownership = new Ownership(
                            Session.text(row, 4), Session.text(row, 5), EntryRows.visibility(row.getInt(6)));
                    Entry then = now.with(ownership).with(now.state().with("active"));
                    if (viewer.sees(then)) {
                        Entry shown = viewer.sees(now) ? shown(entry, caller, viewer) : tombstone(now);
                        boolean isWhole = entry.views() == null || viewer.owns(now);
                        if (EntryQuery.fits(shown, filter)
                                || shown.state().status().equals("deleted")) {
                            changes.add(new Change(
                                    row.getLong(1),
                                    requireNonNull(Session.time(row, 2)),
                                    Session.text(row, 3),
                                    isWhole ? details(row.getBytes(7)) : Map.of(),
                                    shown));
                        }
                    }
                    return last;
                },
                "SELECT c.number, c.at_ms, c.kind, c.group_id, c.owner, c.visibility, c.details, " + EntryRows.COLUMNS
                        + " FROM registry_change c JOIN registry_entry e ON e.number = c.entry"
                        + " WHERE c.number > ? ORDER BY c.number LIMIT " + CHANGES_AT_ONCE,
                after);
        return new Batch(changes, last[0]);
    }

    /** Deleted entry without content, for readers that may no longer see it. */
    private static Entry tombstone(Entry now) {
        Resource of = now.resource();
        var nothing = new Resource(
                of.type(), "", "", "", null, null, "", null, List.of(), List.of(), List.of(), List.of(), List.of(),
                Map.of());
        State state = now.state();
        return new Entry(
                now.id(),
                nothing,
                new Ownership("", "", Entry.Visibility.PRIVATE),
                UNCHECKED,
                Health.UNKNOWN,
                new State("deleted", 0, state.change(), state.created(), state.updated(), null));
    }

    private static Map<String, Object> details(byte[] json) {
        var details = new LinkedHashMap<String, Object>();
        JsonText.read(json, Codecs.STRUCT).forEach((name, value) -> {
            if (value != null) {
                details.put(name, value);
            }
        });
        return details;
    }

    @Override
    public Entry copy(Publication publication, String peer) {
        var owner = new Ownership(Entry.HUB, peer, publication.visibility());
        return publish(publication, CallContext.of(peer, new CallContext.Scope(Entry.HUB, peer)), owner, List.of());
    }

    @Override
    public void listen(EntryListener listener) {
        listeners.add(listener);
    }

    @Override
    public void check(EntryCheck check) {
        checks.add(check);
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /** Ends all feeds of changes. */
    public void stopFeeds() {
        feed.close();
    }

    @Override
    public void close() {
        feed.close();
    }
}

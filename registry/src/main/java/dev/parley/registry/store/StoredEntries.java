package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.LruMap;
import dev.parley.registry.Difference;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.Entry.Trust;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.HistoryOperation.Verdict;
import dev.parley.registry.RegistryError;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.document.CardDiff;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.document.CardReader.Reading;
import dev.parley.registry.document.Secrets;
import dev.parley.registry.store.ChangeFeed.Batch;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.registry.store.History.Version;
import dev.parley.registry.store.Views.View;
import dev.parley.store.database.Database;
import dev.parley.store.database.Question;
import dev.parley.store.database.Session;
import dev.parley.store.database.Storage;
import dev.parley.store.rows.DamagedRows;
import dev.parley.store.spi.StoreException;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
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

    /** Changes by owners that a full group may make. */
    private static final Set<EntryChange.Kind> UNLIMITED = Set.of(EntryChange.Kind.DELETED, EntryChange.Kind.RENEWED);

    /** Views of documents in memory. */
    private static final int DISCLOSED = 128;

    private static final int CHANGES_AT_ONCE = 500;

    /** Characters of an id in errors. */
    private static final int LONGEST_SHOWN = 400;

    /** Whether a viewer could see the entry of a change at its time: an operator, or a member of a group. */
    private static final String SEEN = "(? = 1 OR c.owner = '" + Entry.HUB
            + "' OR c.visibility = 2 OR c.group_id = ? AND (c.visibility = 1 OR c.owner = ?))";

    /** Look-alikes that are shown, besides the entries themselves. */
    private static final int ALIKE = 20;

    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(10);
    private static final Duration LONGEST_LEASE = Duration.ofDays(366);
    /** Changes that do not count as edits of an entry. */
    private static final Set<EntryChange.Kind> UNEDITED =
            Set.of(EntryChange.Kind.HEALTH, EntryChange.Kind.TRUST, EntryChange.Kind.RENEWED);

    private static final Trust UNCHECKED = new Trust(Entry.Outcome.UNSIGNED, "", null, null, null, null);

    private final Database database;
    private final EntryBytes bytes;
    private final Urns urns;
    private final BiPredicate<CallContext, String> knowsAgent;
    private final InstantSource clock;
    private final History history;
    private final DamagedRows damagedChanges = new DamagedRows("change of a registry entry, number");
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
        this.bytes = new EntryBytes(database.storage());
        this.urns = new Urns(publisher, domains);
        this.knowsAgent = knowsAgent;
        this.clock = clock;
        RegistryTables.make(database);
        this.history = new History(database);
        this.reviews = new Reviews(database, clock);
        this.signatures = signatures;
        this.timers = timers.named("registry/entries", this::due);
        List<Numbered> ofHub = database.read(session -> EntryRows.list(
                session,
                "SELECT " + EntryRows.COLUMNS + " FROM registry_label l JOIN registry_entry e ON e.number = l.entry"
                        + " WHERE l.label = ?",
                EntryRows.label("owner", Entry.HUB)));
        ofHub.forEach(each -> own.put(each.number(), each.entry()));
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
        String id = ownId(agent);
        var given = new Publication(
                id, Entry.AGENT_CARD, card, null, null, visibility, null, List.of(), Map.of(AGENT, agent));
        Entry published =
                publish(given, CallContext.anonymous(), new Ownership("agents", Entry.HUB, visibility), faces);
        removeOwn(entry -> !entry.id().equals(id) && agent.equals(agent(entry)));
        return published;
    }

    /** The id of an agent of the hub itself: the one that it has under the domain of now, or a free one. */
    private String ownId(String agent) {
        String id = urns.ofOwn(agent);
        return own.values().stream()
                .filter(entry -> agent.equals(agent(entry)) && urns.isOfHub(entry.id()))
                .map(Entry::id)
                .findFirst()
                .orElseGet(() -> free(id));
    }

    private static String agent(Entry own) {
        return String.valueOf(own.resource().metadata().get(AGENT));
    }

    /** Deletes the entries of agents of the hub itself that are not hosted. */
    public void removeOwnExcept(Collection<String> hosted) {
        removeOwn(entry -> !hosted.contains(agent(entry)));
    }

    /** Deletes the entry of an agent of the hub itself. */
    public void removeOwn(String agent) {
        removeOwn(entry -> agent.equals(agent(entry)));
    }

    private void removeOwn(Predicate<Entry> gone) {
        for (Entry entry : List.copyOf(own.values())) {
            if (gone.test(entry) && entry.state().status() != Status.DELETED) {
                change(
                        entry.id(),
                        EntryChange.Kind.DELETED,
                        Map.of(),
                        null,
                        now -> now.with(now.state().with(Status.DELETED)));
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
            if (before != null && before.entry().state().status() == Status.REVOKED) {
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

    /** The entry of which a card would be a version if the caller registered it. */
    public Optional<Entry> registered(byte[] card, @Nullable String url, CallContext caller) {
        Viewer viewer = viewer(caller);
        if (viewer.isStranger()) {
            return Optional.empty();
        }
        var owner = new Ownership(viewer.group(), viewer.principal(), Entry.Visibility.GROUP);
        var given =
                new Publication(null, Entry.AGENT_CARD, card, url, null, owner.visibility(), null, List.of(), Map.of());
        Resource resource =
                CardReader.read(given.type(), card, url, null, Map.of()).resource();
        return Optional.ofNullable(place(given, resource, caller, owner))
                .map(Numbered::entry)
                .filter(entry -> entry.state().status() != Status.DELETED
                        && entry.state().status() != Status.REVOKED);
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
            named = sameAgent(resource, owner);
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

    /**
     * The entry of an owner that is about the agent of a document: of the same name, type, provider and readable id, as far as both have
     * one. Ids decide nothing here, because different names may have similar ones.
     */
    private @Nullable Numbered sameAgent(Resource resource, Ownership owner) {
        String provider = resource.provider();
        return read(session -> EntryRows.list(
                        session,
                        "SELECT " + EntryRows.COLUMNS + " FROM registry_entry e WHERE e.name = ? AND e.group_id = ?"
                                + " AND e.owner = ? ORDER BY CASE WHEN e.status = 'deleted' THEN 1 ELSE 0 END, e.number",
                        EntryRows.sortName(resource),
                        owner.group(),
                        owner.principal()))
                .stream()
                .filter(each -> difference(each.entry().resource(), resource) == null)
                .min(Comparator.comparing(
                        each -> !Objects.equals(each.entry().resource().provider(), provider)))
                .orElse(null);
    }

    /** The first member in which two documents are about different agents, with its value in the first one; null for the same agent. */
    private static @Nullable String difference(Resource known, Resource given) {
        if (!known.name().equals(given.name())) {
            return "name \"" + known.name() + "\"";
        }
        if (!known.type().equals(given.type())) {
            return "type " + known.type();
        }
        if (differ(known.provider(), given.provider())) {
            return "provider \"" + known.provider() + "\"";
        }
        return differ(known.humanId(), given.humanId()) ? "humanId " + known.humanId() : null;
    }

    private static boolean differ(@Nullable String one, @Nullable String other) {
        return one != null && other != null && !one.equals(other);
    }

    /**
     * Refuses to register an agent in place of another one of the caller, whose id it names.
     *
     * @throws A2AException REFUSED_CHANGE with the name of the other agent
     */
    void refuseAnother(Publication given, CallContext publisher) {
        Numbered named = given.id() == null ? null : load(given.id());
        if (named == null || !viewer(publisher).owns(named.entry())) {
            return;
        }
        Resource resource = CardReader.read(
                        given.type(), given.document(), given.url(), given.humanId(), given.metadata())
                .resource();
        String difference = difference(named.entry().resource(), resource);
        if (difference != null) {
            throw A2AException.of(
                    RegistryError.REFUSED_CHANGE,
                    "entry " + named.entry().id() + ": belongs to the agent \""
                            + named.entry().resource().name() + "\" with another " + difference
                            + " (expected: a free id, or PUT /registry/agents/ID for a new version of that agent)");
        }
    }

    private static boolean isOwner(Entry entry, Ownership owner) {
        return entry.ownership().group().equals(owner.group())
                && entry.ownership().principal().equals(owner.principal());
    }

    /** A free id, for a new entry. */
    private String id(Publication given, Resource resource, CallContext publisher, Ownership owner) {
        String named = given.id() == null ? null : Urns.written(given.id());
        if (named != null
                && (owner.principal().equals(Entry.HUB)
                        || owner.group().equals(Entry.HUB)
                        || urns.mayUse(named, publisher))) {
            return named;
        }
        return free(urns.of(owner.group(), resource.name()));
    }

    private String free(String id) {
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
        if (given.id() != null && !Urns.written(given.id()).equals(id)) {
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
                        Status.ACTIVE,
                        old == null ? 1 : old.state().revision() + (isSame ? 0 : 1),
                        old == null ? 0 : old.state().change(),
                        old == null ? now : old.state().created(),
                        old == null ? now : old.state().updated(),
                        given.lease() == null ? null : now.plus(given.lease())));
    }

    private static void refuse(List<Difference.Kind> kinds, List<Difference> differences) {
        for (Difference each : differences) {
            if (kinds.contains(each.kind())) {
                throw A2AException.of(
                        RegistryError.REFUSED_CHANGE,
                        each.path() + ": " + each.text() + " (expected: no change that is "
                                + kinds.stream().map(EntryModel::word).collect(Collectors.joining(" or ")) + ")",
                        Map.of("kind", EntryModel.word(each.kind()), "path", each.path()));
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
            details.put("verdict", EntryModel.word(Verdict.of(differences)));
            details.put("changes", History.JSON.toJson(differences));
        }
        Numbered after = commit(draft.ownership().group(), draft.id(), session -> {
            Numbered current = EntryRows.byId(session, draft.id()).orElse(null);
            long expected = before == null ? -1 : before.entry().state().change();
            if (expected != (current == null ? -1 : current.entry().state().change())) {
                return Optional.empty();
            }
            boolean isVersion = current == null
                    || current.entry().state().revision() != draft.state().revision();
            long more = (long) Storage.ROW
                    + Json.write(details).length
                    + (isVersion ? Storage.ROW + given.document().length : 0)
                    + (isVersion ? JsonText.write(History.JSON, differences).length : 0);
            bytes.require(session, current, draft, EntryModel.write(draft).length, more);
            var kind = current == null ? EntryChange.Kind.REGISTERED : EntryChange.Kind.CHANGED;
            byte[] views = current == null ? null : current.views();
            Resource open = Views.open(draft.resource(), Views.of(views), given.document());
            Numbered now = write(session, current, draft, views, open, kind, details);
            if (isVersion) {
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
            EntryChange.Kind kind,
            Map<String, Object> details)
            throws SQLException {
        long change = session.number("SELECT coalesce(max(number), 0) + 1 FROM registry_change");
        long number = before != null
                ? before.number()
                : session.number("SELECT coalesce(max(number), 0) + 1 FROM registry_entry");
        Instant now = now();
        State state = draft.state();
        boolean isEdited = !UNEDITED.contains(kind);
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
            bytes.remove(session, before);
            EntryRows.update(session, before, written);
        }
        int visibility = EntryRows.rank(entry.ownership().visibility());
        session.update(
                "INSERT INTO registry_change (number, entry, at_ms, kind, group_id, owner, visibility, details)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                change,
                number,
                now,
                EntryModel.word(kind),
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
            case DELETED -> state.updated().plus(RESTORABLE);
            case ACTIVE, DEPRECATED -> state.leaseUntil();
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
        if (entry.entry().state().status() == Status.DELETED) {
            erase(entry);
            return;
        }
        var unused = change(entry.entry().id(), EntryChange.Kind.EXPIRED, Map.of(), null, now -> {
            Instant end = due(now);
            return end == null || end.isAfter(now())
                    ? now
                    : now.with(now.state().with(Status.EXPIRED))
                            .with(new Health(
                                    Entry.HealthStatus.DOWN, Entry.Cause.LEASE, "no heartbeat before " + end, end, -1));
        });
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
            EntryRows.erase(session, entry, now(), bytes);
        } else {
            EntryRows.eraseContent(session, number, bytes);
            Ownership owner = new Ownership(
                    entry.entry().ownership().group(), pseudonym, EntryRows.visibility(Math.toIntExact(shown)));
            Entry tombstone = tombstone(entry.entry()).with(owner);
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
    private @Nullable Numbered commit(String group, String id, Question<Optional<Numbered>> change) {
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
            EntryChange.Kind kind,
            Map<String, Object> details,
            @Nullable CallContext editor,
            UnaryOperator<Entry> edit) {
        Numbered known = editor == null ? load(id) : named(id);
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
            if (edited.equals(current.entry())) {
                return Optional.empty();
            }
            if (editor != null && !UNLIMITED.contains(kind)) {
                bytes.require(session, current, edited, EntryModel.write(edited).length, 0);
            }
            return Optional.of(
                    write(session, current, edited, current.views(), openOf(edited, current), kind, details));
        });
        if (written != null && kind == EntryChange.Kind.DELETED) {
            eraseOldest(written.entry().ownership().group());
        }
        Numbered now = written != null ? written : load(key);
        if (now == null) {
            throw notFound(id);
        }
        return now.entry();
    }

    /** Erases the oldest deleted entries of a group with a quota, as far as they take more than their share of it. */
    private void eraseOldest(String group) {
        while (bytes.hasTooManyDeleted(group)) {
            Optional<Numbered> oldest = read(session -> session.first(
                    Numbered::of,
                    "SELECT " + EntryRows.COLUMNS + " FROM registry_entry e WHERE e.status = 'deleted'"
                            + " AND e.group_id = ? ORDER BY e.updated_ms, e.number LIMIT 1",
                    group));
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
        requireOwner(known.entry(), viewer(owner));
        String key = known.entry().id();
        Version version = history.version(known.number(), null).orElseThrow(() -> notFound(id));
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

    /** The selective views of an entry, for its owner. */
    Map<String, ReviewOperation.View> views(String id, CallContext owner) {
        Numbered known = require(id, owner);
        requireOwner(known.entry(), viewer(owner));
        byte[] stored = known.views();
        return stored == null ? Map.of() : JsonText.read(stored, ReviewOperation.VIEWS_JSON);
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
        String shown = id.length() <= LONGEST_SHOWN ? id : id.substring(0, LONGEST_SHOWN) + "…";
        return A2AException.of(RegistryError.ENTRY_NOT_FOUND, "entry \"" + shown + "\": unknown");
    }

    // ---- Reading

    @Override
    public Optional<Entry> find(String id, CallContext viewer) {
        return Optional.ofNullable(seen(id, viewer)).map(entry -> shown(entry, viewer, viewer(viewer)));
    }

    /** The entry that a caller names, also by the domain of all hubs with default settings. */
    private @Nullable Numbered named(String id) {
        Numbered entry = load(id);
        String own = entry == null ? urns.ofThisHub(id) : null;
        return own == null ? entry : load(own);
    }

    private @Nullable Numbered seen(String id, CallContext caller) {
        Numbered entry = named(id);
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
        return change(id, EntryChange.Kind.RENEWED, Map.of(), owner, entry -> {
            State state = entry.state();
            Instant until = state.leaseUntil();
            if (lease == null && until == null) {
                throw A2AException.invalidParams("lease", "missing (expected: seconds, as the entry has no lease)");
            }
            Instant now = now();
            Object length = entry.resource().metadata().get(LEASE);
            Duration next = lease != null ? lease : Duration.ofSeconds(length instanceof Number n ? n.longValue() : 60);
            Status status = state.status() == Status.EXPIRED ? Status.ACTIVE : state.status();
            var metadata = new LinkedHashMap<>(entry.resource().metadata());
            metadata.put(LEASE, next.toSeconds());
            return new Entry(
                    entry.id(),
                    CardReader.with(entry.resource(), entry.resource().humanId(), metadata),
                    entry.ownership(),
                    entry.trust(),
                    entry.health().cause() == Entry.Cause.LEASE ? Health.UNKNOWN : entry.health(),
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
        var unused = database.admit(caller.scope().group(), session -> {
            int rows = reviews.write(session, number, kind, stars, text, caller, bytes);
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
    public EntryPage list(EntryFilter filter, String order, int size, @Nullable String token, CallContext viewer) {
        return list(filter, order, size, token, false, viewer);
    }

    /** A page of entries whose documents are read with them. */
    EntryPage listForExport(EntryFilter filter, int size, @Nullable String token, CallContext viewer) {
        return list(filter, "name", size, token, true, viewer);
    }

    private EntryPage list(
            EntryFilter filter,
            String order,
            int size,
            @Nullable String token,
            boolean withDocuments,
            CallContext viewer) {
        Viewer by = viewer(viewer);
        return read(session -> new EntryQuery(filter, by, unknown(by), false)
                .page(session, order, size, token, withDocuments, entry -> shown(entry, viewer, by)));
    }

    /**
     * What a caller may see of the entries that fulfil a filter.
     *
     * @param isPerEntry for searches that look at a few of the entries
     */
    public Conditions conditions(EntryFilter filter, CallContext viewer, boolean isPerEntry) {
        Viewer by = viewer(viewer);
        return new EntryQuery(filter, by, unknown(by), isPerEntry).conditions();
    }

    /**
     * Entries whose names look like those of others that are in use and that the caller may see.
     *
     * @param names of entries by their ids
     * @return ids of the others, a few of them, by the ids of entries that have any
     */
    Map<String, List<String>> lookAlikes(Map<String, String> names, CallContext caller) {
        var byLook = new LinkedHashMap<String, List<String>>();
        names.forEach((id, name) -> {
            if (!name.isEmpty()) {
                byLook.computeIfAbsent(EntryRows.look(name), look -> new ArrayList<>())
                        .add(id);
            }
        });
        if (byLook.isEmpty()) {
            return Map.of();
        }
        record Alike(long number, String id, String look) {}
        List<Alike> rows = read(session -> session.list(
                row -> new Alike(row.getLong(1), Session.text(row, 2), Session.text(row, 3)),
                "SELECT number, id, look FROM registry_entry WHERE look IN ("
                        + String.join(", ", Collections.nCopies(byLook.size(), "?"))
                        + ") AND status IN ('active', 'deprecated') ORDER BY number LIMIT " + (names.size() + ALIKE),
                byLook.keySet().toArray()));
        var alike = new LinkedHashMap<String, List<String>>();
        for (Alike row : rows) {
            List<String> others = requireNonNull(byLook.get(row.look())).stream()
                    .filter(id -> !id.equals(row.id()))
                    .toList();
            if (!others.isEmpty() && !byNumbers(List.of(row.number()), caller).isEmpty()) {
                others.forEach(id ->
                        alike.computeIfAbsent(id, none -> new ArrayList<>()).add(row.id()));
            }
        }
        return alike;
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

    /** Pairs of entries in use whose names look alike, in words, at most so many; for operators, also of a hub that is running. */
    public static List<String> pairsOfLookAlikes(Database database) {
        return database.read(session -> !RegistryTables.haveLooks(session)
                ? List.of()
                : session.list(
                        row -> "entries " + Session.text(row, 1) + " and " + Session.text(row, 2)
                                + " have names that look alike: callers may take one for the other",
                        "SELECT a.id, b.id FROM registry_entry b JOIN registry_entry a ON a.look = b.look AND a.number < b.number"
                                + " WHERE b.look <> '' AND a.status IN ('active', 'deprecated') AND b.status IN ('active',"
                                + " 'deprecated') ORDER BY b.number LIMIT " + ALIKE));
    }

    /** Writes the skeletons of names that an older version of the registry has not written, page by page. */
    public void writeLooks() {
        int written;
        do {
            written = database.write(session -> {
                List<Numbered> page = EntryRows.list(
                        session,
                        "SELECT " + EntryRows.COLUMNS
                                + " FROM registry_entry e WHERE e.look = '' ORDER BY e.number LIMIT "
                                + CHANGES_AT_ONCE);
                for (Numbered each : page) {
                    session.update(
                            "UPDATE registry_entry SET look = ? WHERE number = ?",
                            EntryRows.look(each.entry().resource().name()),
                            each.number());
                }
                return page.size();
            });
        } while (written == CHANGES_AT_ONCE);
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
        return someByNumbers(numbers, Long.MAX_VALUE, viewer).entries();
    }

    /**
     * The first entries of a list.
     *
     * @param read number of the rows that were read, those included that the caller may not see
     */
    public record Some(List<Entry> entries, int read) {}

    /** Entries like {@link #byNumbers}, up to the first one with which they have more than the bytes of a page. */
    public Some pageByNumbers(List<Long> numbers, CallContext viewer) {
        return someByNumbers(numbers, EntryQuery.PAGE_BYTES, viewer);
    }

    private Some someByNumbers(List<Long> numbers, long maxBytes, CallContext viewer) {
        Viewer by = viewer(viewer);
        var entries = new ArrayList<Entry>();
        long bytes = 0;
        int count = 0;
        for (long number : numbers) {
            Numbered cached = cache.get(number);
            Numbered entry = cached != null
                    ? cached
                    : read(session -> EntryRows.byNumber(session, number)).orElse(null);
            if (entry != null) {
                bytes += entry.content().length;
                if (count > 0 && bytes > maxBytes) {
                    return new Some(entries, count);
                }
                if (cached == null) {
                    cache.put(entry);
                }
                if (by.sees(entry.entry())) {
                    entries.add(shown(entry, viewer, by));
                }
            }
            count++;
        }
        return new Some(entries, count);
    }

    @Override
    public Feed<EntryChange> changes(long after, EntryFilter filter, CallContext viewer) {
        return feed.open(after, from -> read(session -> batch(session, from, filter, viewer)));
    }

    /** The changes after a number, at most so many. */
    Batch changesOnce(long after, EntryFilter filter, int size, CallContext viewer) {
        var changes = new ArrayList<EntryChange>();
        long last = after;
        while (true) {
            long from = last;
            Batch batch = read(session -> batch(session, from, filter, viewer));
            for (EntryChange change : batch.changes()) {
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
    private Batch batch(Session session, long after, EntryFilter filter, CallContext caller) throws SQLException {
        Viewer viewer = viewer(caller);
        var last = new long[] {after};
        long end = end(session, after, viewer);
        var changes = new ArrayList<EntryChange>();
        damagedChanges.list(
                session,
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
                    Entry then = now.with(ownership).with(now.state().with(Status.ACTIVE));
                    if (viewer.sees(then)) {
                        Entry shown = viewer.sees(now) ? shown(entry, caller, viewer) : tombstone(now);
                        boolean isWhole = entry.views() == null || viewer.owns(now);
                        if (EntryQuery.fits(shown, filter) || shown.state().status() == Status.DELETED) {
                            changes.add(new EntryChange(
                                    row.getLong(1),
                                    requireNonNull(Session.time(row, 2)),
                                    EntryModel.constant(
                                            EntryChange.Kind.class, Session.text(row, 3), EntryChange.Kind.CHANGED),
                                    isWhole ? JsonText.read(row.getBytes(7), Codecs.STRUCT) : Map.of(),
                                    shown));
                        }
                    }
                    return last;
                },
                "SELECT c.number, c.at_ms, c.kind, c.group_id, c.owner, c.visibility, c.details, " + EntryRows.COLUMNS
                        + " FROM registry_change c JOIN registry_entry e ON e.number = c.entry"
                        + " WHERE c.number > ? AND c.number <= ? AND " + SEEN + " ORDER BY c.number",
                after,
                end,
                viewer.isOperator() ? 1 : 0,
                viewer.isStranger() ? "" : viewer.group(),
                viewer.principal());
        return new Batch(changes, Math.max(last[0], end));
    }

    /**
     * Number of the last change of a page: of the last one of so many, or whose entries do not have more bytes than a page. Entries that the
     * viewer could not see are not read.
     */
    private static long end(Session session, long after, Viewer viewer) throws SQLException {
        record Weighed(long number, long bytes) {}
        long end = after;
        long bytes = 0;
        for (Weighed change : session.list(
                row -> new Weighed(row.getLong(1), row.getLong(2)),
                "SELECT c.number, CASE WHEN " + SEEN + " THEN length(e.content) ELSE 0 END FROM registry_change c"
                        + " JOIN registry_entry e ON e.number = c.entry WHERE c.number > ? ORDER BY c.number LIMIT "
                        + CHANGES_AT_ONCE,
                viewer.isOperator() ? 1 : 0,
                viewer.isStranger() ? "" : viewer.group(),
                viewer.principal(),
                after)) {
            bytes += change.bytes();
            if (end > after && bytes > EntryQuery.PAGE_BYTES) {
                break;
            }
            end = change.number();
        }
        return end;
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
                new State(Status.DELETED, 0, state.change(), state.created(), state.updated(), null));
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

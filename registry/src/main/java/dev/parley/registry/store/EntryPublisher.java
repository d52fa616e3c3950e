package dev.parley.registry.store;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Difference;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryModel;
import dev.parley.registry.HistoryOperation.Verdict;
import dev.parley.registry.RegistryError;
import dev.parley.registry.document.CardDiff;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.document.CardReader.Reading;
import dev.parley.registry.document.SecretScan;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.spi.RegistryEntries.Requirement;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Publishes documents of callers, agents of the hub itself and peers as entries. Safe for any thread. */
public final class EntryPublisher {
    private final Database database;
    private final EntryCache cache;
    private final Urns urns;
    private final Disclosure disclosure;
    private final EntryReader reader;
    private final EntryWriter writer;
    private final boolean isShared;
    private final List<EntryCheck> checks = new CopyOnWriteArrayList<>();

    EntryPublisher(
            Database database,
            EntryCache cache,
            Urns urns,
            Disclosure disclosure,
            EntryReader reader,
            EntryWriter writer) {
        this.database = database;
        this.isShared = database.access().feeds().isShared();
        this.cache = cache;
        this.urns = urns;
        this.disclosure = disclosure;
        this.reader = reader;
        this.writer = writer;
    }

    /** Adds a check, before the first publication. */
    public void check(EntryCheck check) {
        checks.add(check);
    }

    /** Publishes a document: a new entry, or a new version of one that the caller owns. */
    public Entry publish(Publication publication, CallContext publisher) {
        return publish(publication, Requirement.NONE, publisher);
    }

    Entry publish(Publication publication, Requirement requirement, CallContext publisher) {
        Viewer viewer = disclosure.viewer(publisher);
        if (viewer.isStranger()) {
            throw A2AException.of(RegistryError.NOT_OWNER, "anonymous callers cannot publish");
        }
        return publish(
                publication,
                publisher,
                new Ownership(viewer.group(), viewer.principal(), publication.visibility()),
                List.of(),
                requirement);
    }

    /**
     * Publishes a copy of an entry of a peer under its own id, which no caller can change.
     *
     * @throws A2AException if the id is taken, or the document is refused
     */
    public Entry copy(Publication publication, String peer) {
        var owner = new Ownership(Entry.HUB, peer, publication.visibility());
        return publish(
                publication,
                CallContext.of(peer, new CallContext.Scope(Entry.HUB, peer)),
                owner,
                List.of(),
                Requirement.NONE);
    }

    /**
     * Publishes an agent of the hub itself, whose card the hub serves.
     *
     * @param faces its addresses in protocols that are not on its card
     */
    public Entry publishOwn(String agent, byte[] card, List<Endpoint> faces, Entry.Visibility visibility) {
        String id = ownId(agent);
        var given = new Publication(
                id, Entry.AGENT_CARD, card, null, null, visibility, null, List.of(), Map.of(Disclosure.AGENT, agent));
        Entry published = publish(
                given,
                CallContext.anonymous(),
                new Ownership("agents", Entry.HUB, visibility),
                faces,
                Requirement.NONE);
        removeOwn(entry -> !entry.id().equals(id) && agent.equals(Disclosure.agent(entry)));
        return published;
    }

    /** The id of an agent of the hub itself: the one that it has under the domain of now, or a free one. */
    private String ownId(String agent) {
        return disclosure.own().stream()
                .filter(entry -> isOwn(entry, agent) && urns.isOfHub(entry.id()))
                .map(Entry::id)
                .findFirst()
                .orElseGet(() -> free(urns.ofOwn(agent), entry -> isOwn(entry, agent))); // of a hub that has just begun
    }

    private static boolean isOwn(Entry entry, String agent) {
        return entry.ownership().principal().equals(Entry.HUB) && agent.equals(Disclosure.agent(entry));
    }

    /** Deletes the entries of agents of the hub itself by their names. */
    public void removeAgents(Predicate<String> gone) {
        removeOwn(entry -> gone.test(Disclosure.agent(entry)));
    }

    private void removeOwn(Predicate<Entry> gone) {
        for (Entry entry : disclosure.own()) {
            if (gone.test(entry) && entry.state().status() != Status.DELETED) {
                writer.change(
                        entry.id(),
                        EntryChange.Kind.DELETED,
                        Map.of(),
                        null,
                        now -> now.with(now.state().with(Status.DELETED)));
            }
        }
    }

    private Entry publish(
            Publication given, CallContext publisher, Ownership owner, List<Endpoint> faces, Requirement requirement) {
        Reading reading = read(given);
        SecretScan.refuse(reading.members());
        SecretScan.refuse(given.metadata());
        Leases.check(given.lease());
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
                    : CardDiff.of(disclosure.kept(before, null).read(), reading);
            refuse(given.refuse(), differences);
            Entry written = write(before, draft, given, publisher, differences, requirement);
            if (written != null) {
                return written;
            }
            cache.remove(id);
        }
    }

    private static Reading read(Publication given) {
        return CardReader.read(given.type(), given.document(), given.url(), given.humanId(), given.metadata());
    }

    /** The entry of which a card would be a version if the caller registered it. */
    public Optional<Entry> registered(byte[] card, @Nullable String url, CallContext caller) {
        Viewer viewer = disclosure.viewer(caller);
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

    /** The entry of which the document is a new version; null for a new entry. */
    private @Nullable Numbered place(Publication given, Resource resource, CallContext publisher, Ownership owner) {
        Numbered named = null;
        if (given.id() != null) {
            named = reader.load(given.id());
        } else if (resource.humanId() != null) {
            String humanId = resource.humanId();
            named = database.read(session -> ofHumanId(session, humanId, owner)).orElse(null);
        }
        if (named == null && given.id() == null) {
            named = database.read(session -> sameAgent(session, resource, owner))
                    .orElse(null);
        }
        if (named != null
                && !isOwner(named.entry(), owner)
                && !disclosure.viewer(publisher).owns(named.entry())) {
            throw disclosure.viewer(publisher).sees(named.entry())
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
    private static Optional<Numbered> sameAgent(DatabaseSession session, Resource resource, Ownership owner)
            throws SQLException {
        String provider = resource.provider();
        return EntryRows.list(
                        session,
                        "SELECT " + EntryRows.COLUMNS + " FROM registry_entry e WHERE e.name = ? AND e.group_id = ?"
                                + " AND e.owner = ? ORDER BY CASE WHEN e.status = 'deleted' THEN 1 ELSE 0 END, e.number",
                        EntryRows.sortName(resource),
                        owner.group(),
                        owner.principal())
                .stream()
                .filter(each -> difference(each.entry().resource(), resource) == null)
                .min(Comparator.comparing(
                        each -> !Objects.equals(each.entry().resource().provider(), provider)));
    }

    /** The entry of an owner with a readable id. */
    private static Optional<Numbered> ofHumanId(DatabaseSession session, String humanId, Ownership owner)
            throws SQLException {
        return EntryRows.first(
                session,
                "e.human_id = ? AND e.group_id = ? AND e.owner = ?",
                humanId,
                owner.group(),
                owner.principal());
    }

    /** Whether the agent of a new entry was published by another hub since it was {@linkplain #place looked for}. */
    private static boolean isPublished(DatabaseSession session, Publication given, Entry draft) throws SQLException {
        Resource resource = draft.resource();
        String humanId = resource.humanId();
        return given.id() == null
                && (humanId != null
                                && ofHumanId(session, humanId, draft.ownership())
                                        .isPresent()
                        || sameAgent(session, resource, draft.ownership()).isPresent());
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
        Numbered named = given.id() == null ? null : reader.load(given.id());
        if (named == null || !disclosure.viewer(publisher).owns(named.entry())) {
            return;
        }
        String difference = difference(named.entry().resource(), read(given).resource());
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
        return free(urns.of(owner.group(), resource.name()), entry -> false);
    }

    /** An id that no entry has, or one that is as well. */
    private String free(String id, Predicate<Entry> isAsWell) {
        String free = id;
        Numbered entry = reader.load(free);
        for (int i = 2; entry != null && !isAsWell.test(entry.entry()); i++) {
            free = id + "-" + i;
            entry = reader.load(free);
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
        Instant now = writer.now();
        Entry old = before == null ? null : before.entry();
        var metadata = new LinkedHashMap<>(resource.metadata());
        if (given.id() != null && !Urns.written(given.id()).equals(id)) {
            metadata.put("sourceIdentifier", Urns.written(given.id()));
        }
        Leases.put(metadata, given.lease());
        Resource described = CardReader.with(resource, resource.humanId(), metadata, faces);
        Instant until = given.lease() == null ? null : now.plus(given.lease());
        if (old == null) {
            var state = new State(Status.ACTIVE, 1, 0, now, now, until);
            return new Entry(id, described, owner, Disclosure.UNCHECKED, Health.UNKNOWN, state);
        }
        State was = old.state();
        int revision = was.revision() + (old.resource().digest().equals(resource.digest()) ? 0 : 1);
        return old.with(described)
                .with(new Ownership(old.ownership().group(), old.ownership().principal(), owner.visibility()))
                .with(new State(Status.ACTIVE, revision, was.change(), was.created(), was.updated(), until));
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
            List<Difference> differences,
            Requirement requirement) {
        if (before != null && before.entry().equals(draft)) {
            return before.entry();
        }
        var details = new LinkedHashMap<String, Object>();
        details.put("revision", draft.state().revision());
        if (!differences.isEmpty()) {
            details.put("verdict", EntryModel.word(Verdict.of(differences)));
            details.put("changes", History.JSON.toJson(differences));
        }
        Numbered after = writer.commit(draft.ownership().group(), draft.id(), session -> {
            Numbered current = EntryRows.byId(session, draft.id()).orElse(null);
            long expected = before == null ? -1 : before.entry().state().change();
            if (expected != (current == null ? -1 : current.entry().state().change())
                    || current == null && isShared && isPublished(session, given, draft)) {
                return Optional.empty();
            }
            requirement.check(session);
            boolean isVersion = current == null
                    || current.entry().state().revision() != draft.state().revision();
            long more = (long) Storage.ROW
                    + Json.write(details).length
                    + (isVersion ? Storage.ROW + given.document().length : 0)
                    + (isVersion ? JsonText.write(History.JSON, differences).length : 0);
            writer.require(session, current, draft, more);
            var kind = current == null ? EntryChange.Kind.REGISTERED : EntryChange.Kind.CHANGED;
            byte[] views = current == null ? null : current.views();
            Resource open = SelectiveViews.open(draft.resource(), SelectiveViews.of(views), given.document());
            Numbered now = writer.write(session, current, draft, views, open, kind, details);
            if (isVersion) {
                History.add(session, now, writer.now(), publisher.caller(), differences, given.document());
            }
            return Optional.of(now);
        });
        return after == null ? null : after.entry();
    }
}

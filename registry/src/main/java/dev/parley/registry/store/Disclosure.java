package dev.parley.registry.store;

import dev.parley.extension.HubSignatures;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.LruMap;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.Entry.Trust;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.RegistryError;
import dev.parley.registry.document.Document;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.registry.store.History.Version;
import dev.parley.registry.store.SelectiveViews.View;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** Selects what callers may see of entries, of their documents and of the versions of these. Safe for any thread. */
public final class Disclosure {
    /** Member of the metadata of the hub's own agents: the name of the agent. */
    static final String AGENT = "agent";

    /** Views of documents in memory. */
    private static final int DISCLOSED = 128;

    static final Trust UNCHECKED = new Trust(Entry.Outcome.UNSIGNED, "", null, null, null, null);

    private final History history;
    private final BiPredicate<CallContext, String> knowsAgent;
    private final HubSignatures signatures;
    private final boolean isShared;
    private final Map<String, Disclosed> disclosed = new LruMap<>(DISCLOSED);

    /** The hub's own agents, by the keys of their rows. */
    private final Map<Long, Entry> own = new ConcurrentHashMap<>();

    /** @param knowsAgent whether a caller may know an agent of the hub itself */
    Disclosure(
            Database database, History history, BiPredicate<CallContext, String> knowsAgent, HubSignatures signatures) {
        this.history = history;
        this.knowsAgent = knowsAgent;
        this.signatures = signatures;
        this.isShared = database.access().feeds().isShared();
        var unused = database.read(session -> follow(session, 0));
    }

    /** Reads the hub's own agents that have changed after a change, by this hub or another one; returns how many. */
    int follow(DatabaseSession session, long change) throws SQLException {
        List<Numbered> changed = EntryRows.list(
                session,
                "SELECT " + EntryRows.COLUMNS + " FROM registry_label l JOIN registry_entry e ON e.number = l.entry"
                        + " WHERE l.label = ? AND e.change > ?",
                EntryRows.label("owner", Entry.HUB),
                change);
        changed.forEach(this::written);
        return changed.size();
    }

    /** The hub's own agents, deleted ones included. */
    List<Entry> own() {
        return List.copyOf(own.values());
    }

    /** Keeps an entry that was written if it is of an agent of the hub itself. */
    void written(Numbered entry) {
        if (entry.entry().ownership().principal().equals(Entry.HUB)) {
            own.merge(
                    entry.number(),
                    entry.entry(),
                    (known, now) -> known.state().change() > now.state().change() ? known : now);
        }
    }

    /** Forgets all views of documents, for instance of erased ones. */
    void forget() {
        synchronized (disclosed) {
            disclosed.clear();
        }
    }

    static String agent(Entry own) {
        return String.valueOf(own.resource().metadata().get(AGENT));
    }

    Viewer viewer(CallContext caller) {
        return Viewer.of(caller, entry -> knowsAgent.test(caller, agent(entry)));
    }

    /**
     * Returns conditions for the entries that fulfil a filter, as far as the caller may see them.
     *
     * @param isPerEntry for searches that look at a few of the entries
     */
    public Conditions conditions(EntryFilter filter, CallContext caller, boolean isPerEntry) {
        return query(filter, caller, isPerEntry).conditions();
    }

    /** A list of entries for the tokens of its pages: its filter and caller. Callers without credentials have the same one. */
    public static List<?> list(EntryFilter filter, CallContext caller) {
        return List.of(
                caller.isUnauthenticated() ? "" : caller.scope(),
                filter.skills(),
                filter.tags(),
                new TreeMap<>(filter.fields()), // in one order on all hubs
                filter.hidden());
    }

    EntryQuery query(EntryFilter filter, CallContext caller, boolean isPerEntry) {
        return new EntryQuery(filter, viewer(caller), own(caller), isPerEntry);
    }

    /**
     * Rows of the hub's own agents in a list.
     *
     * @param areShown whether only these are shown; if not, all but these
     * @param numbers keys of the rows
     */
    public record OwnRows(boolean areShown, Collection<Long> numbers) {}

    /** The hub's own agents that a caller may know. Those that another hub has just added are not shown before this hub has read them. */
    public OwnRows own(CallContext caller) {
        Viewer viewer = viewer(caller);
        boolean areShown = isShared && !viewer.isOperator();
        var numbers = new ArrayList<Long>();
        own.forEach((number, entry) -> {
            if (!viewer.isOperator() && viewer.knows().test(entry) == areShown) {
                numbers.add(number);
            }
        });
        return new OwnRows(areShown, numbers);
    }

    /** An entry as a caller sees it: by its view, if it has views. */
    Entry shown(Numbered entry, CallContext caller) {
        if (entry.views() == null || viewer(caller).owns(entry.entry())) {
            return entry.entry();
        }
        View view = view(entry, caller);
        if (view == null) {
            return entry.entry().with(SelectiveViews.bare(entry.entry().resource()));
        }
        return view.isForAll()
                ? entry.found()
                : entry.entry().with(disclosed(entry, view).resource());
    }

    private static @Nullable View view(Numbered entry, CallContext caller) {
        return SelectiveViews.of(entry.views()).stream()
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
        Version version = kept(entry, null);
        byte[] unsigned = view.of(version.bytes());
        byte[] signed =
                version.type().equals(Entry.AGENT_CARD) ? SelectiveViews.signed(unsigned, signatures) : unsigned;
        var made = new Disclosed(
                SelectiveViews.resource(entry.entry().resource(), view, version.bytes()),
                Document.of(signed, version.type(), unsigned));
        synchronized (disclosed) {
            disclosed.put(key, made);
        }
        return made;
    }

    /** @param document with the tag of its bytes without the signature, which differs each time */
    private record Disclosed(Resource resource, Document document) {}

    /** A version of a document; the newest one for null. */
    Version kept(Numbered entry, @Nullable Long revision) {
        return history.version(entry.number(), revision)
                .orElseThrow(() -> Viewer.notFound(entry.entry().id()));
    }

    /** A version of an entry; empty for older versions of a document with views, which are the owner's. */
    Optional<Entry> version(Numbered entry, int revision, CallContext caller) {
        if (entry.views() != null && !viewer(caller).owns(entry.entry())) {
            return Optional.empty();
        }
        State state = entry.entry().state();
        var then = new State(
                state.status(), revision, state.change(), state.created(), state.updated(), state.leaseUntil());
        return history.version(entry.number(), (long) revision)
                .filter(version -> version.revision() == revision)
                .map(version -> entry.entry().with(version.read().resource()).with(then));
    }

    /** The bytes of a version of a document as a caller may see it; of the newest one for null. */
    Document document(Numbered entry, @Nullable Long revision, CallContext caller) {
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
        Version version = kept(entry, revision);
        return Document.of(version.bytes(), version.type(), version.bytes());
    }

    /** Deleted entry without content, for readers that may no longer see it. */
    static Entry tombstone(Entry now) {
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
}

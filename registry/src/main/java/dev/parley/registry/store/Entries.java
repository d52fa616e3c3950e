package dev.parley.registry.store;

import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.spi.DerivedTable;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.spi.RegistryEntries;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The record of a registry that all of its faces read and write, in parts that share the tables. A caller sees its own entries, those of its
 * group that are visible to the group, and public ones; others do not exist for it. Safe for any thread. See
 * {@code docs/adr/0049-record-of-a-registry.md}.
 *
 * @param clock that all hubs of the database have in common
 */
public record Entries(
        Disclosure disclosure,
        EntryReader reader,
        EntryWriter writer,
        EntryPublisher publisher,
        EntryReviews reviews,
        Changes changes,
        InstantSource clock)
        implements RegistryEntries {
    /**
     * Changes of entries.
     *
     * @param log in which callers follow them
     * @param derived tables that are made of them
     * @param history earlier versions of entries
     */
    public record Changes(EntryLog log, DerivedTables derived, History history) {}

    /** The registry itself as a reader of all entries. */
    public static final CallContext ITSELF = new CallContext(
            new CallContext.Caller(Entry.HUB, Set.of("admin"), ""),
            new CallContext.Scope("", Entry.HUB),
            CallContext.anonymous().wire(),
            CallContext.anonymous().trace(),
            null);

    private static final EntryFilter EVERY_STATUS = new EntryFilter(List.of(), List.of(), Map.of(), true);

    /** Tables of entries. */
    public static List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(RegistryTables.of(kind), DerivedTables.TABLES);
    }

    /**
     * Makes or opens the tables.
     *
     * @param publisher domain of the hub in URNs
     * @param domains further domains as {@code GROUP=DOMAIN}
     * @param knowsAgent whether a caller may know an agent of the hub itself
     * @param clock of a hub that has its database alone
     */
    public static Entries open(
            Database database,
            String publisher,
            List<String> domains,
            BiPredicate<CallContext, String> knowsAgent,
            HubTimers timers,
            HubSignatures signatures,
            InstantSource clock) {
        RegistryTables.make(database);
        var urns = new Urns(publisher, domains);
        var cache = new EntryCache(EntryCache.MAX_BYTES);
        var history = new History(database);
        var disclosure = new Disclosure(database, history, knowsAgent, signatures);
        var others = new OtherHubs(database, clock, cache, disclosure);
        var reader = new EntryReader(database, cache, urns, disclosure);
        var log = new EntryLog(database, disclosure, others);
        var writer = new EntryWriter(database, cache, reader, disclosure, log, timers, others);
        var publications = new EntryPublisher(database, cache, urns, disclosure, reader, writer);
        var reviews = new EntryReviews(database, reader, writer, others);
        var derived = new DerivedTables(database, writer);
        others.follow(log, derived::catchUp);
        var changes = new Changes(log, derived, history);
        return new Entries(disclosure, reader, writer, publications, reviews, changes, others);
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
                            row -> DatabaseSession.text(row, 1),
                            "SELECT value FROM registry_setting WHERE name = 'publisher'")
                    .orElseThrow();
        });
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

    @Override
    public Optional<Entry> find(String id, CallContext viewer) {
        return reader.find(id, viewer);
    }

    @Override
    public byte[] document(String id, CallContext viewer) {
        return reader.document(id, null, viewer).bytes();
    }

    @Override
    public Entry publish(Publication publication, CallContext caller) {
        return publisher.publish(publication, caller);
    }

    @Override
    public Entry publish(Publication publication, Requirement requirement, CallContext caller) {
        return publisher.publish(publication, requirement, caller);
    }

    @Override
    public Entry setActive(String id, boolean isActive, CallContext owner) {
        return isActive
                ? writer.change(id, EntryChange.Kind.CHANGED, Map.of(), owner, EntryOperations::restored)
                : writer.change(
                        id,
                        EntryChange.Kind.DELETED,
                        Map.of(),
                        owner,
                        entry -> entry.state().status() == Status.REVOKED
                                ? entry
                                : entry.with(entry.state().with(Status.DELETED)));
    }

    @Override
    public void derive(DerivedTable table, EntryListener listener) {
        changes.derived().add(table, listener);
    }

    @Override
    public Conditions seen(DerivedTable table, CallContext viewer) {
        Conditions seen = disclosure.conditions(EVERY_STATUS, viewer, true);
        // Columns with the name of their table: without it, those of the entry would be meant.
        return new Conditions(
                "EXISTS (SELECT 1 FROM registry_entry e WHERE e.number = " + table.name() + "." + table.number()
                        + " AND e.change = " + table.name() + "." + table.change() + " AND " + seen.where() + ")",
                seen.values());
    }
}

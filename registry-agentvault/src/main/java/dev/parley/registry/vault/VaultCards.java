package dev.parley.registry.vault;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.extension.HubAgents;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.support.FairPool;
import dev.parley.protocol.support.Loopback;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.spi.DerivedTable;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.spi.RegistryEntries;
import dev.parley.registry.spi.RegistryEntries.Requirement;
import dev.parley.registry.vault.VaultAccounts.Developer;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Readers;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Public entries as cards of AgentVault: those with such a card, and agents with an address in its dialect. A table has what its lists
 * select by; the entries say which of its rows are shown. Safe for any thread.
 */
final class VaultCards implements EntryListener, AutoCloseable {
    /** Group of the accounts of AgentVault among the owners of entries. */
    static final String GROUP = "agentvault";

    private static final String PRINCIPAL = "developer-";
    private static final String DIALECT = "agentvault";
    private static final String TEE_TYPE = "teeType";
    private static final long OF_HUB = -1;
    private static final long OF_OTHERS = 0;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** The registry itself, which reads entries that are deleted, too. */
    private static final CallContext ITSELF = new CallContext(
            new CallContext.Caller(GROUP, Set.of("admin"), ""),
            new Scope(GROUP, GROUP),
            CallContext.anonymous().wire(),
            CallContext.anonymous().trace(),
            null);

    private static final CallContext PUBLIC = CallContext.unauthenticated(GROUP);

    static final ModuleTables TABLES = new ModuleTables(
            "registry-vault",
            List.of("""
            CREATE TABLE registry_vault_card (
                entry_no    KEY PRIMARY KEY,
                card_id     TEXT NOT NULL,
                urn         TEXT NOT NULL,
                human_id    TEXT NOT NULL,
                human_key   TEXT NOT NULL,
                developer   BIGINT NOT NULL,
                active      INTEGER NOT NULL,
                name        TEXT NOT NULL, description TEXT NOT NULL,
                words       TEXT NOT NULL,
                tags        TEXT NOT NULL,
                tee         TEXT,
                updated_ms  BIGINT NOT NULL
            );
            CREATE INDEX registry_vault_card_id ON registry_vault_card (card_id);
            CREATE INDEX registry_vault_card_human ON registry_vault_card (human_key);
            CREATE INDEX registry_vault_card_updated ON registry_vault_card (updated_ms);
            """, "ALTER TABLE registry_vault_card ADD COLUMN entry_change BIGINT NOT NULL DEFAULT 0"));

    private static final DerivedTable DERIVED = new DerivedTable("registry_vault_card", "entry_no", "entry_change");

    private final Database database;
    private final Readers readers;
    private final FairPool pool = new FairPool("vault-list", 2, 64);
    private final RegistryEntries entries;
    private final VaultAccounts accounts;
    private final HubAgents agents;

    /** For the creation of cards, so that a readable id is given once; other hubs are held off by a {@link #free requirement}. */
    private final ReentrantLock creating = new ReentrantLock();

    VaultCards(Database database, RegistryEntries entries, VaultAccounts accounts, HubAgents agents) {
        this.agents = agents;
        this.database = database;
        this.entries = entries;
        this.accounts = accounts;
        database.migrate(TABLES);
        this.readers = database.readers(2);
        entries.derive(DERIVED, this);
    }

    /**
     * Conditions of a list; null ones hold always.
     *
     * @param owner number of an account
     */
    record Query(
            int skip,
            int limit,
            boolean isActiveOnly,
            @Nullable String search,
            List<String> tags,
            @Nullable Boolean hasTee,
            @Nullable String teeType,
            @Nullable Long owner) {}

    private record Row(String id, String urn, String name, String description, long developer, boolean isActive) {
        static final String COLUMNS = "card_id, urn, name, description, developer, active";

        static Row read(ResultSet row) throws SQLException {
            return new Row(
                    DatabaseSession.text(row, 1),
                    DatabaseSession.text(row, 2),
                    DatabaseSession.text(row, 3),
                    DatabaseSession.text(row, 4),
                    row.getLong(5),
                    row.getInt(6) == 1);
        }
    }

    // ---- The table

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        erased(session, number);
        Resource of = now.resource();
        boolean isCard = of.type().equals(Entry.AGENT_CARD) && address(now) != null;
        boolean isOfHub = now.ownership().principal().equals(Entry.HUB);
        if (!isCard || !isOfHub && now.ownership().visibility() != Visibility.PUBLIC) {
            return;
        }
        String humanId = humanId(now);
        session.update(
                "INSERT INTO registry_vault_card (entry_no, card_id, urn, human_id, human_key, developer, active, name, description,"
                        + " words, tags, tee, updated_ms, entry_change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                number,
                UUID.nameUUIDFromBytes(now.id().getBytes(StandardCharsets.UTF_8))
                        .toString(),
                now.id(),
                humanId,
                humanId.toLowerCase(Locale.ROOT),
                isOfHub ? OF_HUB : developer(now.ownership()),
                isActive(now) ? 1 : 0,
                of.name(),
                of.description(),
                (of.name() + "\n" + of.description()).toLowerCase(Locale.ROOT),
                "\n" + String.join("\n", of.tags()) + "\n",
                tee(now),
                now.state().updated(),
                now.state().change());
    }

    @Override
    public void erased(DatabaseSession session, long number) throws SQLException {
        session.update("DELETE FROM registry_vault_card WHERE entry_no = ?", number);
    }

    /** The address of an agent in AgentVault's dialect; the cards of the hub's own agents do not list it. */
    private static @Nullable String address(Entry entry) {
        List<Endpoint> endpoints = entry.resource().endpoints();
        if (entry.ownership().principal().equals(Entry.HUB)) {
            return endpoints.isEmpty()
                    ? null
                    : Loopback.local(endpoints.getFirst().url(), null) + "/" + DIALECT;
        }
        return endpoints.stream()
                .filter(endpoint -> endpoint.dialect().equals(DIALECT))
                .map(Endpoint::url)
                .findFirst()
                .orElse(null);
    }

    private static boolean isActive(Entry entry) {
        return entry.isUsable();
    }

    private static @Nullable String tee(Entry entry) {
        Object type = requireNonNullElse(
                entry.trust().tee(), entry.resource().metadata().getOrDefault(TEE_TYPE, ""));
        return type.equals("") ? null : String.valueOf(type).toLowerCase(Locale.ROOT);
    }

    private static String humanId(Entry entry) {
        String id = entry.resource().humanId();
        if (id != null) {
            return id;
        }
        String[] urn = entry.id().split(":", -1);
        boolean isOfHub = entry.ownership().principal().equals(Entry.HUB); // as its own card says
        return (isOfHub ? "parley" : urn[urn.length - 2]) + "/" + urn[urn.length - 1];
    }

    private static long developer(Ownership owner) {
        return developer(owner.group(), owner.principal());
    }

    /** The number of the account that is an owner of entries; 0 for other owners. */
    static long developer(String group, String principal) {
        return group.equals(GROUP) && principal.matches(PRINCIPAL + "\\d{1,18}")
                ? Long.parseLong(principal.substring(PRINCIPAL.length()))
                : OF_OTHERS;
    }

    /** The account with a number as an owner of entries. */
    static String principal(long developer) {
        return PRINCIPAL + developer;
    }

    private static CallContext context(Developer developer) {
        String principal = principal(developer.id());
        return CallContext.of(principal, new Scope(GROUP, principal));
    }

    // ---- Reading

    /**
     * The id of a card in a path, as it is stored.
     *
     * @throws VaultException 422 for any other text
     */
    static String id(String text) {
        try {
            return UUID.fromString(
                            text.length() == 32 ? text.replaceFirst("(.{8})(.{4})(.{4})(.{4})", "$1-$2-$3-$4-") : text)
                    .toString();
        } catch (IllegalArgumentException invalid) {
            var faults = ValueRules.Faults.at("path", "card_id");
            faults.add("uuid_parsing", "Input should be a valid UUID, unable to parse string as a UUID", text);
            faults.refuse();
            throw invalid;
        }
    }

    Map<String, Object> get(String id) {
        return json(row(id), null);
    }

    /** The row of a card that may be shown. */
    private Row row(String id) {
        return one("card_id = ?", id).orElseThrow(() -> VaultException.of(404, "Agent Card not found"));
    }

    private Optional<Row> one(String condition, String value) {
        var conditions = new ArrayList<>(List.of(condition));
        var values = new ArrayList<@Nullable Object>(List.of(value));
        String from = shown(conditions, values);
        return database
                .read(session -> session.list(
                        Row::read, "SELECT " + Row.COLUMNS + from + " ORDER BY entry_no", values.toArray()))
                .stream()
                .filter(this::isShown)
                .findFirst();
    }

    /**
     * The table with conditions, among them that its rows are as the entries are. Anonymous callers see the entry; the card of an account
     * is also shown when it is deleted, as one that is not active.
     */
    private String shown(List<String> conditions, List<@Nullable Object> values) {
        Conditions toAll = entries.seen(DERIVED, PUBLIC);
        Conditions toItself = entries.seen(DERIVED, ITSELF);
        conditions.add("(" + toAll.where() + " OR developer > " + OF_OTHERS + " AND " + toItself.where() + ")");
        values.addAll(toAll.values());
        values.addAll(toItself.values());
        return " FROM registry_vault_card WHERE " + String.join(" AND ", conditions);
    }

    /** The policy and the dialects of the hub decide about its own agents. */
    private boolean isShown(Row row) {
        return row.developer() != OF_HUB
                || entries.find(row.urn(), PUBLIC)
                        .map(entry -> String.valueOf(entry.resource().metadata().get("agent")))
                        .filter(agent -> agents.speaks(agent, DIALECT))
                        .isPresent();
    }

    Map<String, Object> byHumanId(String humanId) {
        return one("human_id = ?", humanId)
                .or(() -> one("human_key = ?", humanId.toLowerCase(Locale.ROOT)))
                .map(row -> json(row, null))
                .orElseThrow(
                        () -> VaultException.of(404, "Agent Card with humanReadableId '" + humanId + "' not found"));
    }

    /** @param known the entry for its owner; null to read it for others */
    private Map<String, Object> json(Row row, @Nullable Entry known) {
        boolean isOfAccount = row.developer() > OF_OTHERS;
        CallContext viewer = known != null || isOfAccount ? ITSELF : PUBLIC;
        Entry entry = known != null
                ? known
                : entries.find(row.urn(), viewer)
                        .filter(now -> now.ownership().visibility() == Visibility.PUBLIC)
                        .orElseThrow(() -> VaultException.of(404, "Agent Card not found"));
        var json = new LinkedHashMap<String, Object>();
        json.put("name", entry.resource().name());
        json.put("description", entry.resource().description());
        json.put("is_active", isActive(entry));
        json.put("id", row.id());
        json.put("developer_id", Math.max(OF_OTHERS, row.developer()));
        json.put(
                "developer_is_verified",
                row.developer() == OF_HUB
                        || accounts.byId(row.developer())
                                .filter(Developer::verified)
                                .isPresent());
        json.put("card_data", card(entry, viewer));
        json.put("created_at", entry.state().created().toString());
        json.put("updated_at", entry.state().updated().toString());
        return json;
    }

    /** The card of AgentVault that an entry has, or that its card of A2A amounts to. */
    private Map<String, @Nullable Object> card(Entry entry, CallContext viewer) {
        byte[] document = entries.document(entry.id(), viewer);
        Map<String, @Nullable Object> members = ValueRules.members(Json.read(document, Map.class));
        if (members.containsKey("humanReadableId") && members.containsKey("authSchemes")) {
            return members;
        }
        Resource of = entry.resource();
        var card = new LinkedHashMap<String, @Nullable Object>();
        card.put("schemaVersion", "1.0");
        card.put("humanReadableId", humanId(entry));
        card.put("agentVersion", of.version());
        card.put("name", of.name());
        card.put("description", of.description());
        card.put("url", address(entry));
        card.put("provider", Map.of("name", requireNonNullElse(of.provider(), "unknown")));
        card.put("capabilities", Map.of("a2aVersion", "0.2", "supportedMessageParts", List.of("text", "file", "data")));
        List<String> schemes = of.schemes().stream()
                .filter(List.of("apiKey", "bearer")::contains)
                .toList();
        card.put(
                "authSchemes",
                (schemes.isEmpty() ? List.of("none") : schemes)
                        .stream().map(scheme -> Map.of("scheme", scheme)).toList());
        card.put(
                "skills",
                of.skills().stream()
                        .map(skill ->
                                Map.of("id", skill.id(), "name", skill.name(), "description", skill.description()))
                        .toList());
        card.put("tags", of.tags());
        return card;
    }

    Map<String, Object> list(Query query, String address) {
        var conditions = new ArrayList<String>();
        var values = new ArrayList<@Nullable Object>();
        if (query.isActiveOnly()) {
            conditions.add("active = 1");
        }
        if (query.owner() != null) {
            conditions.add("developer = ?");
            values.add(query.owner());
        }
        String position = database.kind() == DatabaseKind.SQLITE ? "instr" : "strpos";
        if (query.search() != null && !query.search().isEmpty()) {
            conditions.add(position + "(words, ?) > 0");
            values.add(query.search().toLowerCase(Locale.ROOT));
        }
        for (String tag : query.tags()) {
            conditions.add(position + "(tags, ?) > 0");
            values.add("\n" + tag + "\n");
        }
        if (query.hasTee() != null) {
            conditions.add(query.hasTee() ? "tee IS NOT NULL" : "tee IS NULL");
        }
        if (query.teeType() != null && !query.teeType().isEmpty()) {
            conditions.add("tee = ?");
            values.add(query.teeType().toLowerCase(Locale.ROOT));
        }
        String from = shown(conditions, values);
        var total = new long[1];
        List<Row> rows = computed(
                address,
                () -> readers.snapshot(PATIENCE, session -> {
                    total[0] = session.number("SELECT count(*)" + from, values.toArray());
                    values.add(query.limit());
                    values.add(query.skip());
                    return session.list(
                            Row::read,
                            "SELECT " + Row.COLUMNS + from
                                    + " ORDER BY updated_ms DESC, entry_no DESC LIMIT ? OFFSET ?",
                            values.toArray());
                }));
        var items = rows.stream()
                .filter(this::isShown)
                .map(row -> Map.of("id", row.id(), "name", row.name(), "description", row.description()))
                .toList();
        return Map.of(
                "items",
                items,
                "pagination",
                Map.of(
                        "total_items", total[0],
                        "limit", query.limit(),
                        "offset", query.skip(),
                        "total_pages", Math.ceilDiv(total[0], query.limit()),
                        "current_page", query.skip() / query.limit() + 1));
    }

    private List<Row> computed(String address, Supplier<List<Row>> work) {
        try {
            return pool.call(address, PATIENCE.multipliedBy(2), work);
        } catch (RejectedExecutionException | TimeoutException busy) {
            throw VaultException.of(503, "Too many searches at present");
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw VaultException.of(503, "Interrupted");
        }
    }

    // ---- Changes

    /** @throws VaultException 422 for an invalid card, 409 for a readable id that is taken */
    Map<String, Object> create(Developer developer, Map<String, @Nullable Object> card) {
        CardForm.problem(card).ifPresent(problem -> {
            throw VaultException.of(422, "Failed to create agent card: Invalid Agent Card data provided: " + problem);
        });
        creating.lock();
        try {
            requireFree(card, null);
            return written(publish(null, developer, card));
        } catch (A2AException refused) {
            requireFree(card, null); // another hub may have been faster
            throw refusal("Failed to create agent card: ", refused);
        } finally {
            creating.unlock();
        }
    }

    /**
     * Changes a card.
     *
     * @param changes members that replace those of the card; null for none
     */
    Map<String, Object> update(
            Developer developer,
            String id,
            @Nullable Map<String, @Nullable Object> changes,
            @Nullable Boolean isActive) {
        Row row = owned(developer, id, "update");
        Entry entry = entry(row);
        creating.lock();
        try {
            requireNotRevoked(entry, "update");
            boolean shallBeActive = isActive == null ? isActive(entry) : isActive;
            if (changes != null) {
                var merged = new LinkedHashMap<>(card(entry, ITSELF));
                merged.putAll(changes);
                CardForm.problem(merged).ifPresent(problem -> {
                    throw VaultException.of(
                            422,
                            "Failed to update agent card: Invalid merged Agent Card data provided for update: "
                                    + problem);
                });
                requireFree(merged, row.urn());
                entry = changed(row, developer, merged);
            }
            if (shallBeActive != isActive(entry)) {
                entry = entries.setActive(entry.id(), shallBeActive, context(developer));
            }
            return json(row, entry);
        } catch (A2AException refused) {
            throw refusal("Failed to update agent card: ", refused);
        } finally {
            creating.unlock();
        }
    }

    private Entry changed(Row row, Developer developer, Map<String, @Nullable Object> card) {
        try {
            return publish(row.urn(), developer, card);
        } catch (A2AException refused) {
            requireFree(card, row.urn()); // another hub may have been faster
            throw refused;
        }
    }

    private static VaultException refusal(String failure, A2AException refused) {
        int status =
                refused.error() == A2AError.QUOTA_EXCEEDED ? refused.error().httpStatus() : 422;
        return VaultException.of(status, failure + refused.getMessage());
    }

    void delete(Developer developer, String id) {
        Entry entry = entry(owned(developer, id, "delete"));
        if (isActive(entry)) {
            try {
                entries.setActive(entry.id(), false, context(developer));
            } catch (A2AException failed) {
                throw VaultException.of(500, "Failed to deactivate agent card due to internal error.");
            }
        }
    }

    private Row owned(Developer developer, String id, String verb) {
        Row row = row(id);
        if (row.developer() != developer.id()) {
            throw VaultException.of(403, "Not authorized to " + verb + " this agent card");
        }
        return row;
    }

    private Entry entry(Row row) {
        return entries.find(row.urn(), ITSELF).orElseThrow(() -> VaultException.of(404, "Agent Card not found"));
    }

    private static void requireNotRevoked(Entry entry, String verb) {
        if (entry.state().status() == Entry.Status.REVOKED) {
            throw VaultException.of(422, "Failed to " + verb + " agent card: the entry is revoked");
        }
    }

    /** @param own URN of the entry that has the id already; null for none */
    private void requireFree(Map<String, @Nullable Object> card, @Nullable String own) {
        String humanId = requireNonNull(ValueRules.text(card, "humanReadableId"));
        if (database.read(session -> isTaken(session, humanId, own))) {
            throw VaultException.of(409, "Agent Card with humanReadableId '" + humanId + "' already exists");
        }
    }

    private boolean isTaken(DatabaseSession session, String humanId, @Nullable String own) throws SQLException {
        Conditions current = entries.seen(DERIVED, ITSELF);
        var values = new ArrayList<@Nullable Object>(List.of(humanId.toLowerCase(Locale.ROOT)));
        values.addAll(current.values());
        return session
                .list(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT urn FROM registry_vault_card WHERE human_key = ? AND " + current.where(),
                        values.toArray())
                .stream()
                .anyMatch(urn -> !urn.equals(own));
    }

    /** Requires in the transaction that a readable id is free, for another hub may give it since it was looked up. */
    private Requirement free(String humanId, @Nullable String own) {
        return session -> {
            if (isTaken(session, humanId, own)) {
                throw A2AException.invalidParams("humanReadableId", humanId + " (expected: a free one)");
            }
        };
    }

    private Entry publish(@Nullable String urn, Developer developer, Map<String, @Nullable Object> card) {
        String humanId = requireNonNull(ValueRules.text(card, "humanReadableId"));
        Object tee = ValueRules.members(card.get("capabilities")).get("teeDetails");
        String type = ValueRules.text(ValueRules.members(tee), "type");
        return entries.publish(
                new Publication(
                        urn,
                        Entry.AGENT_CARD,
                        Json.write(card),
                        null,
                        humanId,
                        Visibility.PUBLIC,
                        null,
                        List.of(),
                        type == null ? Map.of() : Map.of(TEE_TYPE, type)),
                database.access().feeds().isShared() ? free(humanId, urn) : Requirement.NONE,
                context(developer));
    }

    private Map<String, Object> written(Entry entry) {
        return one("urn = ?", entry.id())
                .map(row -> json(row, entry))
                .orElseThrow(() -> new IllegalStateException("entry " + entry.id() + ": not in the table of cards"));
    }

    @Override
    public void close() {
        pool.close();
    }
}

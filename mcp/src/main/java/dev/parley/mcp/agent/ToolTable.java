package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.extension.HubCheck;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.ToolModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.FairPool;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.shared.KeyLocks;
import dev.parley.store.spi.ModuleTables;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Definitions of tools that are in use, and those that wait for approval, with their digests; and calls that wait for an answer of their
 * caller. The definitions of the first contact with a server are approved. Each read asks the database. Changes are counted, so that all
 * hubs on it read the approved ones again.
 */
final class ToolTable {
    private static final String SCHEMA = """
            CREATE TABLE mcp_tool (
                server     TEXT NOT NULL,
                name       TEXT NOT NULL,
                digest     TEXT NOT NULL,
                definition TEXT NOT NULL,
                held       TEXT,
                held_as    TEXT,
                since_ms   BIGINT NOT NULL,
                PRIMARY KEY (server, name)
            ) ROWLESS;
            CREATE TABLE mcp_call (
                task_id  TEXT PRIMARY KEY,
                content  TEXT NOT NULL,
                since_ms BIGINT NOT NULL
            ) ROWLESS;
            """;

    private static final String SERVERS = """
            CREATE TABLE mcp_server (
                server   TEXT PRIMARY KEY,
                problem  TEXT NOT NULL,
                since_ms BIGINT NOT NULL
            ) ROWLESS;
            """;

    /** Definitions and calls, which may be long, in rows with a number of their own. */
    private static final String KEYED = """
            CREATE TABLE mcp_keyed_tool (
                server     TEXT NOT NULL,
                name       TEXT NOT NULL,
                digest     TEXT NOT NULL,
                definition TEXT NOT NULL,
                held       TEXT,
                held_as    TEXT,
                since_ms   BIGINT NOT NULL,
                PRIMARY KEY (server, name)
            );
            INSERT INTO mcp_keyed_tool (server, name, digest, definition, held, held_as, since_ms)
                SELECT server, name, digest, definition, held, held_as, since_ms FROM mcp_tool;
            DROP TABLE mcp_tool;
            ALTER TABLE mcp_keyed_tool RENAME TO mcp_tool;
            CREATE TABLE mcp_keyed_call (
                task_id  TEXT PRIMARY KEY,
                content  TEXT NOT NULL,
                since_ms BIGINT NOT NULL
            );
            INSERT INTO mcp_keyed_call (task_id, content, since_ms) SELECT task_id, content, since_ms FROM mcp_call;
            DROP TABLE mcp_call;
            ALTER TABLE mcp_keyed_call RENAME TO mcp_call;
            """;

    private static final String NEW = "INSERT INTO mcp_tool (server, name, digest, definition, held, held_as, since_ms)"
            + " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT ";

    /** Another hub that has met the server a moment later may have a part of its tools wait. */
    private static final String FIRST = NEW
            + "(server, name) DO UPDATE SET digest = excluded.digest, definition = excluded.definition, held = NULL,"
            + " held_as = NULL WHERE mcp_tool.digest = '' AND mcp_tool.held_as = excluded.digest";

    private static final String MODULE = "mcp-servers";

    static final ModuleTables TABLES = new ModuleTables(MODULE, List.of(SCHEMA, SERVERS, KEYED));

    private static final String ROWS = "SELECT server, name, digest, definition, held, held_as FROM mcp_tool";
    private static final String PINS = "SELECT name, digest, held_as FROM mcp_tool WHERE server = ? ORDER BY name";

    /** Wait for a thread that compares the tools of a server. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /**
     * A tool of a server.
     *
     * @param digest of the approved definition; empty for a new tool that waits
     * @param approved null for a new tool that waits for its first approval
     * @param heldDigest of the changed definition; null for none
     * @param held definition that waits for approval; null for none
     */
    record Row(
            String server,
            String name,
            String digest,
            @Nullable Tool approved,
            @Nullable String heldDigest,
            @Nullable Tool held) {
        /** Members in which the waiting definition differs from the approved one, by their paths, with both values. */
        Map<String, @Nullable Object> differences() {
            var found = new LinkedHashMap<String, @Nullable Object>();
            if (approved != null && held != null) {
                collect("", 0, json(approved), json(held), found);
            }
            return found;
        }

        private static void collect(
                String path,
                int depth,
                @Nullable Object before,
                @Nullable Object after,
                Map<String, @Nullable Object> found) {
            if (Objects.equals(before, after)) {
                return;
            }
            if (depth > DEPTH_OF_ARGUMENTS || !(before instanceof Map<?, ?>) || !(after instanceof Map<?, ?>)) {
                var both = new LinkedHashMap<String, @Nullable Object>();
                both.put("approved", before);
                both.put("held", after);
                both.values().removeIf(Objects::isNull);
                found.put(path, both);
                return;
            }
            var names = new TreeSet<>(Trees.map(before).keySet());
            names.addAll(Trees.map(after).keySet());
            for (String name : names) {
                String below = depth == 0 ? name : path + "." + name;
                collect(
                        below,
                        depth + 1,
                        Trees.map(before).get(name),
                        Trees.map(after).get(name),
                        found);
            }
        }
    }

    /**
     * A tool without its definitions, which are long.
     *
     * @param digest of the approved definition; empty for a new tool that waits
     * @param heldDigest of the changed definition; null for none
     */
    record Pin(String name, String digest, @Nullable String heldDigest) {
        private static Pin read(ResultSet row) throws SQLException {
            return new Pin(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2), DatabaseSession.text(row, 3));
        }
    }

    /** The last contact with a server. */
    record Contact(String server, String problem, Instant since) {}

    private static final int DEPTH_OF_ARGUMENTS = 2;

    private final Database database;
    private final Epochs epochs;
    private final KeyLocks locks;

    ToolTable(Database database) {
        this.database = database;
        this.epochs = database.access().epochs();
        this.locks = new KeyLocks(epochs);
        database.migrate(TABLES);
    }

    /** Has the approved tools read again after each change by another hub. To be called before they are read for the first time. */
    void keep(Runnable reading) {
        epochs.keep(Epoch.TOOLS, reading);
    }

    /** All members of a definition, of which its digest is. */
    private static String text(Tool tool) {
        return new String(JsonText.write(Codecs.STRUCT, sorted(json(tool))), UTF_8);
    }

    /** All members of a definition, as far as it has them. */
    static Map<String, @Nullable Object> json(Tool tool) {
        return Trees.of(ToolModel.TOOL, tool);
    }

    private static Map<String, @Nullable Object> sorted(Map<?, ?> json) {
        var sorted = new TreeMap<String, @Nullable Object>();
        json.forEach((name, value) -> sorted.put(String.valueOf(name), ordered(value)));
        return sorted;
    }

    private static @Nullable Object ordered(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> map -> sorted(map);
            case List<?> list -> {
                var copy = new ArrayList<@Nullable Object>();
                list.forEach(each -> copy.add(ordered(each)));
                yield copy;
            }
            case null, default -> value;
        };
    }

    private static @Nullable Tool tool(@Nullable String text) {
        return text == null || text.isEmpty() ? null : JsonText.read(text.getBytes(UTF_8), ToolModel.TOOL);
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(
                DatabaseSession.text(row, 1),
                DatabaseSession.text(row, 2),
                DatabaseSession.text(row, 3),
                tool(DatabaseSession.text(row, 4)),
                DatabaseSession.text(row, 6),
                tool(DatabaseSession.text(row, 5)));
    }

    /** All tools, or those of a server. */
    List<Row> rows(@Nullable String server) {
        return database.read(session -> rows(session, server));
    }

    private static List<Row> rows(DatabaseSession session, @Nullable String server) throws SQLException {
        return server == null
                ? session.list(ToolTable::row, ROWS + " ORDER BY server, name")
                : session.list(ToolTable::row, ROWS + " WHERE server = ? ORDER BY name", server);
    }

    /** The tools of a server without their definitions. */
    List<Pin> pins(String server) {
        return database.read(session -> session.list(Pin::read, PINS, server));
    }

    /** One tool. */
    Optional<Row> row(String server, String name) {
        return database.read(
                session -> session.first(ToolTable::row, ROWS + " WHERE server = ? AND name = ?", server, name));
    }

    /**
     * Compares the definitions of a server with the approved ones. Those of the first contact are approved; others wait. A server may
     * have thousands of tools: the work is done beside that of callers, and written in parts.
     *
     * @return the tools by the digests of their definitions
     */
    Map<String, Tool> offered(String server, List<Tool> tools) {
        return database.scan("mcp " + server, PATIENCE, () -> compared(server, tools));
    }

    private Map<String, Tool> compared(String server, List<Tool> tools) {
        List<Pin> before = pins(server);
        boolean isFirst = before.isEmpty();
        long now = Instant.now().toEpochMilli();
        var known = new HashMap<String, Pin>();
        before.forEach(pin -> known.put(pin.name, pin));
        var offered = new HashMap<String, Tool>();
        var changes = new ArrayList<Change>();
        for (Tool tool : tools) {
            FairPool.checkpoint();
            String text = text(tool);
            String digest = Sha256.hex(text);
            offered.put(digest, tool);
            Pin pin = known.get(tool.name());
            if (pin == null) {
                changes.add(new Change(
                        isFirst ? FIRST : NEW + "DO NOTHING",
                        server,
                        tool.name(),
                        isFirst ? digest : "",
                        isFirst ? text : "",
                        isFirst ? null : text,
                        isFirst ? null : digest,
                        now));
            } else if (pin.digest.equals(digest)) {
                if (pin.heldDigest != null) {
                    changes.add(new Change(
                            "UPDATE mcp_tool SET held = NULL, held_as = NULL WHERE server = ? AND name = ? AND digest = ?",
                            server,
                            tool.name(),
                            digest));
                }
            } else if (!digest.equals(pin.heldDigest)) {
                changes.add(new Change(
                        "UPDATE mcp_tool SET held = ?, held_as = ?, since_ms = ?"
                                + " WHERE server = ? AND name = ? AND digest <> ?",
                        text,
                        digest,
                        now,
                        server,
                        tool.name(),
                        digest));
            }
        }
        int changed =
                database.writeInSlices(changes, false, (session, change) -> session.update(change.sql, change.values));
        if (changed > 0 && epochs.isShared()) {
            long unused = database.write(session -> epochs.bump(session, Epoch.TOOLS));
        }
        return Map.copyOf(offered);
    }

    /** A statement with its values. */
    private static final class Change {
        final String sql;
        final @Nullable Object[] values;

        Change(String sql, @Nullable Object... values) {
            this.sql = sql;
            this.values = values;
        }
    }

    /**
     * Approval of definitions.
     *
     * @param tools names of the approved tools
     * @param number of the change
     */
    record Approval(List<String> tools, long number) {}

    /**
     * Approves waiting definitions.
     *
     * @param name null for all of the server
     * @param digest of the definition that was looked at; null for any
     */
    Approval approve(String server, @Nullable String name, @Nullable String digest) {
        return locks.patiently(() -> database.write(session -> locks.take(session, "mcp_tool " + server)
                ? Optional.of(approve(session, server, name, digest))
                : Optional.empty()));
    }

    private Approval approve(DatabaseSession session, String server, @Nullable String name, @Nullable String digest)
            throws SQLException {
        var approved = new ArrayList<String>();
        long now = Instant.now().toEpochMilli();
        for (Pin pin : session.list(Pin::read, PINS, server)) {
            String held = pin.heldDigest;
            if (held == null || name != null && !name.equals(pin.name) || digest != null && !held.startsWith(digest)) {
                continue;
            }
            session.update(
                    "UPDATE mcp_tool SET digest = held_as, definition = held, held = NULL, held_as = NULL,"
                            + " since_ms = ? WHERE server = ? AND name = ? AND held_as = ?",
                    now,
                    server,
                    pin.name,
                    held);
            approved.add(pin.name);
        }
        return new Approval(approved, approved.isEmpty() ? 0 : epochs.bump(session, Epoch.TOOLS));
    }

    /** Waits until all hubs have read an approval, or answer nothing. */
    void awaitSeen(Approval approval) {
        boolean unused = epochs.barrier(Epoch.TOOLS, approval.number);
    }

    /** Keeps the outcome of a contact with a server, for checks from outside of the hub. */
    void contact(String server, String problem) {
        // If another hub writes it at the moment, its word counts.
        database.write(session -> locks.take(session, "mcp_server " + server)
                ? session.update(
                        "INSERT INTO mcp_server (server, problem, since_ms) VALUES (?, ?, ?) ON CONFLICT (server)"
                                + " DO UPDATE SET problem = excluded.problem, since_ms = excluded.since_ms",
                        server,
                        problem,
                        Instant.now().toEpochMilli())
                : 0);
    }

    /** Forgets the contacts with servers that are not configured any more. */
    void keepContacts(Collection<String> servers) {
        database.write(session -> {
            for (String each : session.list(row -> DatabaseSession.text(row, 1), "SELECT server FROM mcp_server")) {
                if (!servers.contains(each)) {
                    session.update("DELETE FROM mcp_server WHERE server = ?", each);
                }
            }
            return servers;
        });
    }

    /** Checks of a database for {@code parley doctor}: servers without connection, and tools that wait for approval. */
    static List<HubCheck> checks(Database database) {
        return database.read(session -> {
            if (session.number("SELECT count(*) FROM module_version WHERE module = ? AND version > 1", MODULE) == 0) {
                return List.of();
            }
            var checks = new ArrayList<HubCheck>();
            List<Row> rows = rows(session, null);
            for (Contact contact : session.list(
                    row -> new Contact(
                            DatabaseSession.text(row, 1),
                            DatabaseSession.text(row, 2),
                            Instant.ofEpochMilli(row.getLong(3))),
                    "SELECT server, problem, since_ms FROM mcp_server ORDER BY server")) {
                List<String> held = rows.stream()
                        .filter(row -> row.server.equals(contact.server) && row.held != null)
                        .map(Row::name)
                        .toList();
                String waiting = held.isEmpty()
                        ? ""
                        : ", " + held.size() + " tools wait for approval (parley mcp tools " + contact.server + ")";
                checks.add(new HubCheck(
                        "mcp",
                        contact.problem.isEmpty(),
                        "server \"" + contact.server + "\": "
                                + (contact.problem.isEmpty() ? "connected at " : contact.problem + ", at ")
                                + contact.since + waiting));
            }
            return checks;
        });
    }

    /** A call that waits; empty if the task has none. */
    Optional<KeptCall> call(String taskId) {
        return database.read(session -> session.first(
                        row -> DatabaseSession.text(row, 1), "SELECT content FROM mcp_call WHERE task_id = ?", taskId))
                .map(text -> JsonText.read(text.getBytes(UTF_8), KeptCall.CODEC));
    }

    /** Keeps a call that waits for its caller, or for a task of the server. */
    void keep(String taskId, KeptCall call) {
        String content = new String(JsonText.write(KeptCall.CODEC, call), UTF_8);
        database.write(session -> session.update(
                "INSERT INTO mcp_call (task_id, content, since_ms) VALUES (?, ?, ?) ON CONFLICT (task_id)"
                        + " DO UPDATE SET content = excluded.content, since_ms = excluded.since_ms",
                taskId,
                content,
                Instant.now().toEpochMilli()));
    }

    void forget(String taskId) {
        database.write(session -> session.update("DELETE FROM mcp_call WHERE task_id = ?", taskId));
    }

    /** Removes calls of tasks without a message for this time. */
    void forgetBefore(Instant time) {
        database.write(session -> session.update("DELETE FROM mcp_call WHERE since_ms < ?", time.toEpochMilli()));
    }
}

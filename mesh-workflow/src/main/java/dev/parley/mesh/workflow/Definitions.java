package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionPage;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionView;
import dev.parley.mesh.workflow.WorkflowOperation.DeleteDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.GetDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.ListDefinitions;
import dev.parley.mesh.workflow.WorkflowOperation.SaveDefinition;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Definitions of workflows of each group, by names and versions. Safe for any thread. */
final class Definitions {
    private static final Logger LOG = System.getLogger("dev.parley.mesh");

    /** Most names of a group, and most versions of a name. */
    static final int MOST = 1_000;

    private static final int MOST_BYTES = 1 << 20;
    private static final int DEFAULT_PAGE = 50;

    /** A version that was deleted keeps its number without a document. */
    static final ModuleTables TABLES = new ModuleTables("workflows", List.of("""
        CREATE TABLE one_definition (
            group_id TEXT NOT NULL,
            name     TEXT NOT NULL,
            version  INTEGER NOT NULL,
            at_ms    BIGINT NOT NULL,
            author   TEXT NOT NULL,
            document TEXT,
            PRIMARY KEY (group_id, name, version)
        );
        """, """
        INSERT INTO stored (group_id, kind, bytes)
            SELECT group_id, 'definitions', SUM(200 + coalesce(octet_length(document), 0)) FROM one_definition
                GROUP BY group_id;
        """));

    private record Row(
            int version,
            Instant at,
            String author,
            @Nullable String document) {}

    private final Database database;
    private final InstantSource clock;
    /** Name in an order that does not depend on the locale of the database. */
    private final String byName;

    Definitions(Database database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
        this.byName = database.kind() == DatabaseKind.POSTGRESQL ? "name COLLATE \"C\"" : "name";
        database.migrate(TABLES);
    }

    /** Keeps a document as the next version of its name. The document of the newest version again changes nothing. */
    DefinitionView save(SaveDefinition save, CallContext caller) {
        Map<String, @Nullable Object> document =
                WorkflowDocument.valid(() -> DefinitionDocument.checked(save.document()));
        String name = String.valueOf(document.get("name"));
        String json = new String(Json.write(document), UTF_8);
        int length = json.getBytes(UTF_8).length;
        if (length > MOST_BYTES) {
            throw A2AException.invalidParams("workflow", length + " bytes (expected: at most " + MOST_BYTES + ")");
        }
        String group = caller.scope().group();
        int version = database.admit(group, session -> {
            List<Row> rows = rows(session, group, name);
            Row newest = rows.isEmpty() ? null : rows.getLast();
            if (newest != null && json.equals(newest.document())) {
                return newest.version();
            }
            int next = newest == null ? 1 : newest.version() + 1;
            boolean isRoom = newest == null ? names(session, group) < MOST : rows.size() < MOST;
            if (isRoom) {
                database.storage().require(group, Storage.ROW + length);
                database.storage().add(group, Kind.DEFINITIONS, Storage.ROW + length);
                int written = session.update(
                        "INSERT INTO one_definition (group_id, name, version, at_ms, author, document)"
                                + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        group,
                        name,
                        next,
                        clock.instant(),
                        caller.caller(),
                        json);
                if (written == 0) { // the transaction is repeated, with the number after that
                    throw new SQLException("another hub has saved version " + next + " meanwhile", "40001");
                }
            }
            return isRoom ? next : 0;
        });
        if (version == 0) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION, "definitions: the group has " + MOST + " (expected: fewer)");
        }
        return get(new GetDefinition(name, version), caller);
    }

    private static List<Row> rows(DatabaseSession session, String group, String name) throws SQLException {
        return session.list(
                row -> new Row(
                        row.getInt(1),
                        Instant.ofEpochMilli(row.getLong(2)),
                        Objects.requireNonNull(DatabaseSession.text(row, 3)),
                        DatabaseSession.text(row, 4)),
                "SELECT version, at_ms, author, document FROM one_definition WHERE group_id = ? AND name = ? ORDER BY"
                        + " version",
                group,
                name);
    }

    private static int names(DatabaseSession session, String group) throws SQLException {
        return session.first(
                        row -> row.getInt(1),
                        "SELECT COUNT(DISTINCT name) FROM one_definition WHERE group_id = ?",
                        group)
                .orElse(0);
    }

    DefinitionView get(GetDefinition get, CallContext caller) {
        return find(get.definition(), get.version(), caller)
                .orElseThrow(() -> unknown(get.definition(), get.version()));
    }

    private Optional<DefinitionView> find(String written, @Nullable Integer version, CallContext caller) {
        String name = WorkflowDocument.valid(() -> DefinitionDocument.name(written));
        List<Row> rows = database.read(session -> rows(session, caller.scope().group(), name)).stream()
                .filter(row -> row.document() != null)
                .toList();
        return rows.stream()
                .filter(row -> version == null || row.version() == version)
                .reduce((older, newer) -> newer)
                .map(row -> view(name, row, rows));
    }

    private static A2AException unknown(String name, @Nullable Integer version) {
        return A2AException.of(
                A2AError.TASK_NOT_FOUND,
                "definition \"" + name + '"' + (version == null ? "" : " version " + version) + ": unknown");
    }

    private static DefinitionView view(String name, Row row, List<Row> all) {
        Map<String, @Nullable Object> document = document(row);
        return new DefinitionView(
                name,
                row.version(),
                document.get("description") instanceof String text ? text : null,
                all.stream().map(Row::version).toList(),
                row.at(),
                row.author(),
                WorkflowDocument.steps(document),
                document);
    }

    private static Map<String, @Nullable Object> document(Row row) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        Map<?, ?> read = Json.read(Objects.requireNonNull(row.document()).getBytes(UTF_8), Map.class);
        read.forEach((name, value) -> members.put(String.valueOf(name), value));
        return members;
    }

    /** The newest versions, in the order of their names, without documents. */
    DefinitionPage list(ListDefinitions list, CallContext caller) {
        int size = list.pageSize() == null ? DEFAULT_PAGE : list.pageSize();
        if (size < 1 || size > MOST) {
            throw A2AException.invalidParams("pageSize", size + " (expected: 1 to " + MOST + ")");
        }
        String group = caller.scope().group();
        String after = list.pageToken() == null ? "" : list.pageToken();
        List<String> names = database.read(session -> session.list(
                row -> Objects.requireNonNull(DatabaseSession.text(row, 1)),
                "SELECT name FROM one_definition WHERE group_id = ? AND document IS NOT NULL GROUP BY name HAVING "
                        + byName + " > ? ORDER BY " + byName + " LIMIT ?",
                group,
                after,
                size + 1));
        List<DefinitionView> views = names.stream()
                .limit(size)
                .flatMap(name -> listed(name, caller).stream())
                .toList();
        return new DefinitionPage(views, names.size() > size ? names.get(size - 1) : "");
    }

    /** A definition without its document; one whose row was damaged says so. */
    private Optional<DefinitionView> listed(String name, CallContext caller) {
        try {
            return find(name, null, caller).map(view -> view.withDocument(Map.of()));
        } catch (RuntimeException damaged) {
            String reason = "the row cannot be read: " + damaged.getMessage();
            LOG.log(Level.ERROR, "definition \"" + name + "\": " + reason);
            return Optional.of(new DefinitionView(name, 0, reason, List.of(), Instant.EPOCH, "", 0, Map.of()));
        }
    }

    /** Deletes a version, or all of a name. Runs of them go on. */
    DefinitionView delete(DeleteDefinition delete, CallContext caller) {
        DefinitionView deleted = get(new GetDefinition(delete.definition(), delete.version()), caller);
        String group = caller.scope().group();
        Integer version = delete.version();
        int changed = database.write(group, session -> delete(session, group, deleted.name(), version));
        if (changed == 0) {
            throw unknown(delete.definition(), version); // another caller was first
        }
        return deleted;
    }

    /** The row of a version stays, so that its number is not given again. */
    private int delete(DatabaseSession session, String group, String name, @Nullable Integer version)
            throws SQLException {
        String where = " WHERE group_id = ? AND name = ? AND document IS NOT NULL AND version BETWEEN ? AND ?";
        Object[] rows = {group, name, version == null ? 0 : version, version == null ? Integer.MAX_VALUE : version};
        database.storage()
                .add(
                        group,
                        Kind.DEFINITIONS,
                        -session.number("SELECT SUM(octet_length(document)) FROM one_definition" + where, rows));
        return session.update("UPDATE one_definition SET document = NULL, author = ''" + where, rows);
    }

    /**
     * The document of a run: of a stored definition with its inputs, if the document names one, else the document itself.
     *
     * @throws InvalidField if the inputs do not fit
     */
    Map<String, @Nullable Object> expanded(Map<String, @Nullable Object> written, CallContext caller) {
        if (!written.containsKey("definition") || written.containsKey("workflow")) {
            return written;
        }
        written.keySet().forEach(member -> {
            if (!Set.of("definition", "version", "inputs").contains(member)) {
                throw InvalidField.of(member, "unknown member (expected: definition, version and inputs)");
            }
        });
        if (!(written.get("definition") instanceof String name)) {
            throw InvalidField.of("definition", "no text (expected: the name of a definition)");
        }
        Integer version = version(written.get("version"));
        DefinitionView view = find(name, version, caller)
                .orElseThrow(() -> InvalidField.of(
                        version == null ? "definition" : "version",
                        '"' + name + '"' + (version == null ? "" : " version " + version)
                                + ": unknown (expected: a definition of the group)"));
        if (written.get("inputs") != null && !(written.get("inputs") instanceof Map<?, ?>)) {
            throw InvalidField.of("inputs", "no object (expected: the inputs by their names)");
        }
        var inputs = new LinkedHashMap<String, @Nullable Object>();
        if (written.get("inputs") instanceof Map<?, ?> given) {
            given.forEach((member, value) -> inputs.put(String.valueOf(member), value));
        }
        Map<String, @Nullable Object> document = DefinitionDocument.filled(view.document(), inputs);
        document.put("definition", view.name());
        document.put("version", view.version());
        return document;
    }

    private static @Nullable Integer version(@Nullable Object written) {
        if (written == null) {
            return null;
        }
        if (written instanceof Integer version && version > 0) {
            return version;
        }
        throw InvalidField.of("version", written + " (expected: the number of a version)");
    }

    /** Removes the name of a principal from the definitions that it saved. */
    int erase(String group, String principal) {
        return database.erase(session -> session.update(
                "UPDATE one_definition SET author = '' WHERE group_id = ? AND author = ?", group, principal));
    }
}

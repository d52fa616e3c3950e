package dev.parley.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.EncryptionAtRest;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The tables of tasks: databases of earlier releases open, and lists read an index. */
final class SchemaTest {
    private static final Scope SCOPE = new Scope("default", "alice");
    private static final TaskKey ENDED = new TaskKey(SCOPE, "echo", "0190-ended");
    private static final TaskKey WORKING = new TaskKey(SCOPE, "echo", "0191-working");

    @TempDir
    Path data = Path.of("");

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void tasksOfAnEarlierSchemaAreThereAfterTheMigration(int version) throws SQLException, IOException {
        write(version);

        try (Store store = Store.open(data)) {
            TaskLog log = store.log();
            assertThat(log.list(new Query(SCOPE.group(), SCOPE.owner(), "echo", null, null, null, null, 10))
                            .heads())
                    .extracting(head -> head.key().taskId())
                    .containsExactly("0191-working", "0190-ended");
            assertThat(log.find(ENDED).orElseThrow().state()).isEqualTo(TaskState.COMPLETED);
            assertThat(log.read(ENDED, 0, 10)).hasSize(1);
            assertThat(log.read(WORKING, 0, 10)).hasSize(1);
            assertThat(log.unfinished()).extracting(Head::key).containsExactly(WORKING);
            assertThat(log.turns(SCOPE, "echo", "context")).isEqualTo(2);
            assertThat(store.audit().verify().broken()).isNull();
            assertThat(requireNonNull(store.database().storage().usage().get("default"))
                            .sum())
                    .isEqualTo(number("SELECT 4 * 200 + sum(length(events)) FROM segment"));
            store.log().erase(List.of(ENDED, WORKING));
            assertThat(store.database().storage().usage()).isEmpty();
        }
    }

    @Test
    void aTaskOfTheCurrentSchemaIsInOneRowOnceItHasEnded() throws SQLException {
        try (Store store = Store.open(data)) {
            Segments.write(store.log(), ENDED, 1, TaskState.COMPLETED, Instant.EPOCH);

            assertThat(store.log().read(ENDED, 0, 10)).hasSize(1);
            assertThat(store.audit().rows(Filter.ALL, 0, 10)).hasSize(1);
            assertThat(store.audit().verify().broken()).isNull();
        }
        assertThat(number("SELECT count(*) FROM segment")).isZero();
        assertThat(number("SELECT count(*) FROM task WHERE events IS NOT NULL")).isEqualTo(1);
    }

    enum Listing {
        ALL(null, null, null, "task_by_time (lane_no=?)"),
        SINCE(null, null, Instant.EPOCH, "task_by_time (lane_no=? AND status_ms>?)"),
        COMPLETED(TaskState.COMPLETED, null, null, "task_by_time (lane_no=?)"),
        FAILED(TaskState.FAILED, null, null, "task_by_state (lane_no=? AND state=?)"),
        FAILED_SINCE(TaskState.FAILED, null, Instant.EPOCH, "task_by_state (lane_no=? AND state=? AND status_ms>?)"),
        CONTEXT("context", "task_by_context (lane_no=? AND context_id=?)"),
        WORKING_IN_CONTEXT(TaskState.WORKING, "context", null, "task_by_");

        final @Nullable TaskState state;
        final @Nullable String context;
        final @Nullable Instant since;
        final String plan;

        Listing(String context, String plan) {
            this(null, context, null, plan);
        }

        Listing(@Nullable TaskState state, @Nullable String context, @Nullable Instant since, String plan) {
            this.state = state;
            this.context = context;
            this.since = since;
            this.plan = plan;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aListReadsAnIndexInTheOrderOfItsRows(Listing list) throws SQLException {
        Set<String> prepared = ConcurrentHashMap.newKeySet();
        try (Store store = Store.open(
                data, InstantSource.system(), EncryptionAtRest.PLAIN, connection -> recording(connection, prepared))) {
            Segments.write(store.log(), ENDED, 1, TaskState.COMPLETED, Instant.EPOCH);
            prepared.clear();
            store.log()
                    .list(new Query(
                            SCOPE.group(), SCOPE.owner(), "echo", list.context, list.state, list.since, null, 10));
        }

        String page = prepared.stream()
                .filter(sql -> sql.contains("ORDER BY status_ms"))
                .collect(Collectors.joining());
        assertThat(plan(page))
                .contains("INDEX " + list.plan)
                // Tasks of the same millisecond are sorted, no more.
                .doesNotContain("TEMP B-TREE FOR ORDER BY");
    }

    @Test
    void noReaderOfOtherColumnsReadsTheEventsOfALongRow() throws SQLException {
        try (Store store = Store.open(data)) {
            Segments.write(store.log(), ENDED, 1, TaskState.COMPLETED, Instant.EPOCH);
        }

        assertThat(columnsBehindEvents("segment")).isEmpty();
        // 0 takes no byte of a row, so that it is read without the events before it.
        assertThat(columnsBehindEvents("task")).isEqualTo("bytes");
        assertThat(number("SELECT bytes FROM task WHERE events IS NOT NULL")).isZero();
        assertThat(plan("SELECT places FROM audit_part WHERE group_id = 'a' AND row_no > 1 ORDER BY row_no LIMIT 2"))
                .contains("USING PRIMARY KEY (group_id=? AND row_no>?)")
                .doesNotContain("TEMP B-TREE");
    }

    @Test
    void unfinishedTasksAreFoundInAnIndexOfTheirOwn() throws SQLException {
        Store.open(data).close();

        assertThat(plan("SELECT task_id FROM task WHERE state IN (0, 1, 2)")).contains("INDEX task_unfinished");
    }

    @Test
    void tasksOfATraceAreFoundInAnIndexThatOtherTasksAreNotIn() throws SQLException {
        Store.open(data).close();

        assertThat(plan("SELECT task_id FROM task WHERE trace IS NOT NULL AND substr(trace, 4, 32) = 'a'"))
                .contains("INDEX task_by_trace");
    }

    /** A database of an earlier release with a task that has ended and one that has not. */
    private void write(int version) throws SQLException, IOException {
        try (Connection database = connect();
                Statement statement = database.createStatement()) {
            for (int step = 1; step <= version; step++) {
                for (String sql : script(step).split(";", -1)) {
                    if (!sql.isBlank()) {
                        statement.execute(sql);
                    }
                }
            }
            statement.execute(
                    "INSERT INTO lane (lane_no, group_id, owner, agent) VALUES (1, 'default', 'alice', 'echo')");
            statement.execute(
                    "INSERT INTO task (task_id, lane_no, context_id, state, status_ms, last_seq, caller) VALUES"
                            + " ('0190-ended', 1, 'context', 3, 1000, 1, 'alice'), ('0191-working', 1, 'context', 2, 2000, 1, 'alice')");
            statement.execute("INSERT INTO tally (lane_no, state, tasks) VALUES (1, 3, 1), (1, 2, 1)");
            statement.execute(
                    "INSERT INTO segment (task_id, first_seq, events) SELECT task_id, 1, CAST('[{\"task\":{\"id\":\"' || task_id"
                            + " || '\",\"contextId\":\"context\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}]' AS BLOB)"
                            + " FROM task");
            if (version >= 10) { // hubs count bytes from this version on
                statement.execute("UPDATE task SET bytes = (SELECT sum(length(events) + 200) FROM segment"
                        + " WHERE segment.task_id = task.task_id)");
                statement.execute(
                        "INSERT INTO stored (group_id, kind, bytes) SELECT 'default', 'tasks', sum(200 + bytes) FROM task");
            }
            statement.execute("PRAGMA user_version=" + version);
        }
    }

    private static String script(int step) throws IOException {
        try (InputStream in = requireNonNull(Database.class.getResourceAsStream("sqlite-" + step + ".sql"))) {
            return new String(in.readAllBytes(), UTF_8).replaceAll("--[^\n]*", "");
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"));
    }

    private long number(String sql) throws SQLException {
        try (Connection database = connect();
                Statement statement = database.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.getLong(1);
        }
    }

    private String columnsBehindEvents(String table) throws SQLException {
        String columns = "pragma_table_info('" + table + "')";
        try (Connection database = connect();
                Statement statement = database.createStatement();
                ResultSet row = statement.executeQuery("SELECT coalesce(group_concat(name), '') FROM " + columns
                        + " WHERE cid > (SELECT cid FROM " + columns + " WHERE name = 'events')")) {
            return row.getString(1);
        }
    }

    private String plan(String sql) throws SQLException {
        var plan = new StringBuilder();
        try (Connection database = connect();
                Statement statement = database.createStatement();
                ResultSet rows = statement.executeQuery("EXPLAIN QUERY PLAN " + sql)) {
            while (rows.next()) {
                plan.append(rows.getString("detail")).append('\n');
            }
        }
        return plan.toString();
    }

    /** Notes the SQL of all statements that are prepared. */
    private static Connection recording(Connection connection, Set<String> prepared) {
        return (Connection) Proxy.newProxyInstance(
                SchemaTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")) {
                        prepared.add((String) arguments[0]);
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}

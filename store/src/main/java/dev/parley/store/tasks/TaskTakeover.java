package dev.parley.store.tasks;

import static dev.parley.store.audit.States.state;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Feeds;
import dev.parley.store.shared.Poll;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Takeover of unfinished tasks whose stream has ended, by the hubs that share a database of PostgreSQL. A stream that has ended writes
 * nothing any more, so its tasks do not change; rows that another hub is taking over are skipped. Safe for any thread.
 */
record TaskTakeover(Database database, TaskOwners lanes, Once once, Poll.Question ended) {
    /** Looks into the index once for each owner, and not for each task. */
    private static final String ENDED = "WITH RECURSIVE owners (no) AS"
            + " (SELECT min(owner) FROM task WHERE owner IS NOT NULL"
            + " UNION ALL SELECT (SELECT min(owner) FROM task WHERE owner > no) FROM owners WHERE no IS NOT NULL)"
            + " SELECT string_agg(CAST(no AS TEXT), ',') FROM owners WHERE no IS NOT NULL"
            + " AND NOT EXISTS (SELECT 1 FROM stream WHERE stream_no = no)";

    private record Row(
            long lane, String taskId, String contextId, TaskState state, Instant statusTime, long lastSequence) {}

    TaskTakeover(Database database, TaskOwners lanes, Once once) {
        this(database, lanes, once, database.access().poll().add(ENDED));
    }

    /** The stream of this hub; empty if no other hub writes to the database. */
    Optional<Long> owner() {
        return once == Once.CLAIM && database.system() instanceof PostgresqlSystem system
                ? Optional.of(system.stream())
                : Optional.empty();
    }

    /** See {@link TaskLog#onOthers}. */
    void onOthers(Runnable ended, Consumer<TaskLog.Existing> erased) {
        database.access().feeds().hear(Feeds.ENDED_HUBS, ended);
        database.access().epochs().keep(Epoch.ERASED_TASKS, () -> erased.accept(this::existing));
    }

    private Map<String, Long> existing(Set<String> ids) {
        return database
                .read(session -> session.list(
                        row -> Map.entry(DatabaseSession.text(row, 1), row.getLong(2)),
                        "SELECT task_id, last_seq FROM task WHERE task_id"
                                + database.system().isOneOf(),
                        json(ids)))
                .stream()
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    List<Head> takeOver(Set<String> agents, int limit) {
        return owner().map(stream -> takeOver(stream, agents, limit)).orElseGet(List::of);
    }

    private List<Head> takeOver(long stream, Set<String> agents, int limit) {
        String streams = ended.text().orElse("");
        String claimable = claimable(database.system().isOneOf());
        String unhosted = Long.toString(TaskLog.LONGEST_UNHOSTED.toSeconds());
        // A read first: tasks of agents that no hub hosts stay for minutes, in which nothing is to be written.
        if (streams.isEmpty()
                || database.read(session -> session.list(
                                row -> row.getInt(1),
                                "SELECT 1" + claimable + " LIMIT 1",
                                streams,
                                json(agents),
                                unhosted))
                        .isEmpty()) {
            return List.of();
        }
        List<Row> rows = database.write(
                limit,
                session -> session.list(
                        row -> new Row(
                                row.getLong(1),
                                DatabaseSession.text(row, 2),
                                DatabaseSession.text(row, 3),
                                state(row.getInt(4)),
                                Instant.ofEpochMilli(row.getLong(5)),
                                row.getLong(6)),
                        claim(claimable),
                        streams,
                        json(agents),
                        unhosted,
                        limit,
                        stream));
        return rows.stream()
                .sorted(Comparator.comparing(Row::taskId))
                .flatMap(this::head)
                .toList();
    }

    /**
     * The hub that has ended is not looked up: its stream does not tell its number any more. Materialized: a subquery could be run, and lock
     * rows, more than once. An array leads to the index of tasks; a join would scan them all, as no limit is known when it is planned.
     */
    private static String claim(String claimable) {
        return "WITH ended AS MATERIALIZED (SELECT task_id" + claimable + " LIMIT ? FOR UPDATE OF task SKIP LOCKED)"
                + " UPDATE task SET owner = ? WHERE task_id = ANY (ARRAY(SELECT task_id FROM ended))"
                + " RETURNING lane_no, task.task_id, context_id, state, status_ms, last_seq";
    }

    /** The tasks of some streams whose agent is one of some, or hosted by no hub while for some seconds no hub has begun or ended. */
    private static String claimable(String isOneOf) {
        return " FROM task JOIN lane ON lane.lane_no = task.lane_no"
                + " WHERE task.owner = ANY (CAST(string_to_array(?, ',') AS BIGINT[]))"
                + " AND (agent" + isOneOf
                + " OR NOT EXISTS (SELECT 1 FROM hub WHERE greatest(begun_at, ended_at)"
                + " > clock_timestamp() - CAST(? || ' s' AS INTERVAL))"
                + " AND NOT EXISTS (SELECT 1 FROM hub WHERE ended_at IS NULL AND agent = ANY (agents)))";
    }

    /** The head of a task; empty if the task has been removed since. */
    private Stream<Head> head(Row row) {
        TaskOwner lane = lanes.get(row.lane);
        return lane == null
                ? Stream.empty()
                : Stream.of(new Head(
                        new TaskKey(lane.scope(), lane.agent(), row.taskId),
                        row.contextId,
                        row.state,
                        row.statusTime,
                        row.lastSequence));
    }

    private static String json(Collection<String> texts) {
        return new String(Json.write(List.copyOf(texts)), StandardCharsets.UTF_8);
    }
}

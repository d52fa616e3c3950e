package dev.parley.store.tasks;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.PushConfig;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.rows.DamagedRows;
import dev.parley.store.spi.StoreException;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Webhooks in the same database as the tasks they belong to. */
public final class JdbcPushStore implements PushStore {
    private static final String WEBHOOK = "webhook of task";
    private static final String SELECT =
            "SELECT webhook.task_id, webhook.lane_no, config, delivered, attempts, next_ms, dead_ms, error, dialect,"
                    + " task_name, config_id, generation, channel FROM webhook ";

    /** Bytes of a webhook for the quota of its group. */
    static final String BYTES = "CAST(" + Storage.ROW + " + length(config) AS BIGINT)";

    private final Database database;
    private final TaskOwners lanes;
    private final AuditTrail audit;
    private final InstantSource clock;
    private final EncryptionAtRest atRest;
    private final DamagedRows damaged = new DamagedRows(WEBHOOK);
    /** Null if no other hub writes to the database. */
    private final @Nullable WebhookSenders senders;

    /** @param once a claim if other hubs write to the database */
    public JdbcPushStore(
            Database database,
            TaskOwners lanes,
            AuditTrail audit,
            InstantSource clock,
            EncryptionAtRest atRest,
            Once once) {
        this.atRest = atRest;
        this.audit = audit;
        this.database = database;
        this.lanes = lanes;
        this.clock = clock;
        this.senders = WebhookSenders.of(database, once);
    }

    @Override
    public void save(Subscription subscription, Cause cause) {
        String group = group(subscription.task());
        byte[] config = stored(subscription);
        int unused = database.admit(group, session -> {
            database.storage().require(group, more(session, subscription, config));
            return save(session, subscription, config, cause);
        });
    }

    private byte[] stored(Subscription subscription) {
        String taskId = subscription.task().taskId();
        String configId = requireNonNull(subscription.config().id());
        return atRest.webhook(Json.write(subscription.config()), place(taskId, configId));
    }

    /** Bytes that a webhook takes besides those of the one in its place. */
    private static long more(DatabaseSession session, Subscription subscription, byte[] config) throws SQLException {
        return Storage.ROW
                + config.length
                - session.number(
                        "SELECT " + BYTES + " FROM webhook WHERE task_id = ? AND config_id = ?",
                        subscription.task().taskId(),
                        requireNonNull(subscription.config().id()));
    }

    private static String group(TaskKey task) {
        return task.scope().group();
    }

    int save(DatabaseSession session, Subscription subscription, Cause cause) throws SQLException {
        return save(session, subscription, stored(subscription), cause);
    }

    private int save(DatabaseSession session, Subscription subscription, byte[] config, Cause cause)
            throws SQLException {
        TaskKey task = subscription.task();
        database.storage().add(group(task), Kind.WEBHOOKS, more(session, subscription, config));
        int saved = session.update(
                // A task's webhooks are in the order of their times, so two of one moment get two.
                "INSERT INTO webhook"
                        + " (task_id, config_id, lane_no, made_ms, config, dialect, task_name, delivered, attempts,"
                        + " next_ms, dead_ms, error, channel, generation) VALUES (?, ?, ?, (SELECT MAX(time) FROM (SELECT CAST(? AS BIGINT) AS time"
                        + " UNION ALL SELECT MAX(made_ms) + 1 FROM webhook WHERE task_id = ?) AS times), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                        + " ON CONFLICT (task_id, config_id) DO UPDATE SET config = excluded.config,"
                        + " dialect = excluded.dialect, task_name = excluded.task_name, delivered = excluded.delivered,"
                        + " attempts = excluded.attempts, next_ms = excluded.next_ms, dead_ms = excluded.dead_ms,"
                        + " error = excluded.error, channel = excluded.channel, generation = excluded.generation",
                task.taskId(),
                requireNonNull(subscription.config().id()),
                lanes.number(session, TaskOwner.of(task)),
                clock.millis(),
                task.taskId(),
                config,
                subscription.dialect(),
                subscription.taskName(),
                subscription.delivered(),
                subscription.attempts(),
                subscription.nextAttempt(),
                subscription.deadSince(),
                subscription.lastError(),
                subscription.channel(),
                subscription.generation());
        String host = String.valueOf(URI.create(subscription.config().url()).getHost());
        audit(
                session,
                "webhook.created",
                task,
                requireNonNull(subscription.config().id()),
                Map.of("receiver", host),
                cause);
        return saved;
    }

    private void audit(
            DatabaseSession session,
            String action,
            TaskKey task,
            String configId,
            Map<String, String> more,
            Cause cause)
            throws SQLException {
        var detail = new TreeMap<String, Object>(more);
        detail.put("agent", task.agent());
        // Callers choose the ids of webhooks, so the audit, from which nothing is removed, has a hash.
        detail.put("webhook", AuditChain.hashed(configId));
        if (cause.chain().isPassedOn()) {
            detail.put("agents", cause.chain().agents());
        }
        audit.add(
                session,
                new AuditEntry(
                        task.scope().group(),
                        cause.caller(),
                        action,
                        task.taskId(),
                        "",
                        "ok",
                        cause.address(),
                        requireNonNullElse(cause.traceparent(), ""),
                        detail));
    }

    private static String place(String taskId, String configId) {
        return "webhook " + configId + " of task " + taskId;
    }

    /** Counts webhooks for their groups, with a sign. On the writer thread. */
    static void count(Database database, DatabaseSession session, int sign, String where, @Nullable Object... values)
            throws SQLException {
        record Sum(String group, long bytes) {}
        for (Sum sum : session.list(
                row -> new Sum(DatabaseSession.text(row, 1), row.getLong(2)),
                "SELECT group_id, SUM(" + BYTES + ") FROM webhook JOIN lane ON lane.lane_no = webhook.lane_no WHERE "
                        + where + " GROUP BY group_id",
                values)) {
            database.storage().add(sum.group, Kind.WEBHOOKS, sign * sum.bytes);
        }
    }

    private record Held(String taskId, String configId, byte[] config) {}

    /**
     * Encrypts rows by the newest key that are not, so that older keys can be omitted from the next start on.
     *
     * @throws StoreException if a key is missing
     */
    public void sealAnew() {
        ValueCipher cipher = atRest.cipher();
        if (cipher == null) {
            return;
        }
        List<Held> old = database.read(session -> {
            List<Held> all = session.list(
                    row -> new Held(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2), row.getBytes(3)),
                    "SELECT task_id, config_id, config FROM webhook");
            return all.stream().filter(one -> !cipher.isCurrent(one.config)).toList();
        });
        if (old.isEmpty()) {
            return;
        }
        List<Held> anew =
                old.stream().flatMap(one -> sealedAnew(cipher, one).stream()).toList();
        database.writeInSlices(anew, true, (session, one) -> {
            count(database, session, -1, "task_id = ? AND config_id = ?", one.taskId, one.configId);
            int changed = session.update(
                    "UPDATE webhook SET config = ? WHERE task_id = ? AND config_id = ?",
                    one.config,
                    one.taskId,
                    one.configId);
            count(database, session, 1, "task_id = ? AND config_id = ?", one.taskId, one.configId);
            return changed;
        });
    }

    /** Encrypts a row by the newest key; empty if it was changed on disk: {@link #damaged()} names it. */
    private static Optional<Held> sealedAnew(ValueCipher cipher, Held old) {
        String place = place(old.taskId, old.configId);
        try {
            return Optional.of(new Held(old.taskId, old.configId, cipher.seal(cipher.open(old.config, place), place)));
        } catch (StoreException unreadable) {
            if (unreadable.getCause() instanceof GeneralSecurityException) {
                return Optional.empty();
            }
            throw unreadable;
        }
    }

    @Override
    public Recorded advance(Subscription subscription) {
        return database.write(
                group(subscription.task()),
                session -> senders == null
                        ? advance(session, subscription)
                        : advanceUnlocked(
                                session,
                                subscription,
                                WebhookSenders.IS_CLAIMED,
                                subscription.queue().id(),
                                senders.stream()));
    }

    private static Recorded advance(DatabaseSession session, Subscription subscription) throws SQLException {
        int updated = session.update(
                // A webhook that was registered again must not inherit the end of its predecessor.
                "UPDATE webhook SET delivered = ?, attempts = ?, next_ms = ?, dead_ms = ?, error = ?"
                        + " WHERE task_id = ? AND config_id = ? AND generation = ?",
                subscription.delivered(),
                subscription.attempts(),
                subscription.nextAttempt(),
                subscription.deadSince(),
                subscription.lastError(),
                subscription.task().taskId(),
                requireNonNull(subscription.config().id()),
                subscription.generation());
        return updated > 0 ? Recorded.DONE : Recorded.REFUSED;
    }

    /**
     * The same beside other hubs. Does not wait for one that is changing the row: it may pause, and all works of this hub would wait.
     *
     * @param condition for the row
     * @param more parameters of the condition
     */
    private static Recorded advanceUnlocked(
            DatabaseSession session, Subscription subscription, String condition, Object... more) throws SQLException {
        String row = "FROM webhook WHERE task_id = ? AND config_id = ? AND generation = ?" + condition;
        List<Object> key = Stream.concat(
                        Stream.<Object>of(
                                subscription.task().taskId(),
                                requireNonNull(subscription.config().id()),
                                subscription.generation()),
                        Stream.of(more))
                .toList();
        var values = new ArrayList<@Nullable Object>(key);
        values.add(subscription.delivered());
        values.add(subscription.attempts());
        values.add(subscription.nextAttempt());
        values.add(subscription.deadSince());
        values.add(subscription.lastError());
        values.addAll(key);
        return session.first(
                        found -> {
                            Recorded missed = found.getBoolean(2) ? Recorded.BUSY : Recorded.REFUSED;
                            return found.getBoolean(1) ? Recorded.DONE : missed;
                        },
                        "WITH unlocked AS MATERIALIZED (SELECT task_id, config_id " + row
                                + " FOR NO KEY UPDATE OF webhook SKIP LOCKED), advanced AS (UPDATE webhook"
                                + " SET delivered = ?, attempts = ?, next_ms = ?, dead_ms = ?, error = ? FROM unlocked"
                                + " WHERE webhook.task_id = unlocked.task_id AND webhook.config_id = unlocked.config_id"
                                + " RETURNING 1)"
                                // The second one sees the row as it was before the statement.
                                + " SELECT EXISTS (SELECT 1 FROM advanced), EXISTS (SELECT 1 " + row + ")",
                        values.toArray())
                .orElseThrow();
    }

    @Override
    public boolean revive(Subscription dead) {
        Subscription revived = dead.delivered(dead.delivered());
        if (senders == null) {
            return advance(revived) == Recorded.DONE;
        }
        // The sender of its queue, which may be another hub, does not change it before.
        Recorded recorded = database.write(
                group(dead.task()), session -> advanceUnlocked(session, revived, " AND dead_ms IS NOT NULL"));
        if (recorded == Recorded.BUSY) {
            throw A2AException.unavailable("Another server is changing the webhook", Duration.ofSeconds(1));
        }
        return recorded == Recorded.DONE;
    }

    // ---- Senders

    @Override
    public ClaimResult claim(Queue queue) {
        return senders == null ? ClaimResult.GRANTED : senders.claim(queue);
    }

    @Override
    public boolean release(Queue queue) {
        return senders == null || senders.release(queue);
    }

    @Override
    public void abandon(Collection<Queue> queues) {
        if (senders != null) {
            senders.abandon(queues);
        }
    }

    @Override
    public Set<Queue> marked(Set<Queue> claimed) {
        return senders == null ? Set.of() : senders.marked(claimed);
    }

    @Override
    public boolean releaseEnded() {
        return senders != null && senders.releaseEnded();
    }

    @Override
    public boolean maySend() {
        return senders == null || senders.maySend();
    }

    // ---- Reading

    @Override
    public Optional<Subscription> find(TaskKey task, String configId) {
        return rows(SELECT + "WHERE webhook.task_id = ? AND config_id = ?", task.taskId(), configId).stream()
                .filter(row -> row.task().equals(task))
                .findFirst();
    }

    @Override
    public List<Subscription> of(TaskKey task) {
        return rows(SELECT + "WHERE webhook.task_id = ? ORDER BY made_ms", task.taskId()).stream()
                .filter(row -> row.task().equals(task))
                .toList();
    }

    @Override
    public boolean delete(TaskKey task, String configId, Cause cause) {
        Long lane = lanes.find(TaskOwner.of(task));
        return lane != null && database.write(group(task), session -> delete(session, task, configId, lane, cause)) > 0;
    }

    private int delete(DatabaseSession session, TaskKey task, String configId, long lane, Cause cause)
            throws SQLException {
        count(
                database,
                session,
                -1,
                "task_id = ? AND config_id = ? AND webhook.lane_no = ?",
                task.taskId(),
                configId,
                lane);
        int deleted = session.update(
                "DELETE FROM webhook WHERE task_id = ? AND config_id = ? AND lane_no = ?",
                task.taskId(),
                configId,
                lane);
        if (deleted > 0) {
            audit(session, "webhook.deleted", task, configId, Map.of(), cause);
        }
        return deleted;
    }

    @Override
    public List<Subscription> pending() {
        return rows(SELECT + "JOIN task USING (task_id) WHERE dead_ms IS NULL AND delivered < last_seq");
    }

    @Override
    public List<Subscription> pending(String channel) {
        return rows(
                SELECT + "JOIN task USING (task_id) WHERE channel = ? AND dead_ms IS NULL AND delivered < last_seq",
                channel);
    }

    @Override
    public List<Subscription> dead(int limit) {
        return rows(SELECT + "WHERE dead_ms IS NOT NULL ORDER BY dead_ms DESC LIMIT ?", limit);
    }

    /** Why webhooks that no Parley has written cannot be read, by their tasks; all other methods leave them out. */
    public Map<String, String> damaged() {
        return database.read(session -> {
            var found = new DamagedRows(WEBHOOK);
            try (ResultSet rows = session.bind(SELECT).executeQuery()) {
                while (rows.next()) {
                    found.read(rows, this::subscription);
                }
            }
            return found.reasons();
        });
    }

    private List<Subscription> rows(String sql, @Nullable Object... values) {
        return database.read(session -> damaged.list(session, this::subscription, sql, values)).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    /** Reads a webhook; empty if its lane was removed while it was read. */
    private Optional<Subscription> subscription(ResultSet row) throws SQLException {
        TaskOwner lane = lanes.get(row.getLong(2));
        if (lane == null) {
            return Optional.empty();
        }
        String taskId = DatabaseSession.text(row, 1);
        byte[] config = atRest.open(row.getBytes(3), place(taskId, DatabaseSession.text(row, 11)));
        return Optional.of(new Subscription(
                new TaskKey(lane.scope(), lane.agent(), taskId),
                Json.read(config, PushConfig.class),
                DatabaseSession.text(row, 9),
                DatabaseSession.text(row, 10),
                row.getLong(4),
                row.getInt(5),
                DatabaseSession.time(row, 6),
                DatabaseSession.time(row, 7),
                DatabaseSession.text(row, 8),
                DatabaseSession.text(row, 13),
                row.getLong(12)));
    }
}

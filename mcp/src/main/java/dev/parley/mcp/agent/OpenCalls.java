package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.McpTask;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.ServerFailure;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.protocol.json.JsonText;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Feeds;
import dev.parley.store.shared.KeyLocks;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait for an answer and are open at the connection or the process of one hub. If the answer arrives at another hub that shares
 * the database, that adds a row for the hub of the call, which continues the call and writes the outcome.
 *
 * <p>A call is continued once at most. If its hub ends, the call has failed. Safe for any thread.
 */
final class OpenCalls {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");

    private static final ModuleTables TABLES = new ModuleTables("mcp servers of several hubs", List.of("""
            CREATE TABLE mcp_answer (
                id        TEXT PRIMARY KEY,
                from_hub  BIGINT NOT NULL,
                to_hub    BIGINT NOT NULL,
                server    TEXT NOT NULL,
                content   TEXT NOT NULL,
                taken     BOOLEAN NOT NULL DEFAULT false,
                abandoned BOOLEAN NOT NULL DEFAULT false,
                outcome   TEXT,
                made_at   TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
            );
            CREATE INDEX mcp_answer_to ON mcp_answer (to_hub) WHERE outcome IS NULL;
            CREATE INDEX mcp_answer_from ON mcp_answer (from_hub);
            """));

    private static final String FEED = "mcp-answers";

    /** Time for which a hub may have calls open after its last question. */
    private static final Duration LONGEST = Duration.ofHours(25);

    private static final String ASK = "INSERT INTO mcp_answer (id, from_hub, to_hub, server, content, taken, abandoned)"
            + " VALUES (?, ?, ?, ?, ?, false, ?) ON CONFLICT (id) DO UPDATE SET from_hub = excluded.from_hub";

    /** Marks rows for a hub, without a wait for those that are being removed. */
    private static final String TAKE = "UPDATE mcp_answer SET taken = true WHERE id IN (SELECT id FROM mcp_answer"
            + " WHERE to_hub = ? AND outcome IS NULL AND NOT taken LIMIT 100 FOR UPDATE SKIP LOCKED)"
            + " RETURNING id, server, content, abandoned";

    /** A call of this hub whose outcome could not be written. Another attempt follows if the other hub is writing the row. */
    private static final String LOST = "UPDATE mcp_answer SET outcome = ? WHERE id IN (SELECT id FROM mcp_answer"
            + " WHERE id = ? AND outcome IS NULL FOR UPDATE SKIP LOCKED)";

    private static final String DONE = "SELECT id, outcome FROM mcp_answer WHERE from_hub = ? AND (outcome IS NOT NULL"
            + " OR NOT EXISTS (SELECT 1 FROM stream WHERE stream.hub_no = mcp_answer.to_hub))";

    /** A row of this hub, unless the other hub is writing it. One that is left is removed later. */
    private static final String OWN_FREE =
            " (SELECT id FROM mcp_answer WHERE id = ? AND from_hub = ? FOR UPDATE SKIP LOCKED)";

    private static final String FREE = " (SELECT id FROM mcp_answer WHERE id = ? FOR UPDATE SKIP LOCKED)";

    private record Asked(String id, String server, String content, boolean isAbandoned) {}

    private record Open(String id, boolean isTaken, boolean isAbandoned) {}

    private record Done(String id, @Nullable String outcome) {}

    private final Database database;
    private final boolean isShared;
    private final KeyLocks locks;
    private final Feeds feeds;
    private final long hub;
    private final Function<String, @Nullable HostedServer> servers;
    private final Map<String, CompletableFuture<Continuation>> waiting = new ConcurrentHashMap<>();
    private final Map<String, Thread> running = new ConcurrentHashMap<>();
    private volatile long askedNanos = System.nanoTime() - LONGEST.toNanos();

    /** @param servers by name; null for none */
    OpenCalls(Database database, Function<String, @Nullable HostedServer> servers) {
        this.database = database;
        this.isShared = database.access().epochs().isShared();
        this.locks = new KeyLocks(database.access().epochs());
        this.feeds = database.access().feeds();
        this.hub = isShared ? database.access().hub() : 0;
        this.servers = servers;
        if (isShared) {
            database.migrate(TABLES);
            int unused = database.write(session ->
                    session.update("DELETE FROM mcp_answer WHERE made_at < clock_timestamp() - interval '2 days'"));
            feeds.follow(FEED, this::look);
        }
    }

    /** Number of this hub among those that share its database, for {@link KeptCall#hub}, as a question is asked; 0 for a hub alone. */
    long hub() {
        askedNanos = System.nanoTime();
        return hub;
    }

    /** Whether a call is open at another hub, which lives. */
    boolean isElsewhere(ServersFile.Entry server, KeptCall call) {
        return isShared
                && call.hub() != 0
                && call.hub() != hub
                && (!server.command().isEmpty() || McpClient.isHeld(call.state()))
                && database.<Long>read(
                                session -> session.number("SELECT count(*) FROM stream WHERE hub_no = ?", call.hub()))
                        > 0;
    }

    /**
     * Has another hub continue a call with its answers, and waits for the outcome.
     *
     * @param id of the answer; one that was given before leads to the same outcome
     */
    Continuation goOn(String id, String server, KeptCall answered) throws InterruptedException {
        var outcome = new CompletableFuture<Continuation>();
        waiting.put(id, outcome);
        try {
            add(id, server, answered, false);
            return outcome.get(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException forgotten) {
            return Continuation.ended();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } finally {
            waiting.remove(id);
        }
    }

    /** Has a call that another hub continues be given up. */
    void stop(String id) {
        int unused = database.write(
                session -> session.update("UPDATE mcp_answer SET abandoned = true WHERE id IN" + OWN_FREE, id, hub));
        feeds.tell(FEED);
    }

    /** Has the hub of a call give it up, as its task is canceled. */
    void abandon(String taskId, String server, KeptCall call) {
        add(taskId, server, call, true);
    }

    private void add(String id, String server, KeptCall call, boolean isAbandoned) {
        String content = new String(JsonText.write(KeptCall.CODEC, call), UTF_8);
        int unused = database.write(session -> session.update(ASK, id, hub, call.hub(), server, content, isAbandoned));
        feeds.tell(FEED);
    }

    /** Continues calls of this hub, and takes outcomes from others. */
    private void look() {
        if (System.nanoTime() - askedNanos < LONGEST.toNanos()) {
            // Before the rows are read: a call that ends meanwhile is not lost.
            Set<String> known = Set.copyOf(running.keySet());
            List<Open> open = database.read(session -> session.list(
                    row -> new Open(DatabaseSession.text(row, 1), row.getBoolean(2), row.getBoolean(3)),
                    "SELECT id, taken, abandoned FROM mcp_answer WHERE to_hub = ? AND outcome IS NULL",
                    hub));
            open.stream().filter(Open::isTaken).forEach(call -> check(call, known));
            List<Asked> asked = open.stream().allMatch(Open::isTaken)
                    ? List.of()
                    : database.write(session -> session.list(
                            row -> new Asked(
                                    DatabaseSession.text(row, 1),
                                    DatabaseSession.text(row, 2),
                                    DatabaseSession.text(row, 3),
                                    row.getBoolean(4)),
                            TAKE,
                            hub));
            asked.forEach(each -> {
                Thread thread = Thread.ofVirtual().name("mcp-answer").unstarted(() -> answer(each));
                running.put(each.id, thread);
                thread.start();
            });
        }
        if (!waiting.isEmpty()) {
            List<Done> done = database.read(session -> session.list(
                    row -> new Done(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)), DONE, hub));
            done.forEach(this::take);
        }
    }

    private void take(Done done) {
        CompletableFuture<Continuation> waits = waiting.get(done.id);
        if (waits != null) {
            waits.complete(done.outcome == null ? Continuation.ended() : Continuation.read(done.outcome));
        }
    }

    /** The task goes on with the outcome, which is not needed any more. */
    void forget(String id) {
        int unused =
                database.write(session -> session.update("DELETE FROM mcp_answer WHERE id IN" + OWN_FREE, id, hub));
    }

    /** Ends a call that this hub has taken, if it was given up or is not continued. */
    private void check(Open call, Set<String> known) {
        Thread thread = running.get(call.id);
        if (thread != null) {
            if (call.isAbandoned) {
                thread.interrupt();
            }
        } else if (!known.contains(call.id)) {
            int unused = database.write(session -> call.isAbandoned
                    ? session.update("DELETE FROM mcp_answer WHERE id IN" + FREE, call.id)
                    : session.update(LOST, Continuation.ended().text(), call.id));
            feeds.tell(FEED);
        }
    }

    private void answer(Asked asked) {
        try {
            Continuation outcome = outcome(asked);
            boolean unused = locks.patiently(() -> database.write(session -> isWritten(session, asked.id, outcome))
                    ? Optional.of(true)
                    : Optional.empty());
            feeds.tell(FEED);
        } catch (StoreException unwritten) { // the hub ends, and with it the call
            LOG.log(System.Logger.Level.WARNING, "the outcome of a call was not written", unwritten);
        } finally {
            running.remove(asked.id);
        }
    }

    /** False if the other hub is writing the row at the moment. */
    private static boolean isWritten(DatabaseSession session, String id, @Nullable Continuation outcome)
            throws SQLException {
        int written = outcome == null
                ? session.update("DELETE FROM mcp_answer WHERE id IN" + FREE, id)
                : session.update("UPDATE mcp_answer SET outcome = ? WHERE id IN" + FREE, outcome.text(), id);
        return written > 0 || session.number("SELECT count(*) FROM mcp_answer WHERE id = ?", id) == 0;
    }

    /** Continues a call; returns null if it was given up. */
    private @Nullable Continuation outcome(Asked asked) {
        try {
            KeptCall kept = JsonText.read(asked.content.getBytes(UTF_8), KeptCall.CODEC);
            HostedServer server = servers.apply(asked.server);
            if (server == null) {
                throw new ServerFailure(Kind.CONNECTION, "MCP server \"" + asked.server + "\": not configured");
            }
            if (asked.isAbandoned) {
                ToolAgent.abandon(server, kept);
                return null;
            }
            return continued(server, kept);
        } catch (McpException error) {
            return Continuation.of(error);
        } catch (ServerFailure failure) {
            return Continuation.of(failure);
        } catch (InterruptedException canceled) {
            return null;
        } catch (RuntimeException failure) {
            LOG.log(System.Logger.Level.WARNING, "MCP server " + asked.server, failure);
            return Continuation.of(new ServerFailure(Kind.INVALID_RESPONSE, "the call could not be continued"));
        }
    }

    private Continuation continued(HostedServer server, KeptCall kept) throws InterruptedException {
        McpClient client = server.client();
        ToolCall call = kept.call();
        String id = kept.task();
        McpTask task;
        askedNanos = System.nanoTime();
        if (id == null) {
            var invocation = new Invocation(call.tool(), call.arguments(), kept.answers(), kept.state(), call.meta());
            switch (client.call(invocation, server.entry().timeout(), (progress, total, message) -> {})) {
                case Outcome.Complete(var result) -> {
                    return Continuation.of(result);
                }
                case Outcome.Questions(var questions, var state) -> {
                    return Continuation.of(questions, state, null);
                }
                case Outcome.Begun(var begun) -> task = begun;
            }
        } else {
            client.update(id, kept.answers());
            task = client.task(id);
        }
        McpTask settled = ToolAgent.settled(client, task);
        return settled.status() == McpTask.Status.INPUT_REQUIRED
                ? Continuation.of(settled.inputRequests(), null, settled.taskId())
                : Continuation.of(ToolAgent.result(settled));
    }
}

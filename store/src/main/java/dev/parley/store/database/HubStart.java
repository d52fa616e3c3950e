package dev.parley.store.database;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.connection.OpeningProblem;
import dev.parley.store.connection.Outage;
import dev.parley.store.connection.PoolerProbe;
import dev.parley.store.connection.UnfinishedMove;
import dev.parley.store.database.PostgresqlStream.EndedException;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.AuditNumbers;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Start of a hub on a database of PostgreSQL: it registers, waits for its turn if it shares the database, and takes it over. */
final class HubStart {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Hash of a chain without links. */
    private static final String BEGINNING = "0".repeat(64);

    /** The oldest server, as {@code server_version_num} has it. */
    private static final int OLDEST = 150_000;

    private static final int TAKEOVERS = 10;

    /** Version of the tables of tasks from which on there is a level. */
    private static final int LEVELS = 9;

    /** Pauses of a hub that shares its database and could not register again, or while others use its tables. */
    private static final Backoff RETRIES = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(2));

    /** State of a transaction that this has ended. */
    private static final String IDLE = "25P03";

    private final PostgresqlSystem system;
    private final Registration registration;
    private final DatabaseSession session;
    private long hub;

    private HubStart(PostgresqlSystem system, Registration registration, DatabaseSession session) {
        this.system = system;
        this.registration = registration;
        this.session = session;
    }

    /**
     * Starts a hub, which works with the database from then on.
     *
     * @param session of the writer, which is not used elsewhere meanwhile
     * @throws StoreException if it cannot be started, or the thread was interrupted; the session is closed then
     */
    static HubLease begin(
            DataSource source, PostgresqlSystem system, Registration registration, DatabaseSession session) {
        try {
            return new HubStart(system, registration, session).begin();
        } catch (SQLException problem) {
            session.discard();
            throw OpeningProblem.of(source, problem);
        } catch (InterruptedException stop) {
            session.discard();
            Thread.currentThread().interrupt();
            throw new StoreException("the hub was stopped while it waited for its database", stop);
        } catch (RuntimeException refused) {
            session.discard();
            throw refused;
        }
    }

    private HubLease begin() throws SQLException, InterruptedException {
        for (int failures = 0; ; ) {
            boolean isRegistered = hub != 0;
            try {
                if (register()) {
                    failures = 0;
                    return awaitTurn();
                }
            } catch (SQLException failure) {
                boolean isEnded = EndedException.in(failure) != null;
                // A hub that has waited goes on to do so; one that does not start at all says why.
                if (!registration.isShared() || !isEnded && !(isRegistered && passes(failure))) {
                    throw failure;
                }
                LOG.log(
                        Level.WARNING,
                        isEnded
                                ? "other hubs have ended this one while it waited; it registers again"
                                : "the hub could not register again: " + Outage.message(failure));
                session.discard();
            }
            Thread.sleep(RETRIES.after(++failures, null));
        }
    }

    private HubLease awaitTurn() throws SQLException, InterruptedException {
        var lease = new HubLease(system, registration);
        boolean isOver = false;
        String working = "";
        try {
            if (!registration.isShared()) {
                isOver = takeOver();
                return lease;
            }
            while (!isOver) {
                switch (lease.awaitTurn(working)) {
                    case TAKES -> isOver = takesOver();
                    case RECONNECTS -> {
                        session.discard();
                        isOver = takesOver(); // connects to the server that is there now
                    }
                    case ENDED -> throw new EndedException(PostgresqlStream.takenOver());
                    case WAITS -> {
                        working = lease.working();
                        if (!working.isEmpty()) {
                            registration.waits().accept(working);
                        }
                    }
                }
            }
            return lease;
        } finally {
            if (!isOver) {
                lease.close();
            }
        }
    }

    /** Returns false if another hub was faster or makes tables, or the database does not answer or lacks something that will pass. */
    private boolean takesOver() throws SQLException, InterruptedException {
        try {
            return takeOver();
        } catch (SQLException failure) {
            session.discard();
            if (EndedException.in(failure) != null || !passes(failure)) {
                throw failure;
            }
            LOG.log(Level.WARNING, "the hub could not begin to work with its database: " + Outage.message(failure));
            return false;
        }
    }

    /** Whether what a start of a hub has failed for will pass. */
    private static boolean passes(SQLException failure) {
        String state = String.valueOf(failure.getSQLState());
        return state.equals(PostgresqlSystem.IN_USE) || state.equals(IDLE) || StoreException.isTemporary(failure);
    }

    /** Excludes other starts until the end of the transaction; false if the hub shares the database and another start excludes it. */
    private boolean startsAlone() throws SQLException {
        if (registration.isShared()) {
            // Makers of tables may take longer than a statement may.
            if (session.number(PostgresqlSystem.START_ALONE_NOW) == 0) {
                session.connection().rollback();
                return false;
            }
        } else {
            session.number(PostgresqlSystem.START_ALONE);
        }
        session.once(PostgresqlSystem.LONGEST_IDLE);
        return true;
    }

    /**
     * Makes the tables of tasks if there are none, and gives this hub its number among those of the database.
     *
     * @return false if another hub that shares the database starts at the moment; nothing has changed then
     * @throws StoreException if this server or database cannot hold them
     */
    private boolean register() throws SQLException {
        PoolerProbe.require(system.server());
        require(session);
        if (!startsAlone()) {
            return false;
        }
        UnfinishedMove.refuse(session.connection());
        session.once(Migrations.MODULE_VERSIONS);
        session.once("SET parley.stream = 0"); // of rows that are older than streams
        requireReadable();
        if (Migrations.version(session, Release.TASKS) == 0 || !registration.isShared()) {
            migrate();
        }
        hub = session.number(
                "INSERT INTO hub (name, level, version, lease_until)"
                        + " VALUES (?, ?, ?, clock_timestamp() + interval '9 s') RETURNING hub_no",
                hubName(),
                system.release().level(),
                registration.version());
        session.update(HubLease.END, registration.before());
        if (registration.isShared()) {
            session.number(PostgresqlSystem.NAME, hub);
            PostgresqlSystem.show(session, hub);
        }
        session.commit();
        system.registered(hub);
        return true;
    }

    /**
     * Brings the tables of tasks up to date, and begins a stream, which takes over what earlier ones have left.
     *
     * @return false if another hub works with the database, which this one shares with it, or starts; nothing has changed then
     * @throws EndedException if this hub has been ended
     */
    private boolean takeOver() throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return beginStream();
            } catch (SQLException held) {
                if (attempt == TAKEOVERS
                        || !PostgresqlSystem.IN_USE.equals(held.getSQLState())
                        || !registration.isShared()) {
                    throw held;
                }
                session.connection().rollback();
                PostgresqlStream.terminate(session);
                Duration pause = RETRIES.after(attempt, null); // hubs that work get on meanwhile
                LOG.log(
                        Level.INFO,
                        "the start of the hub waits for other transactions, and is tried again after "
                                + pause.toMillis() + " ms: " + Outage.message(held));
                Thread.sleep(pause);
            }
        }
    }

    private boolean beginStream() throws SQLException {
        if (!startsAlone()) {
            return false;
        }
        session.once("SET parley.stream = 0");
        boolean isAlone = true;
        if (registration.isShared()) {
            if (session.number("SELECT count(*) FROM hub WHERE hub_no = ? AND ended_at IS NULL", hub) == 0) {
                throw new EndedException(PostgresqlStream.takenOver());
            }
            boolean isAwaited = session.number(
                            PostgresqlStream.hindrances("count(*)"), PostgresqlStream.hindranceOf(hub, registration))
                    > 0;
            isAlone = session.number(
                            PostgresqlStream.hindrances("count(*)"),
                            PostgresqlStream.hindranceOf(hub, Registration.ALONE))
                    == 0;
            if (isAwaited) {
                session.connection().rollback();
                return false;
            }
        }
        String before =
                PostgresqlStream.awaitTransactions(session, registration.isShared() ? hub : PostgresqlStream.ALL);
        migrate();
        PostgresqlStream.endStreams(session, before, hub);
        if (!registration.isShared()) {
            session.update("UPDATE hub SET ended_at = clock_timestamp() WHERE ended_at IS NULL AND hub_no <> ?", hub);
        }
        session.update("DELETE FROM hub WHERE ended_at < clock_timestamp() - interval '30 days'");
        system.begun(registration.isAtOnce() ? beginChain() : goOn());
        if (isAlone) {
            session.once(Storage.HotSums.folding("tally", "lane_no, state", "tasks"));
            session.once(Storage.HotSums.folding("stored", "group_id, kind", "bytes"));
        }
        session.once("SET parley.stream = " + system.stream());
        session.commit();
        return true;
    }

    /** Begins a stream that takes over all tasks, and goes on with the newest chain of the audit. */
    private PostgresqlStream goOn() throws SQLException {
        String hash = BEGINNING;
        long number = 0;
        try (ResultSet row = session.bind(
                        "SELECT audit_no, audit_hash FROM stream_end ORDER BY audit_no DESC, stream_no DESC LIMIT 1")
                .executeQuery()) {
            if (row.next()) {
                number = row.getLong(1);
                hash = DatabaseSession.text(row, 2);
            }
        }
        long begun = session.number(
                "INSERT INTO stream (hub_no, audit_no, audit_hash) VALUES (?, ?, ?) RETURNING stream_no",
                hub,
                number,
                hash);
        session.update("UPDATE task SET owner = ? WHERE owner IS NOT NULL", begun);
        return new PostgresqlStream(begun, hub, number, hash);
    }

    /** Begins a stream beside others, with a chain of its own in the audit; tasks are taken over by those that host their agents. */
    private PostgresqlStream beginChain() throws SQLException {
        long begun = session.number(
                "INSERT INTO stream (hub_no, audit_no, audit_hash, at_once) VALUES (?, 0, ?, true) RETURNING stream_no",
                hub,
                BEGINNING);
        long number = AuditNumbers.beginning(begun);
        session.update("UPDATE stream SET audit_no = ? WHERE stream_no = ?", number, begun);
        return new PostgresqlStream(begun, hub, number, BEGINNING);
    }

    private static void require(DatabaseSession session) throws SQLException {
        try (ResultSet row = session.bind(
                        "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),"
                                + " current_setting('server_encoding')")
                .executeQuery()) {
            row.next();
            if (row.getInt(1) < OLDEST) {
                throw new NotOpenedException(
                        Reason.SERVER, "PostgreSQL " + DatabaseSession.text(row, 2) + " (expected: 15 or newer)");
            }
            if (!DatabaseSession.text(row, 3).equals("UTF8")) {
                throw new NotOpenedException(
                        Reason.SERVER,
                        "the database has the encoding " + DatabaseSession.text(row, 3)
                                + " (expected: UTF8; create it by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0)");
            }
        }
    }

    /** @throws StoreException if hubs write forms that this program does not know */
    private void requireReadable() throws SQLException {
        int known = system.release().level();
        int level = Migrations.version(session, Release.TASKS) < LEVELS ? Release.FIRST : Migrations.level(session);
        if (level > known) {
            throw new StoreException("the database has level " + level
                    + ", as an upgrade was finished by parley migrate --finish,"
                    + " and this program understands level " + known + " (expected: a program of the new release)");
        }
    }

    private void migrate() throws SQLException {
        int before = Migrations.version(session, Release.TASKS);
        if (before < system.currentSchema()) {
            system.unlimited(session, () -> migrate(before));
        } else {
            migrate(before);
        }
    }

    private void migrate(int before) throws SQLException {
        if (registration.isShared() && before > 0) {
            session.once(PostgresqlSystem.BRIEFLY); // hubs of an older release work
        }
        Migrations.run(
                "the tables of tasks have version",
                before,
                registration.isShared() ? Migrations.readable(session, Release.TASKS) : before,
                system.release().tasks().scripts(),
                (statements, version) -> {
                    for (String sql : (Iterable<String>) statements::iterator) {
                        session.once(sql);
                    }
                    Migrations.setVersion(session, Release.TASKS, version);
                });
        if (before == 0 || !registration.isShared()) {
            Migrations.finishTasks(session, system.release(), system::spelled);
        }
        session.once("SET LOCAL lock_timeout = 0");
    }

    private static String hubName() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            host = "unknown";
        }
        return host + "/" + ProcessHandle.current().pid();
    }
}

package dev.parley.store.database;

import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.connection.Outage;
import dev.parley.store.connection.ServerIdentity.OtherServerException;
import dev.parley.store.database.PostgresqlStream.EndedException;
import dev.parley.store.spi.Ending;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Renews the lease of a hub in PostgreSQL each second, by a connection of its own and by the clock of the database, and so learns that
 * the hub was ended by another one, also while it has nothing to write. A program that was paused for longer than others wait is
 * doubtful until it has renewed its lease: it answers nothing before. Methods are safe for any thread.
 */
final class HubLease implements AutoCloseable {
    /** What a hub tells others about itself. */
    record Description(String version, List<String> agents) {}

    private static final Logger LOG = System.getLogger("dev.parley.store");

    private static final Duration BEAT = Duration.ofSeconds(1);

    /** Without a beat for so long a hub is doubtful; others wait for longer. */
    static final Duration SILENCE = Duration.ofSeconds(8);

    private static final String RENEW =
            "UPDATE hub SET beat_at = clock_timestamp(), lease_until = clock_timestamp() + interval '10 s', version = ?,"
                    + " agents = CAST(string_to_array(?, chr(10)) AS TEXT[]) WHERE hub_no = ? AND ended_at IS NULL";

    private final long hub;
    private final Supplier<Description> description;
    private final Consumer<Ending> ended;
    private final Runnable otherServer;
    private final DatabaseSession session;
    private final Thread thread;
    private volatile long tickedAt = System.nanoTime();
    private volatile boolean isDoubtful;
    private volatile boolean isClosed;
    private boolean isRenewed = true;

    /**
     * @param ended is told if another hub has ended this one
     * @param otherServer has the writer look for the server; may block for some seconds
     */
    HubLease(PostgresqlSystem system, Supplier<Description> description, Consumer<Ending> ended, Runnable otherServer) {
        this.hub = system.hub();
        this.description = description;
        this.ended = ended;
        this.otherServer = otherServer;
        this.session = new DatabaseSession(new Opening(system, Use.RENEW));
        this.thread = Thread.ofPlatform().daemon().name("store-lease").start(this::renewAll);
    }

    /** True unless this program may have been replaced while it did not run. */
    boolean isCertain() {
        return !isDoubtful && System.nanoTime() - tickedAt < SILENCE.toNanos();
    }

    private void renewAll() {
        while (!isClosed) {
            long now = System.nanoTime();
            if (now - tickedAt >= SILENCE.toNanos()) {
                isDoubtful = true; // before the time says otherwise
                LOG.log(
                        Level.WARNING,
                        "the hub did not run for "
                                + Duration.ofNanos(now - tickedAt).toSeconds()
                                + " s; it answers when it has renewed its lease");
            }
            tickedAt = now;
            if (!renew()) {
                break;
            }
            LockSupport.parkNanos(now + BEAT.toNanos() - System.nanoTime());
        }
        if (isClosed && isRenewed) {
            end();
        }
        session.discard();
    }

    private void end() {
        try {
            session.update("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = ? AND ended_at IS NULL", hub);
        } catch (SQLException | RuntimeException failure) {
            LOG.log(Level.DEBUG, "the end of the hub could not be written", failure);
        }
    }

    /** Returns false if the hub has been ended. */
    private boolean renew() {
        try {
            Description told = description.get();
            if (session.update(RENEW, told.version, String.join("\n", told.agents), hub) == 0) {
                otherServer.run(); // finds out if the database went back in time instead
                ended.accept(PostgresqlStream.takenOver());
                return false;
            }
            isDoubtful = false;
            if (!isRenewed) {
                LOG.log(Level.INFO, "the lease of the hub is renewed again");
            }
            isRenewed = true;
        } catch (OtherServerException moved) {
            otherServer.run();
        } catch (SQLException | RuntimeException failure) {
            session.discard();
            Ending end = EndedException.in(failure);
            if (end != null) {
                ended.accept(end);
                return false;
            }
            if (isRenewed && !isClosed) {
                isRenewed = false;
                LOG.log(Level.WARNING, "the lease of the hub cannot be renewed: " + Outage.message(failure));
            }
        }
        return true;
    }

    /** Ends the hub, unless it has been ended. */
    @Override
    public void close() throws InterruptedException {
        isClosed = true;
        LockSupport.unpark(thread);
        thread.join();
    }
}

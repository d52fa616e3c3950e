package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.store.AuditTrail;
import dev.parley.store.Database;
import dev.parley.trust.Directory;
import dev.parley.trust.Directory.Actor;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Groups, users, keys and the audit, as operators ask for them: of a hub that runs, or of the directory of one that does
 * not. Safe for any thread.
 */
public final class Administration implements AutoCloseable {
    private final Database database;
    private final Directory directory;
    private final AuditTrail audit;
    private final Members members;
    private final AuditPages pages;

    private Administration(Database database, AuditTrail audit) {
        this.database = database;
        this.audit = audit;
        this.directory = Directory.in(database, audit, InstantSource.system());
        this.members = new Members(directory);
        this.pages = new AuditPages(audit);
    }

    static Administration in(Database database, AuditTrail audit) {
        return new Administration(database, audit);
    }

    /**
     * Opens the data directory of a hub that does not run, or makes it.
     *
     * @throws dev.parley.store.StoreException if a hub has it open, or it cannot be used
     */
    public static Administration open(Path data) {
        Database database = Database.open(data);
        return new Administration(database, AuditTrail.in(database, InstantSource.system()));
    }

    /**
     * Answers a request for the audit, whose path begins behind {@code /admin}, from the data directory of a hub that may run.
     *
     * @throws dev.parley.store.StoreException if it cannot be read
     * @throws dev.parley.protocol.A2AException if the request is no good
     */
    public static WireAnswer audit(Path data, WireRequest request) {
        try (Database database = Database.openForReading(data)) {
            return new AuditPages(AuditTrail.reading(database)).answer(new AdminRequest(request));
        }
    }

    Directory directory() {
        return directory;
    }

    AuditTrail audit() {
        return audit;
    }

    /** {@link Database#awaitErased}. */
    boolean awaitErased(Duration patience) {
        return database.awaitErased(patience);
    }

    /**
     * Answers a request whose path begins behind {@code /admin}, for who has the data directory in hand.
     *
     * @throws dev.parley.protocol.A2AException if it is no good
     */
    public WireAnswer answer(WireRequest request) {
        return answer(request, Actor.OPERATOR);
    }

    WireAnswer answer(WireRequest request, Actor by) {
        var asked = new AdminRequest(request);
        return asked.step(0).equals("audit") ? pages.answer(asked) : members.answer(asked, by);
    }

    /** Closes the directory; nothing to a hub that runs. */
    @Override
    public void close() {
        database.close();
    }
}

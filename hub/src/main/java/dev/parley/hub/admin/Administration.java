package dev.parley.hub.admin;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.extension.Handlers;
import dev.parley.hub.admin.MemberOperation.UsageView;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.trust.Directory;
import dev.parley.trust.Directory.Actor;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Groups, users, keys and the audit: of a hub that runs, or of the data directory of one that does not. Safe for any thread.
 */
public final class Administration implements AutoCloseable {
    private static final CallContext OPERATOR =
            CallContext.of(Actor.OPERATOR.name(), new Scope(Actor.OPERATOR.group(), Actor.OPERATOR.name()));

    private final Database database;
    private final Directory directory;
    private final AuditTrail audit;

    private Administration(Database database, AuditTrail audit) {
        this.database = database;
        this.audit = audit;
        this.directory = Directory.in(database, audit, InstantSource.system());
    }

    public static Administration in(Database database, AuditTrail audit) {
        return new Administration(database, audit);
    }

    /**
     * Opens the data directory of a hub that does not run, or makes it.
     *
     * @throws dev.parley.store.spi.StoreException if a hub has it open, or it cannot be used
     */
    public static Administration open(Path data) {
        Database database = Database.open(data);
        return new Administration(database, AuditTrail.in(database, InstantSource.system()));
    }

    /**
     * Answers a request for the audit from the data directory of a hub that may run.
     *
     * @throws dev.parley.store.spi.StoreException if it cannot be read
     * @throws dev.parley.protocol.A2AException if the request is refused
     */
    public static WireAnswer audit(Path data, WireRequest request) {
        try (Database database = Database.openForReading(data)) {
            var pages = new AuditPages(AuditTrail.reading(database));
            return AdminApi.of(pages.handlers()).answer(request, OPERATOR);
        }
    }

    /** Handlers for groups, users, keys and the audit. */
    Handlers handlers() {
        return new Members(directory)
                .handlers()
                .and(new AuditPages(audit).handlers())
                .call(
                        MemberOperation.USAGES,
                        (list, by) -> database.storage().usage().entrySet().stream()
                                .map(group -> new UsageView(
                                        group.getKey(),
                                        group.getValue().sum(),
                                        group.getValue().limit()))
                                .toList());
    }

    public Directory directory() {
        return directory;
    }

    public AuditTrail audit() {
        return audit;
    }

    /** {@link Database#awaitErased}. */
    boolean awaitErased(Duration patience) {
        return database.awaitErased(patience);
    }

    /**
     * Answers a request of an operator with access to the data directory.
     *
     * @throws dev.parley.protocol.A2AException if it is refused
     */
    public WireAnswer answer(WireRequest request) {
        return AdminApi.of(handlers()).answer(request, OPERATOR);
    }

    /** Closes the directory; nothing to a hub that runs. */
    @Override
    public void close() {
        database.close();
    }
}

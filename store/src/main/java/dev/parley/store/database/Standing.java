package dev.parley.store.database;

import dev.parley.store.spi.Ending;
import dev.parley.store.spi.OutageException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether a program may use a database that it has open. It may not any more when another hub has taken the database over, or the
 * database went back in time. Safe for any thread.
 */
public final class Standing implements Readers.Guard {
    private final BooleanSupplier open;
    private final CompletableFuture<Ending> ending = new CompletableFuture<>();
    private volatile Supplier<HubLease.Description> description = () -> new HubLease.Description("", List.of());
    private volatile @Nullable HubLease lease;

    private volatile Runnable serverSearch = () -> {};

    /** @param open false once the database is closed */
    Standing(BooleanSupplier open) {
        this.open = open;
    }

    /** Why this program may not use the database any more; empty as long as it may. */
    public Optional<Ending> ending() {
        return Optional.ofNullable(ending.getNow(null));
    }

    /**
     * Tells when this program may not use the database any more. Neither reads nor writes of the database are answered from then on.
     *
     * @param ended is called once, at once if that has come to pass already, on a thread that it must not block
     */
    public void onEnding(Consumer<Ending> ended) {
        var unused = ending.thenAccept(ended);
    }

    /**
     * Why nothing may be answered at present, not even from memory, for operators: another hub has taken the database over, or may have,
     * since this program did not run for some time. Costs nothing; for each call.
     */
    public Optional<String> obstacle() {
        Ending end = ending.getNow(null);
        if (end != null) {
            return Optional.of(end.words());
        }
        HubLease renewed = lease;
        return renewed == null || renewed.isCertain()
                ? Optional.empty()
                : Optional.of("the hub did not run for some time, and has not renewed its lease in the database since");
    }

    /**
     * Says what other hubs are to know of this one, which has a database of PostgreSQL.
     *
     * @param agents is asked once a second for the names of the agents that it hosts
     */
    public void describe(String version, Supplier<List<String>> agents) {
        description = () -> new HubLease.Description(version, agents.get());
    }

    @Override
    public void requireUsable() {
        if (!open.getAsBoolean()) {
            throw new OutageException("the database is closed");
        }
        obstacle().ifPresent(reason -> {
            throw new OutageException(reason);
        });
    }

    @Override
    public void findServer() {
        serverSearch.run();
    }

    /**
     * @param end has nothing written any more
     * @param search see {@link #findServer}
     */
    void renewLease(PostgresqlSystem system, Consumer<Ending> end, Runnable search) {
        serverSearch = search;
        lease = new HubLease(system, () -> description.get(), end, search);
    }

    void end(Ending end) {
        ending.complete(end);
    }

    void close() throws InterruptedException {
        HubLease renewed = lease;
        if (renewed != null) {
            renewed.close();
        }
    }
}

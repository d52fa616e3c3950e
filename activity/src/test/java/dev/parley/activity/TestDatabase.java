package dev.parley.activity;

import dev.parley.hub.HubBuilder;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Database of the hubs of a test. */
final class TestDatabase {
    private final AtomicInteger directories = new AtomicInteger();
    private final Path directory;
    private final @Nullable String url;

    private TestDatabase(Path directory, @Nullable String url) {
        this.directory = directory;
        this.url = url;
    }

    static TestDatabase sqlite(Path directory) {
        return new TestDatabase(directory, null);
    }

    static TestDatabase postgresql(Path directory) throws IOException {
        return new TestDatabase(directory, PostgresqlServer.url());
    }

    /** A hub with the same data each time. */
    HubBuilder kept(HubBuilder hub) {
        return url == null ? hub.data(directory) : hub.data(directory).database(url);
    }

    /** A hub without data. */
    HubBuilder empty(HubBuilder hub) throws IOException {
        return url == null ? hub.inMemory() : other(hub).database(PostgresqlServer.url());
    }

    /** A hub on another machine with the database and the secrets of {@link #kept}: on SQLite, with the same directory. */
    HubBuilder elsewhere(HubBuilder hub) {
        return url == null ? hub.data(directory) : other(hub).secrets(directory).database(url);
    }

    private HubBuilder other(HubBuilder hub) {
        return hub.data(directory.resolve("other" + directories.incrementAndGet()));
    }
}

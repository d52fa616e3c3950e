package dev.parley.store.database;

import dev.parley.store.Store;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.Wrapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database that can be opened again: a directory of SQLite, or a schema of PostgreSQL. */
public final class Place {
    private final Path directory;
    private final @Nullable DataSource schema;

    public Place(DatabaseKind kind, Path directory) {
        this.directory = directory;
        try {
            this.schema = kind == DatabaseKind.SQLITE ? null : PostgresqlServer.schema();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public Database database() {
        return schema == null ? Database.open(directory) : Database.open(schema);
    }

    public Store store(InstantSource clock) {
        return store(clock, connection -> connection);
    }

    public Store store(InstantSource clock, Wrapper wrapper) {
        return schema == null
                ? Store.open(directory, clock, EncryptionAtRest.PLAIN, wrapper)
                : Store.open(schema, clock, EncryptionAtRest.PLAIN, wrapper);
    }

    /** Opens a database of PostgreSQL whose works wait so long for an answer. */
    static Database impatient(Wrapper wrapper, Duration patience) {
        try {
            return Database.open(PostgresqlServer.schema(), wrapper, patience);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}

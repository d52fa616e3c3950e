package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.stream.IntStream;

/** Tables of a registry. See {@code docs/adr/0049-record-of-a-registry.md}. */
final class RegistryTables {
    /** Scripts {@code tables-1.sql} to this one, each of which is run once; further ones are added at the end. */
    private static final int SCRIPTS = 7;

    private RegistryTables() {}

    /** Whether the tables of a database have skeletons of names. */
    static boolean haveLooks(DatabaseSession session) throws SQLException {
        return session.number("SELECT count(*) FROM module_version WHERE module = 'registry' AND version >= 4") == 1;
    }

    static void make(Database database) {
        database.migrate(of(database.kind()));
    }

    static ModuleTables of(DatabaseKind kind) {
        boolean isPostgresql = kind == DatabaseKind.POSTGRESQL;
        return new ModuleTables(
                "registry",
                IntStream.rangeClosed(1, SCRIPTS)
                        .mapToObj(number -> script("tables-" + number + ".sql")
                                + (isPostgresql && number == 7 ? script("identities-7.sql") : ""))
                        .toList());
    }

    private static String script(String name) {
        try (InputStream in = RegistryTables.class.getResourceAsStream(name)) {
            return new String(requireNonNull(in, name).readAllBytes(), UTF_8).formatted(EntryBytes.SUM);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

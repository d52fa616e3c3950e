package dev.parley.store.encryption;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.support.Hmac;
import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Fingerprints of the secrets that the hubs of a database have, by the names of the secrets. A hub with others would refuse the tokens of
 * the other hubs and could not read what they have encrypted.
 *
 * <p>A fingerprint is the beginning of a code of the secret. The secrets that hubs make are random, of 192 bits and more: nothing about one
 * follows from it. A slow hash would not protect a passphrase in their place, which can be guessed from the signature of a token, too.
 */
public final class SecretPrints {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** The table of fingerprints. */
    public static final ModuleTables TABLES = new ModuleTables("secrets", List.of("""
            -- Which secrets the hubs of this database have, so that a hub with others does not start.
            CREATE TABLE secret_print (name VARCHAR(100) PRIMARY KEY, print VARCHAR(100) NOT NULL);
            """));

    private static final int BYTES = 8;

    /** Those that are whole: a damaged one keeps no hub from its start, and is made anew. */
    private static final String READ = "SELECT name, print FROM secret_print WHERE length(print) = " + 2 * BYTES;

    private static final String REMOVE_DAMAGED = "DELETE FROM secret_print WHERE length(print) <> " + 2 * BYTES;

    private static final int TIMEOUT_MS = 5_000;

    private SecretPrints() {}

    /** The fingerprint of a secret. Secrets of other names have others, even if they are the same. */
    public static String of(String name, byte[] secret) {
        return of(name, Hmac.key(secret));
    }

    static String of(String name, SecretKeySpec secret) {
        byte[] code = Hmac.of(secret, ("parley secret print\n" + name).getBytes(UTF_8));
        return HexFormat.of().formatHex(code, 0, BYTES);
    }

    /**
     * Reads the fingerprints of a PostgreSQL database that is not open yet, since opening it changes it. Empty for SQLite, for a database
     * without fingerprints, and for one that does not answer: opening it says why.
     *
     * @param url the URL of the database; null for the one that {@code directory} names
     */
    public static Map<String, String> ahead(Path directory, @Nullable String url) {
        PostgresqlUrl source = source(directory, url);
        try {
            return source == null ? Map.of() : read(source).orElse(Map.of());
        } catch (SQLException failure) {
            LOG.log(Level.DEBUG, "the fingerprints of secrets could not be read", failure);
            return Map.of();
        }
    }

    private static @Nullable PostgresqlUrl source(Path directory, @Nullable String url) {
        return url == null ? PostgresqlUrl.in(directory) : PostgresqlUrl.of(url, directory);
    }

    /** Returns the fingerprints of a database that is not open; empty if it has no table of them. */
    private static Optional<Map<String, String>> read(PostgresqlUrl source) throws SQLException {
        try (Connection connection = source.direct().getConnection()) {
            connection.setNetworkTimeout(Runnable::run, TIMEOUT_MS);
            try (Statement statement = connection.createStatement()) {
                if (!hasTable(statement)) {
                    return Optional.empty();
                }
                var prints = new TreeMap<String, String>();
                try (ResultSet rows = statement.executeQuery(READ)) {
                    while (rows.next()) {
                        prints.put(DatabaseSession.text(rows, 1), DatabaseSession.text(rows, 2));
                    }
                }
                return Optional.of(prints);
            }
        }
    }

    private static boolean hasTable(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT to_regclass('secret_print') IS NOT NULL")) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** The fingerprints of a database, whose table is made if it is missing. */
    public static Map<String, String> open(Database database) {
        database.migrate(TABLES);
        return database.read(SecretPrints::read);
    }

    /** The fingerprints of a database that a hub of any version has made. */
    public static Map<String, String> in(Database database) {
        return database.read(
                session -> session.number("SELECT count(*) FROM module_version WHERE module = ?", TABLES.module()) == 0
                        ? Map.<String, String>of()
                        : read(session));
    }

    private static Map<String, String> read(DatabaseSession session) throws SQLException {
        var prints = new TreeMap<String, String>();
        session.list(row -> Map.entry(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)), READ)
                .forEach(print -> prints.put(print.getKey(), print.getValue()));
        return prints;
    }

    /** Adds fingerprints for names that have none, and returns all that the database has then. */
    public static Map<String, String> add(Database database, Map<String, String> prints) {
        return database.write(session -> {
            session.update(REMOVE_DAMAGED);
            for (var print : prints.entrySet()) {
                session.update(
                        "INSERT INTO secret_print (name, print) VALUES (?, ?) ON CONFLICT DO NOTHING",
                        print.getKey(),
                        print.getValue());
            }
            return read(session);
        });
    }

    /** Replaces a fingerprint, unless it was replaced meanwhile. */
    public static void replace(Database database, String name, String before, String after) {
        database.write(session ->
                session.update("UPDATE secret_print SET print = ? WHERE name = ? AND print = ?", after, name, before));
    }

    /**
     * Removes a fingerprint of a database that no hub has open: the next start takes the secret that it has. Makes neither a database nor
     * tables.
     *
     * @param url the URL of the database of PostgreSQL; null for the database that {@code directory} has or names
     * @return false if there was none
     * @throws dev.parley.store.spi.StoreException if the database cannot be opened
     */
    public static boolean forget(Path directory, @Nullable String url, String name) {
        PostgresqlUrl source = source(directory, url);
        if (source == null) {
            Database.openForReading(directory).close(); // throws if the directory has no database
        } else if (hasNone(source)) {
            return false;
        }
        try (Database database = source == null ? Database.open(directory) : Database.open(source)) {
            return forget(database, name);
        }
    }

    /** True if a database has no table of fingerprints; false also if it does not answer: opening it says why. */
    private static boolean hasNone(PostgresqlUrl source) {
        try {
            return read(source).isEmpty();
        } catch (SQLException failure) {
            return false;
        }
    }

    /** Removes a fingerprint: the next start takes the secret that it has. Returns false if there was none. */
    public static boolean forget(Database database, String name) {
        database.migrate(TABLES);
        return database.write(session -> session.update("DELETE FROM secret_print WHERE name = ?", name)) > 0;
    }
}

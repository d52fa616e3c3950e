package dev.parley.knowledge.store;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.net.URI;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Settings that all graphs of a database share, in the rows of {@code kg_setting} without a space. */
public final class DatabaseSettings {
    /** Name of the module of the tables. */
    static final String MODULE = "knowledge";

    private static final String INSTANCE = "instance";
    private static final String SERVER = "server";

    private DatabaseSettings() {}

    /** The random number of a database, which gets one if it has none. */
    static long instance(Database database) {
        return database.write(session -> {
            String kept = setting(session, INSTANCE).orElse("");
            try {
                return Long.parseLong(kept);
            } catch (
                    NumberFormatException
                            none) { // or it was damaged: earlier changes keep their ids, later ones begin anew
                // Another hub may have made one since; its number stays then.
                return session.number(
                        "INSERT INTO kg_setting (space, name, value) VALUES (0, ?, ?) ON CONFLICT (space, name) DO UPDATE"
                                + " SET value = CASE kg_setting.value WHEN ? THEN excluded.value ELSE kg_setting.value END"
                                + " RETURNING CAST(value AS BIGINT)",
                        INSTANCE,
                        "" + new SecureRandom().nextLong(),
                        kept);
            }
        });
    }

    private static Optional<String> setting(DatabaseSession session, String name) throws SQLException {
        return session.first(
                row -> DatabaseSession.text(row, 1), "SELECT value FROM kg_setting WHERE space = 0 AND name = ?", name);
    }

    /** Notes the server of the statements, for checks by other processes; null if they are in the tables. */
    public static void server(Database database, @Nullable URI server) {
        if (!server(database).equals(Optional.ofNullable(server))) {
            database.write(session -> server == null
                    ? session.update("DELETE FROM kg_setting WHERE space = 0 AND name = ?", SERVER)
                    : session.update(
                            "INSERT INTO kg_setting (space, name, value) VALUES (0, ?, ?)"
                                    + " ON CONFLICT (space, name) DO UPDATE SET value = excluded.value",
                            SERVER,
                            server.toString()));
        }
    }

    /** The server of the statements of a database; empty if they are in its tables, or there are none. */
    public static Optional<URI> server(Database database) {
        return database.read(
                session -> session.number("SELECT count(*) FROM module_version WHERE module = ?", MODULE) == 0
                        ? Optional.empty()
                        : setting(session, SERVER).map(URI::create));
    }
}

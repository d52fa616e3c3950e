package dev.parley.store.hubs;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.database.Database;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** End of an upgrade of hubs that share a database of PostgreSQL, by a program that joins them for that and hosts no agent. */
public final class UpgradeFinish {
    private UpgradeFinish() {}

    /**
     * Has all hubs write the forms of this release, and changes and removes in the tables what only older releases read.
     *
     * @param url of the database; null for the one that {@code directory} names
     * @param version of this program
     * @param known tables of modules, in the order in which they are made
     * @param waits receives the name of a hub that takes turns with others and works, for whose end this waits
     * @return names of the modules whose tables were changed
     * @throws dev.parley.store.spi.StoreException if a hub of an older release lives, a hub has the database alone, or it cannot be
     *     opened; nothing has changed then
     */
    public static List<String> run(
            @Nullable String url, Path directory, String version, List<ModuleTables> known, Consumer<String> waits) {
        PostgresqlUrl named = url == null ? PostgresqlUrl.in(directory) : new PostgresqlUrl(url);
        if (named == null) {
            throw new NotOpenedException(
                    Reason.SETTING,
                    "no database of PostgreSQL in " + directory
                            + " (expected: its URL; an upgrade on SQLite is finished by the" + " start of the hub)");
        }
        var registration = new Registration(version, List::of, Sharing.AT_ONCE, 0, waits);
        try (Database database = Database.open(named, connection -> connection, registration)) {
            return database.finishUpgrade(known);
        }
    }
}

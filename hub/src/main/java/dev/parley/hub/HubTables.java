package dev.parley.hub;

import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.hub.extensions.HubExtensions;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.memories.JdbcMemories;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.trust.Trust;
import java.util.ArrayList;
import java.util.List;

/** Tables that a hub and its extensions keep in a database, besides those of tasks, which the store makes when it opens one. */
public final class HubTables {
    private HubTables() {}

    /**
     * Returns all tables in the order in which they can be made.
     *
     * @param more extensions that are not on the class path, or replace those of their URIs there
     */
    public static List<ModuleTables> of(DatabaseKind kind, List<HubExtensionSource> more) {
        var all = new ArrayList<>(List.of(
                AuditTrail.tables(kind),
                EncryptionAtRest.TABLES,
                SecretPrints.TABLES,
                JdbcMemories.TABLES,
                Trust.TABLES,
                HubExtensions.TIMER_TABLES));
        HubExtensions.replaced(AdminOperations.INSTALLED, more).forEach(source -> all.addAll(source.tables(kind)));
        return all;
    }
}

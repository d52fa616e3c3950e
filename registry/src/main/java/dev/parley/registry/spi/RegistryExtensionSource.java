package dev.parley.registry.spi;

import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Adds a protocol to the registries of hubs; found by {@link java.util.ServiceLoader}. Stateless: each registry opens an extension of its
 * own. It has the part of a {@link dev.parley.extension.HubExtensionSource} that needs the entries of the registry.
 */
public interface RegistryExtensionSource {
    /**
     * This source with its settings, as {@link dev.parley.extension.HubExtensionSource#configured}. They follow those of the registry.
     *
     * @throws IllegalArgumentException if values do not fit together
     */
    default RegistryExtensionSource configured(SettingReader in) {
        return this;
    }

    /**
     * Whether hubs that share a PostgreSQL database may have the extension at once, as {@link
     * dev.parley.extension.HubExtensionSource#sharesDatabase}. Hubs with one that says no take turns.
     */
    default boolean sharesDatabase() {
        return false;
    }

    /** Names of the operations that {@link RegistryExtension#handlers} answers, for rules of the policy. */
    Set<String> operations();

    /** Static pages of the hub by their paths. */
    default Map<String, HubPage> pages() {
        return Map.of();
    }

    /** All tables that the extension keeps in the database of a hub, in the order in which they are made. */
    default List<ModuleTables> tables(DatabaseKind kind) {
        return List.of();
    }

    /**
     * Opens the extension of a registry, which closes it with itself. It can listen to changes of entries from here on.
     *
     * @param hub parts of the hub that has the registry
     */
    RegistryExtension open(HubParts hub, RegistryEntries entries, InstantSource clock);
}

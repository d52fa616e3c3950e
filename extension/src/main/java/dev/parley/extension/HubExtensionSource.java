package dev.parley.extension;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.store.database.Database;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Adds an extension to hubs; found by {@link java.util.ServiceLoader}, or given to {@code HubBuilder.extension}. Stateless: each hub
 * opens an extension of its own.
 */
public interface HubExtensionSource {
    /** URI of the extension, as {@link dev.parley.protocol.extension.ExtensionProtocol#uri}; agents that use it get it. */
    String uri();

    /**
     * This source with its settings, which are settings of the program and of {@code HubBuilder.set}: flags, environment variables,
     * keys of files and help are derived from the calls.
     *
     * @throws IllegalArgumentException if values do not fit together
     */
    default HubExtensionSource configured(SettingReader in) {
        return this;
    }

    /**
     * Whether several hubs that share a PostgreSQL database may have the extension at once: all that decides something is in the database,
     * and what it keeps in memory is corrected by changes of other hubs. Hubs with an extension that says no take turns.
     */
    default boolean sharesDatabase() {
        return false;
    }

    /** Operations of the administration, as {@link AdminRow#of} makes them. */
    default List<ExtensionMethod<?, ?>> administration() {
        return List.of();
    }

    /** Names of operations without rows, which only protocols at paths of a hub call, for rules of the policy. */
    default Set<String> operations() {
        return Set.of();
    }

    /** Static pages of the hub by their paths. */
    default Map<String, HubPage> pages() {
        return Map.of();
    }

    /**
     * Checks for {@code parley doctor} of requirements outside of a hub, such as a server. They may take some seconds.
     *
     * @param database of a hub, which may be running; for reading
     */
    default List<HubCheck> checks(Database database) {
        return List.of();
    }

    /**
     * Names of agents by paths of the hub at which they answer besides their own addresses, such as those of {@link
     * HubExtension#agents}: {@code /notes} for {@code /agents/notes}. The longest path wins.
     */
    default Map<String, String> paths() {
        return Map.of();
    }

    /** Names of agents of its settings that are elsewhere, such as those that it hosts by {@link HubAgents#host}. */
    default Set<String> agents() {
        return Set.of();
    }

    /** Whether a hub starts without those of these agents whose names other agents have. */
    default boolean isOptional() {
        return false;
    }

    /**
     * Names of agents in a database that a hub on it hosts by {@link HubAgents#host}, besides those of the settings.
     *
     * @param database which may have no tables of the extension
     */
    default Set<String> agents(Database database) {
        return Set.of();
    }

    /**
     * All tables that the extension keeps in the database of a hub, in the order in which they are made, for {@code parley migrate}, which
     * moves them to another database. It refuses a database with tables of modules that no extension names.
     */
    default List<ModuleTables> tables(DatabaseKind kind) {
        return List.of();
    }

    /** Opens the extension of a hub, which closes it with itself. */
    HubExtension open(HubParts hub);
}

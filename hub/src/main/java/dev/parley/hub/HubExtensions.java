package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The extensions of a hub with parts beside their operations. Safe for any thread. */
final class HubExtensions implements AutoCloseable {
    private final Map<String, HubExtension> byUri = new LinkedHashMap<>();
    private final ConcurrentLinkedQueue<Path> scratch = new ConcurrentLinkedQueue<>();

    HubExtensions(List<HubExtensionSource> sources, @Nullable Database database, @Nullable AuditTrail audit) {
        var parts = new HubParts(database, audit, this::scratch);
        sources.forEach(source -> byUri.put(source.uri(), source.open(parts)));
    }

    /** The installed extensions, and those that are given, which replace others of their URI. */
    static List<HubExtensionSource> replaced(List<HubExtensionSource> installed, List<HubExtensionSource> given) {
        var sources = new LinkedHashMap<String, HubExtensionSource>();
        installed.forEach(source -> sources.put(source.uri(), source));
        given.forEach(source -> sources.put(source.uri(), source));
        return List.copyOf(sources.values());
    }

    private Path scratch() {
        Path directory = TemporaryDirectory.create();
        scratch.add(directory);
        return directory;
    }

    void forEach(BiConsumer<String, HubExtension> action) {
        byUri.forEach(action);
    }

    List<HubExtension> all() {
        return List.copyOf(byUri.values());
    }

    /** The extensions that an agent uses. */
    List<HubExtension> usedBy(Agent agent) {
        return agent.uses().stream().filter(byUri::containsKey).map(byUri::get).toList();
    }

    /** URIs of the extensions that an agent uses and the hub does not have. */
    List<String> missing(Agent agent) {
        return agent.uses().stream().filter(uri -> !byUri.containsKey(uri)).toList();
    }

    @Override
    public void close() {
        byUri.values().forEach(HubExtension::close);
        for (Path directory = scratch.poll(); directory != null; directory = scratch.poll()) {
            TemporaryDirectory.remove(directory);
        }
    }
}

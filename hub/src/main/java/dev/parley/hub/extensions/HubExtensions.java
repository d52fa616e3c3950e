package dev.parley.hub.extensions;

import dev.parley.engine.Agent;
import dev.parley.engine.spi.TaskLog;
import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.HubAgents;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTasks;
import dev.parley.extension.HubTimers;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.trust.cards.CardKeys;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The extensions of a hub with parts beside their operations. Safe for any thread. */
public final class HubExtensions implements AutoCloseable {
    private final Map<String, HubExtension> byUri = new LinkedHashMap<>();
    private final ConcurrentLinkedQueue<Path> scratch = new ConcurrentLinkedQueue<>();

    private final Parts parts;
    private final DurableTimers timers;
    private volatile @Nullable Database temporary;

    /**
     * Parts that each hub has.
     *
     * @param keys that sign the cards of the hub; null if it signs none
     */
    public record Shared(
            boolean isKept,
            ExtensionMetrics metrics,
            HubAgents agents,
            TaskLog log,
            @Nullable CardKeys keys) {}

    /**
     * Opens extensions.
     *
     * @param database null if the hub has none
     * @param audit of that database
     */
    public HubExtensions(
            List<HubExtensionSource> sources, Shared shared, @Nullable Database database, @Nullable AuditTrail audit) {
        this.parts = new Parts(shared, database, audit);
        this.timers = new DurableTimers(parts::database, InstantSource.system());
        sources.forEach(source -> byUri.put(source.uri(), source.open(parts)));
    }

    /** The parts. A database is made when an extension of a hub without one needs it. */
    private final class Parts implements HubParts {
        private final Shared shared;
        private @Nullable Database database;
        private @Nullable AuditTrail audit;

        Parts(Shared shared, @Nullable Database database, @Nullable AuditTrail audit) {
            this.shared = shared;
            this.database = database;
            this.audit = audit;
        }

        @Override
        public boolean isKept() {
            return shared.isKept();
        }

        @Override
        public synchronized Database database() {
            if (database == null) {
                database = Database.open(scratch());
                temporary = database;
            }
            return database;
        }

        @Override
        public synchronized AuditTrail audit() {
            if (audit == null) {
                audit = AuditTrail.in(database(), InstantSource.system());
            }
            return audit;
        }

        @Override
        public HubAgents agents() {
            return shared.agents();
        }

        @Override
        public HubTasks tasks() {
            return new Tasks(shared.log());
        }

        @Override
        public HubSignatures signatures() {
            return new Signatures(Optional.ofNullable(shared.keys()));
        }

        @Override
        public HubTimers timers() {
            return timers;
        }

        @Override
        public ExtensionMetrics metrics() {
            return shared.metrics();
        }

        @Override
        public Path scratch() {
            return HubExtensions.this.scratch();
        }
    }

    /** Has the timers of the extensions become due. */
    public void start() {
        timers.start();
    }

    /** Calls no handlers of timers any more. Idempotent. */
    public void stop() {
        timers.close();
    }

    /** The installed extensions, and those that are given, which replace others of their URI. */
    public static List<HubExtensionSource> replaced(
            List<HubExtensionSource> installed, List<HubExtensionSource> given) {
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

    public void forEach(BiConsumer<String, HubExtension> action) {
        byUri.forEach(action);
    }

    public List<HubExtension> all() {
        return List.copyOf(byUri.values());
    }

    /** Agents of the extensions. */
    public List<Agent> agents() {
        return byUri.values().stream()
                .flatMap(extension -> extension.agents().stream())
                .toList();
    }

    /** The extensions that an agent uses, and those of all agents. */
    public List<HubExtension> usedBy(Agent agent) {
        return byUri.entrySet().stream()
                .filter(each -> each.getValue().isForAll() || agent.uses().contains(each.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** URIs of the extensions that an agent uses and the hub does not have. */
    public List<String> missing(Agent agent) {
        return agent.uses().stream().filter(uri -> !byUri.containsKey(uri)).toList();
    }

    @Override
    public void close() {
        stop();
        byUri.values().forEach(HubExtension::close);
        Database made = temporary;
        if (made != null) {
            made.close();
        }
        for (Path directory = scratch.poll(); directory != null; directory = scratch.poll()) {
            TemporaryDirectory.remove(directory);
        }
    }
}

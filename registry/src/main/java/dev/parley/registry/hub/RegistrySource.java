package dev.parley.registry.hub;

import dev.parley.extension.HubCheck;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.protocol.settings.SettingType;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.faces.FaceOperations;
import dev.parley.registry.federation.PeerOperation;
import dev.parley.registry.federation.PeerOperations;
import dev.parley.registry.health.Prober;
import dev.parley.registry.search.Search;
import dev.parley.registry.spi.RegistryExtensionSource;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.LookAlikes;
import dev.parley.registry.trust.Revocations;
import dev.parley.registry.trust.TrustOperation;
import dev.parley.store.database.Database;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Adds a registry of agents to hubs. */
public final class RegistrySource implements HubExtensionSource {
    /**
     * Settings.
     *
     * @param publisher domain in the URNs of entries; null for one that the hub chooses and keeps
     * @param domains further domains as {@code GROUP=DOMAIN}
     * @param fetchAllow hosts with private addresses from which cards may be fetched
     * @param trusted keys that verify documents
     * @param probes interval of health probes
     */
    record Settings(
            @Nullable String publisher,
            List<String> domains,
            List<String> fetchAllow,
            List<Path> trusted,
            Duration probes) {
        static Settings read(SettingReader in) {
            return new Settings(
                    in.find(
                            SettingType.TEXT,
                            "registry-publisher",
                            "DOMAIN",
                            "Domain of this hub in the URNs of its registry. Default: a name below agent.localhost that the hub"
                                    + " keeps."),
                    in.list(
                            "registry-domains",
                            "GROUP=DOMAIN[,GROUP=DOMAIN]",
                            "Further domains, below which members of a group may register agents; repeatable.",
                            Trait.REPEATABLE),
                    in.list(
                            "fetch-allow",
                            "HOST[,HOST]",
                            "Hosts, addresses and ranges (10.1.0.0/16) with private addresses from which the registry may fetch"
                                    + " cards; repeatable. A hub on loopback without authentication and public URL may fetch from loopback.",
                            Trait.REPEATABLE),
                    in
                            .list(
                                    "registry-trust",
                                    "FILE[,FILE]",
                                    "Keys that verify the signatures of registered documents, besides those of the hub;"
                                            + " repeatable.",
                                    Trait.REPEATABLE)
                            .stream()
                            .map(Path::of)
                            .toList(),
                    in.get(
                            SettingType.DURATION,
                            "registry-probes",
                            "5m",
                            "TIME",
                            "Interval of health probes of registered agents; 0s for none."));
        }
    }

    private static final List<RegistryExtensionSource> INSTALLED =
            ServiceLoader.load(RegistryExtensionSource.class, RegistryExtensionSource.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private final Settings settings;
    private final List<RegistryExtensionSource> extensions;
    private final InstantSource clock;

    /** For the service loader. */
    public RegistrySource() {
        this(InstantSource.system());
    }

    RegistrySource(InstantSource clock) {
        this(Settings.read(SettingReader.DEFAULTS), INSTALLED, clock);
    }

    /** @param extensions of the registry, in place of {@linkplain #installed those on the class path} */
    public RegistrySource(List<RegistryExtensionSource> extensions) {
        this(Settings.read(SettingReader.DEFAULTS), List.copyOf(extensions), InstantSource.system());
    }

    private RegistrySource(Settings settings, List<RegistryExtensionSource> extensions, InstantSource clock) {
        this.settings = settings;
        this.extensions = extensions;
        this.clock = clock;
    }

    /** Extensions on the class path. */
    public static List<RegistryExtensionSource> installed() {
        return INSTALLED;
    }

    @Override
    public boolean sharesDatabase() {
        return extensions.stream().allMatch(RegistryExtensionSource::sharesDatabase);
    }

    @Override
    public String uri() {
        return RegistryProtocol.PROTOCOL.uri();
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        Settings read = Settings.read(in);
        return new RegistrySource(
                read,
                extensions.stream().map(extension -> extension.configured(in)).toList(),
                clock);
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return Stream.of(TrustOperation.ROWS, PeerOperation.ROWS, PersonalOperation.ROWS)
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public List<HubCheck> checks(Database database) {
        return Stream.concat(
                        LookAlikes.pairs(database).stream().map(pair -> new HubCheck("registry", true, true, pair)),
                        Entries.damaged(database).stream().map(entry -> new HubCheck("registry", false, entry)))
                .toList();
    }

    @Override
    public Set<String> operations() {
        return extensions.stream()
                .flatMap(extension -> extension.operations().stream())
                .collect(Collectors.toSet());
    }

    @Override
    public Map<String, HubPage> pages() {
        var pages = new LinkedHashMap<String, HubPage>();
        extensions.forEach(extension -> pages.putAll(extension.pages()));
        return pages;
    }

    @Override
    public Map<String, String> paths() {
        return Map.of("/" + RegistryProtocol.AGENT, RegistryProtocol.AGENT);
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        var all = new ArrayList<>(Entries.tables(kind));
        all.addAll(Search.tables(kind));
        extensions.forEach(extension -> all.addAll(extension.tables(kind)));
        all.addAll(List.of(Prober.TABLES, Revocations.TABLES, FaceOperations.TABLES, PeerOperations.TABLES));
        return all;
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new RegistryHub(hub, settings, extensions, clock);
    }
}

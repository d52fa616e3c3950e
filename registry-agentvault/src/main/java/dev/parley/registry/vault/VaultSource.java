package dev.parley.registry.vault;

import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.protocol.settings.SettingType;
import dev.parley.registry.spi.RegistryEntries;
import dev.parley.registry.spi.RegistryExtension;
import dev.parley.registry.spi.RegistryExtensionSource;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Adds the registry of AgentVault to registries of hubs. */
public final class VaultSource implements RegistryExtensionSource {
    private final @Nullable String mail;

    /** For the service loader. */
    public VaultSource() {
        this(null);
    }

    /** @param mail delivery of mails to accounts, as of {@link Mail#of}; null for none */
    private VaultSource(@Nullable String mail) {
        this.mail = mail;
    }

    @Override
    public RegistryExtensionSource configured(SettingReader in) {
        return new VaultSource(in.find(
                SettingType.TEXT,
                "registry-mail",
                "URL",
                "Delivery of mails to accounts of the registry: smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS, smtps://…,"
                        + " a directory for files, or log. Default: none.",
                Trait.SECRET));
    }

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public Set<String> operations() {
        return VaultRoute.ALL.stream().map(VaultRoute::name).collect(Collectors.toSet());
    }

    @Override
    public Map<String, HubPage> pages() {
        return AccountPages.all();
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(VaultAccounts.tables(kind), VaultCards.TABLES);
    }

    @Override
    public RegistryExtension open(HubParts hub, RegistryEntries entries, InstantSource clock) {
        return new AgentVault(hub, entries, mail, clock);
    }
}

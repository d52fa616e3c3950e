/** The registry of AgentVault as an extension of a registry. */
module dev.parley.registry.agentvault {
    requires static transitive org.jspecify;
    requires transitive dev.parley.registry.hub;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.extension;
    requires dev.parley.protocol;
    requires dev.parley.registry;
    requires dev.parley.store;
    requires dev.parley.trust;
    requires com.nimbusds.jose.jwt;
    requires jakarta.mail;
    requires java.sql;
    requires org.bouncycastle.provider;

    exports dev.parley.registry.vault;

    provides dev.parley.registry.spi.RegistryExtensionSource with
            dev.parley.registry.vault.VaultSource;
}

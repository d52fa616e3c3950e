package dev.parley.spring.test;

import dev.parley.protocol.settings.EffectiveSetting;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.spring.PropertySettings;
import java.util.Set;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.test.context.support.TestPropertySourceUtils;

/** Settings of the hub of a test: those of the application, except for its deployment, which only the test itself sets. */
final class TestSettings implements SettingReader {
    /** Settings of addresses, storage and authentication. */
    static final Set<String> OF_DEPLOYMENT = Set.of(
            "port",
            "bind",
            "public-url",
            "behind-proxy",
            "trusted-proxy",
            "tls-cert",
            "tls-key",
            "tls-client-ca",
            "admin-port",
            "admin-bind",
            "in-memory",
            "data",
            "database",
            "cluster",
            "group-quota",
            "encryption-key",
            "encryption-key-file",
            "secrets",
            "encrypt-tasks",
            "auth",
            "auth-scopes",
            "agent-auth",
            "agent-auth-scopes",
            "callers",
            "issuer",
            "audience",
            "oauth-flow",
            "group-claim",
            "openid-client",
            "policy",
            "protect-cards",
            "card-addresses");

    private final SettingReader properties;
    private final @Nullable ConfigurationPropertySource test;

    TestSettings(ConfigurableEnvironment environment) {
        this.properties = new PropertySettings(environment);
        PropertySource<?> inlined =
                environment.getPropertySources().get(TestPropertySourceUtils.INLINED_PROPERTIES_PROPERTY_SOURCE_NAME);
        this.test = inlined == null ? null : ConfigurationPropertySource.from(inlined);
    }

    @Override
    public <T> @Nullable T read(SettingSpec<T> setting) {
        return applies(setting.name()) ? properties.read(setting) : setting.defaultValue();
    }

    @Override
    public EffectiveSetting effective(SettingSpec<?> setting) {
        return applies(setting.name()) ? properties.effective(setting) : SettingReader.super.effective(setting);
    }

    @Override
    public void requireKnown(SortedSet<String> names) {
        properties.requireKnown(names);
    }

    private boolean applies(String name) {
        if (!OF_DEPLOYMENT.contains(name)) {
            return true;
        }
        ConfigurationPropertyName property = ConfigurationPropertyName.of("parley." + name);
        return test != null
                && (test.getConfigurationProperty(property) != null
                        || test.containsDescendantOf(property) == ConfigurationPropertyState.PRESENT);
    }
}

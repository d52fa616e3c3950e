package dev.parley.spring.test;

import dev.parley.protocol.settings.EffectiveSetting;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.spring.PropertySettings;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.core.env.ConfigurableEnvironment;
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

    /** Property sources that a test adds: its properties, and those of its methods with {@code @DynamicPropertySource}. */
    private static final List<String> OF_TEST =
            List.of(TestPropertySourceUtils.INLINED_PROPERTIES_PROPERTY_SOURCE_NAME, "Dynamic Test Properties");

    private final SettingReader properties;
    private final List<ConfigurationPropertySource> test;

    TestSettings(ConfigurableEnvironment environment) {
        this.properties = new PropertySettings(environment);
        this.test = OF_TEST.stream()
                .map(environment.getPropertySources()::get)
                .map(source -> source == null ? null : ConfigurationPropertySource.from(source))
                .filter(Objects::nonNull)
                .toList();
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
        return test.stream()
                .anyMatch(source -> source.getConfigurationProperty(property) != null
                        || source.containsDescendantOf(property) == ConfigurationPropertyState.PRESENT);
    }
}

package dev.parley.spring.test;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.hub.HubSettings;
import dev.parley.protocol.settings.EffectiveSetting.Source;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.test.context.support.TestPropertySourceUtils;

/** Settings of the application, and of a test above them. */
final class TestSettingsTest {
    private final StandardEnvironment environment = new StandardEnvironment();

    private HubSettings read() {
        return HubSettings.read(new TestSettings(environment));
    }

    @Test
    void settingsOfTheDeploymentAreThoseOfTheTestOnly() {
        environment
                .getPropertySources()
                .addLast(new MapPropertySource(
                        "application",
                        Map.of(
                                "parley.port", "80",
                                "parley.tls-cert", "server.pem",
                                "parley.trusted-proxy[0]", "10.0.0.1",
                                "parley.max-body", "1KB")));
        assertThat(read().server().port()).isEqualTo(7420);
        assertThat(read().server().maxBodyBytes()).isEqualTo(1024);

        TestPropertySourceUtils.addInlinedPropertiesToEnvironment(
                environment, "parley.port=90", "parley.groupQuota[0]=1GB");

        assertThat(read().server().port()).isEqualTo(90);
        assertThat(new TestSettings(environment).effective(spec("group-quota")).value())
                .isEqualTo("1GB");
        assertThat(new TestSettings(environment).effective(spec("tls-cert")).source())
                .isEqualTo(Source.DEFAULT);
    }

    @Test
    void aMisspeltPropertyIsRefused() {
        TestPropertySourceUtils.addInlinedPropertiesToEnvironment(environment, "parley.retentoin=1d");

        assertThatThrownBy(() -> new TestSettings(environment).requireKnown(names()))
                .hasMessageContaining("parley.retentoin: unknown")
                .hasMessageEndingWith("(nearest: parley.retention)");
    }

    @Test
    void allSettingsOfTheDeploymentExist() {
        assertThat(names()).containsAll(TestSettings.OF_DEPLOYMENT);
    }

    private static SortedSet<String> names() {
        return new TreeSet<>(specs().keySet());
    }

    private static SettingSpec<?> spec(String name) {
        return requireNonNull(specs().get(name), name);
    }

    private static Map<String, SettingSpec<?>> specs() {
        var specs = new HashMap<String, SettingSpec<?>>();
        var unused = HubSettings.read(new SettingReader() {
            @Override
            public <T> @Nullable T read(SettingSpec<T> setting) {
                specs.put(setting.name(), setting);
                return setting.defaultValue();
            }
        });
        return specs;
    }
}

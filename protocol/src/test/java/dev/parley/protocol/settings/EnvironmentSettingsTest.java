package dev.parley.protocol.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class EnvironmentSettingsTest {
    private static final SettingReader DEFAULTS = SettingReader.DEFAULTS;

    @Test
    void aVariableIsTheNameInCapitals() {
        SettingReader in = SettingReader.environment(Map.of("PARLEY_MAX_CALLS", "7", "max-calls", "8"), DEFAULTS);

        assertThat(in.get(SettingType.COUNT, "max-calls", "100", "N", "Limit of calls."))
                .isEqualTo(7);
        assertThat(in.get(SettingType.COUNT, "max-tasks", "100", "N", "Limit of tasks."))
                .isEqualTo(100);
        var spec = new SettingSpec<>("max-calls", SettingType.COUNT, "100", "N", "Limit of calls.", Set.of());
        assertThat(in.effective(spec))
                .isEqualTo(new EffectiveSetting("7", EffectiveSetting.Source.ENVIRONMENT, "PARLEY_MAX_CALLS"));
    }

    @Test
    void anAddressThatKubernetesSetsForAServiceIsNotASetting() {
        String address = "tcp://10.96.0.7:7420";
        SettingReader in = SettingReader.environment(
                Map.of("PARLEY_PORT", address, "PARLEY_ADMIN_PORT", address, "PARLEY_MAX_CALLS", address), DEFAULTS);

        assertThat(in.get(SettingType.COUNT, "port", "7420", "N", "Port.")).isEqualTo(7420);
        assertThat(in.get(SettingType.COUNT, "admin-port", "7421", "N", "Port of operators."))
                .isEqualTo(7421);
        assertThatThrownBy(() -> in.get(SettingType.COUNT, "max-calls", "100", "N", "Limit of calls."))
                .hasMessageStartingWith("PARLEY_MAX_CALLS: tcp://");
    }

    @Test
    void anEmptyVariableIsNotSetAndTextsAreAboveVariables() {
        SettingReader empty = SettingReader.environment(Map.of("PARLEY_MAX_CALLS", ""), DEFAULTS);
        SettingReader set = SettingReader.of(
                Map.of("max-calls", "5"), SettingReader.environment(Map.of("PARLEY_MAX_CALLS", "7"), DEFAULTS));

        assertThat(empty.get(SettingType.COUNT, "max-calls", "100", "N", "Limit of calls."))
                .isEqualTo(100);
        assertThat(set.get(SettingType.COUNT, "max-calls", "100", "N", "Limit of calls."))
                .isEqualTo(5);
    }

    @Test
    void aBadValueIsNamedByItsVariableAndASecretIsNotShown() {
        SettingReader in =
                SettingReader.environment(Map.of("PARLEY_MAX_CALLS", "many", "PARLEY_CODE", "hunter2"), DEFAULTS);

        assertThatThrownBy(() -> in.get(SettingType.COUNT, "max-calls", "100", "N", "Limit of calls."))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("PARLEY_MAX_CALLS: many (expected: ");
        assertThatThrownBy(
                        () -> in.get(SettingType.COUNT, "code", "1", "N", "Secret number.", SettingSpec.Trait.SECRET))
                .hasMessageStartingWith("PARLEY_CODE: its value (expected: ")
                .hasNoCause()
                .hasMessageNotContaining("hunter2");
    }
}

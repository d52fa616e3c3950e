package dev.parley.protocol.settings;

import dev.parley.protocol.support.Nearest;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Settings of a hub given as environment variables, above another source. An empty variable is not set, nor is the address of a service. */
final class EnvironmentSettings implements SettingReader {
    private static final System.Logger LOG = System.getLogger("dev.parley.settings");
    private static final String PREFIX = "PARLEY_";

    private final Map<String, String> variables;
    private final SettingReader others;

    EnvironmentSettings(Map<String, String> variables, SettingReader others) {
        this.variables = Map.copyOf(variables);
        this.others = others;
    }

    /** @throws IllegalArgumentException if the variable is not a value of the setting */
    @Override
    public <T> @Nullable T read(SettingSpec<T> setting) {
        String text = text(setting);
        return text == null ? others.read(setting) : setting.parse(text, setting.variable(PREFIX));
    }

    private @Nullable String text(SettingSpec<?> setting) {
        String variable = setting.variable(PREFIX);
        String text = variables.get(variable);
        return text == null || text.isEmpty() || SettingSpec.isAddressOfService(variable, text) ? null : text;
    }

    @Override
    public EffectiveSetting effective(SettingSpec<?> setting) {
        String text = text(setting);
        return text == null
                ? others.effective(setting)
                : new EffectiveSetting(text, EffectiveSetting.Source.ENVIRONMENT, setting.variable(PREFIX));
    }

    /** Warns of variables that may be misspelt settings. Other variables are for others: secrets, and programs beside this one. */
    @Override
    public void requireKnown(SortedSet<String> names) {
        var known = new TreeSet<String>();
        names.forEach(name -> known.add(SettingSpec.variable("", name)));
        for (String variable : new TreeSet<>(variables.keySet())) {
            if (variable.startsWith(PREFIX)) {
                Nearest.misspelt(variable.substring(PREFIX.length()), known)
                        .ifPresent(near -> LOG.log(
                                Level.WARNING,
                                "environment variable {0}: ignored, for it is not a setting of a hub (nearest: {1})",
                                variable,
                                PREFIX + near));
            }
        }
        others.requireKnown(names);
    }
}

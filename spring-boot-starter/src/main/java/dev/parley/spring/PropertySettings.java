package dev.parley.spring;

import dev.parley.protocol.settings.EffectiveSetting;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingSpec.Trait;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Settings of a hub as properties {@code parley.NAME} of an application, in all spellings that Spring Boot takes. Safe for any thread. */
public final class PropertySettings implements SettingReader {
    private static final String PREFIX = "parley.";

    private final Environment environment;
    private final Binder binder;

    public PropertySettings(Environment environment) {
        this.environment = environment;
        this.binder = Binder.get(environment);
    }

    /** @throws IllegalArgumentException if the property is not a value of the setting */
    @Override
    public <T> @Nullable T read(SettingSpec<T> setting) {
        String text = text(setting.name());
        if (text == null) {
            return setting.defaultValue();
        }
        try {
            return setting.type().parser().apply(text);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            String shown = setting.traits().contains(Trait.SECRET) ? "its value" : text;
            throw new IllegalArgumentException(
                    PREFIX + setting.name() + ": " + shown + " (expected: "
                            + setting.type().expected() + ")",
                    wrong);
        }
    }

    @Override
    public EffectiveSetting effective(SettingSpec<?> setting) {
        String text = text(setting.name());
        return text == null
                ? new EffectiveSetting(setting.fallback(), EffectiveSetting.Source.DEFAULT, null)
                : new EffectiveSetting(text, EffectiveSetting.Source.FILE, PREFIX + setting.name());
    }

    @Override
    public void requireKnown(SortedSet<String> names) {
        PropertyNames.requireKnown(environment, names);
    }

    /** A list of YAML has an index in the names of its elements. */
    private @Nullable String text(String name) {
        String text = binder.bind(PREFIX + name, Bindable.of(String.class)).orElse(null);
        if (text != null) {
            return text;
        }
        List<String> elements =
                binder.bind(PREFIX + name, Bindable.listOf(String.class)).orElse(null);
        return elements == null ? null : String.join(",", elements);
    }
}

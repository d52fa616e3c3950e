package dev.parley.hub.admin;

import dev.parley.hub.admin.SettingOperation.SettingView;
import dev.parley.protocol.settings.EffectiveSetting;
import dev.parley.protocol.settings.EffectiveSetting.Source;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingSpec.Trait;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads settings from another source, and remembers which, for operators. Confined to one thread. */
public final class ReadSettings implements SettingReader {
    /** Credentials in an address, such as that of a proxy or a collector: its user, and the values of its query. */
    private static final Pattern CREDENTIALS =
            Pattern.compile("(?<=://)[^/?#\\s]*(?=@)|(?<=[?&][^=&#?\\s]{1,64}=)[^&#\\s]+");

    private final SettingReader source;
    private final Map<String, SettingSpec<?>> read = new LinkedHashMap<>();

    public ReadSettings(SettingReader source) {
        this.source = source;
    }

    @Override
    public <T> @Nullable T read(SettingSpec<T> setting) {
        read.put(setting.name(), setting);
        return source.read(setting);
    }

    @Override
    public EffectiveSetting effective(SettingSpec<?> setting) {
        return source.effective(setting);
    }

    /** @throws IllegalArgumentException if the source has a value of a setting that was not read */
    public void requireAllRead() {
        source.requireKnown(new TreeSet<>(read.keySet()));
    }

    /**
     * The settings that were read, with their values and sources; of secrets only whether they are set.
     *
     * @param objects names of settings that the program gave as objects, which have no text
     */
    public List<SettingView> shown(Set<String> objects) {
        return read.values().stream()
                .map(setting -> shown(setting, objects.contains(setting.name())))
                .toList();
    }

    private SettingView shown(SettingSpec<?> setting, boolean isObject) {
        EffectiveSetting effective = source.effective(setting);
        if (isObject && effective.source() == Source.DEFAULT) {
            effective = new EffectiveSetting("(an object of the program)", Source.CODE, null);
        }
        String value = effective.value();
        boolean isSecret = setting.traits().contains(Trait.SECRET);
        return new SettingView(
                setting.name(),
                setting.type().expected(),
                setting.description(),
                effective.source(),
                isSecret,
                value != null && !value.isEmpty(),
                isSecret || value == null || value.isEmpty()
                        ? null
                        : CREDENTIALS.matcher(value).replaceAll("…"),
                effective.origin());
    }
}

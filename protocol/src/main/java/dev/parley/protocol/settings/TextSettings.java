package dev.parley.protocol.settings;

import dev.parley.protocol.support.Nearest;
import java.util.Map;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/** Settings given as texts by name, above another source. */
final class TextSettings implements SettingReader {
    private final Map<String, String> texts;
    private final SettingReader others;

    TextSettings(Map<String, String> texts, SettingReader others) {
        this.texts = Map.copyOf(texts);
        this.others = others;
    }

    /** @throws IllegalArgumentException if the text is not a value of the setting */
    @Override
    public <T> @Nullable T read(SettingSpec<T> setting) {
        String text = texts.get(setting.name());
        return text == null ? others.read(setting) : setting.parse(text, setting.name());
    }

    @Override
    public EffectiveSetting effective(SettingSpec<?> setting) {
        String text = texts.get(setting.name());
        return text == null
                ? others.effective(setting)
                : new EffectiveSetting(text, EffectiveSetting.Source.CODE, null);
    }

    @Override
    public void requireKnown(SortedSet<String> names) {
        for (String name : texts.keySet()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException(
                        "setting \"" + name + "\": unknown (nearest: " + Nearest.to(name, names) + ")");
            }
        }
        others.requireKnown(names);
    }
}

package dev.parley.protocol.settings;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.settings.SettingSpec.Trait;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * Source of the values of settings. A record of settings has a factory method that reads its components, and so states the name,
 * default, unit and description of each exactly once:
 *
 * <pre>{@code
 * record Limits(int calls, Duration pause) {
 *     static Limits read(SettingReader in) {
 *         return new Limits(
 *                 in.get(COUNT, "max-calls", "100", "N", "Limit of calls at a time."),
 *                 in.get(DURATION, "pause", "2s", "DURATION", "Time between calls."));
 *     }
 * }
 * }</pre>
 *
 * Flags, environment variables, keys of files, help and tables of settings are made by a reader that collects its calls.
 */
public interface SettingReader {
    /** Reads the built-in defaults. */
    SettingReader DEFAULTS = new SettingReader() {
        @Override
        public <T> @Nullable T read(SettingSpec<T> setting) {
            return setting.defaultValue();
        }
    };

    /**
     * Returns the value of {@code setting}: its default if it is not set, null if it has none.
     *
     * @throws RuntimeException if its text is not such a value
     */
    <T> @Nullable T read(SettingSpec<T> setting);

    /** Returns the text of {@code setting} and its source, here the built-in default. */
    default EffectiveSetting effective(SettingSpec<?> setting) {
        return new EffectiveSetting(setting.fallback(), EffectiveSetting.Source.DEFAULT, null);
    }

    /** @throws IllegalArgumentException if this source can list its values, and has one of a setting beyond {@code names}, which are all */
    default void requireKnown(SortedSet<String> names) {}

    /** Reads a setting that has a default. */
    default <T> T get(
            SettingType<T> type, String name, String fallback, String label, String description, Trait... traits) {
        return requireNonNull(read(new SettingSpec<>(name, type, fallback, label, description, Set.of(traits))), name);
    }

    /** Reads a setting without a default; null if it is not set. */
    default <T> @Nullable T find(SettingType<T> type, String name, String label, String description, Trait... traits) {
        return read(new SettingSpec<>(name, type, null, label, description, Set.of(traits)));
    }

    /** Reads a list, which is empty if it is not set. */
    default List<String> list(String name, String label, String description, Trait... traits) {
        return list(SettingType.LIST, name, label, description, traits);
    }

    /** Reads a list of other elements, which is empty if it is not set. */
    default <E> List<E> list(
            SettingType<List<E>> type, String name, String label, String description, Trait... traits) {
        List<E> list = find(type, name, label, description, traits);
        return list == null ? List.of() : list;
    }

    /** Reads a switch, which is off by default. */
    default boolean flag(String name, String description) {
        return get(SettingType.FLAG, name, "false", "", description);
    }

    /** Returns a reader of these texts by name; settings that are not among them are read from {@code others}. */
    static SettingReader of(Map<String, String> texts, SettingReader others) {
        return new TextSettings(texts, others);
    }

    /**
     * Returns a reader of the settings of a hub that environment variables have, such as {@code PARLEY_PUBLIC_URL} for {@code public-url};
     * other settings are read from {@code others}. An empty variable is not set, nor is that of a port with the address of a service, which
     * Kubernetes sets for services of that name. {@link #requireKnown} logs a warning of each variable that may be a misspelt one.
     */
    static SettingReader environment(Map<String, String> variables, SettingReader others) {
        return new EnvironmentSettings(variables, others);
    }
}

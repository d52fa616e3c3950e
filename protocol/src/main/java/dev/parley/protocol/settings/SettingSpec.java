package dev.parley.protocol.settings;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Name, type, default and description of a setting.
 *
 * @param <T> type of the value
 * @param name flag without its dashes, key in a file of settings, and in capitals the end of an environment variable
 * @param fallback built-in default as text; null if there is none
 * @param label placeholder of the value in help; empty for switches
 */
public record SettingSpec<T>(
        String name,
        SettingType<T> type,
        @Nullable String fallback,
        String label,
        String description,
        Set<Trait> traits) {

    /** Traits of a setting. */
    public enum Trait {
        /** Never shown. */
        SECRET,
        /** The flag may be given several times. */
        REPEATABLE,
        /** Names a file of settings, so it cannot stand in one. */
        NOT_IN_FILES
    }

    public SettingSpec {
        traits = Set.copyOf(traits);
    }

    /** Returns the same setting with another default. */
    public SettingSpec<T> withFallback(String text) {
        return new SettingSpec<>(name, type, text, label, description, traits);
    }

    /** The environment variable of this setting, such as {@code PARLEY_PUBLIC_URL} for {@code public-url}. */
    public String variable(String prefix) {
        return variable(prefix, name);
    }

    /**
     * Whether a variable has the address of a service, which Kubernetes gives to containers as {@code PARLEY_PORT} for a service with the
     * name "parley". Such a variable is no setting.
     */
    public static boolean isAddressOfService(String variable, String text) {
        return variable.endsWith("_PORT") && text.startsWith("tcp://");
    }

    static String variable(String prefix, String name) {
        return prefix + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    /**
     * Returns the value of a text.
     *
     * @param shown what errors call the setting
     * @throws IllegalArgumentException if the text is not a value of the setting
     */
    T parse(String text, String shown) {
        try {
            return type.parser().apply(text);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            String end = " (expected: " + type.expected() + ")";
            throw traits.contains(Trait.SECRET) // whose text is that of the cause, too
                    ? new IllegalArgumentException(shown + ": its value" + end)
                    : new IllegalArgumentException(shown + ": " + text + end, wrong);
        }
    }

    /** The built-in default; null if there is none. */
    public @Nullable T defaultValue() {
        return fallback == null ? null : type.parser().apply(fallback);
    }
}

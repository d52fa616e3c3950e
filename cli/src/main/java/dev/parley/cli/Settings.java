package dev.parley.cli;

import static java.util.Objects.requireNonNull;

import dev.parley.cli.Setting.Scope;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Values of the settings, with their sources.
 *
 * <p>Highest first: flag, environment, local file, global file, built-in default. Values are read when asked for, so a
 * broken setting hurts only the commands that need it.
 *
 * <p>Source: a2a-cli specification 0.2, sections 6.5 and 8.3.
 */
final class Settings {

    /** Source of a value, lowest precedence first. */
    enum Source {
        DEFAULT("built-in default"),
        GLOBAL_FILE("global file"),
        LOCAL_FILE("local file"),
        ENVIRONMENT("environment variable"),
        FLAG("flag");

        private final String words;

        Source(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    /** One value as text; several texts where a flag was repeated. {@code origin}: the variable or the file. */
    record Given(
            List<String> texts, Source source, @Nullable String origin) {}

    /** The flags of the command line, by setting; a setting that was not given is missing. */
    interface Flags {
        List<String> texts(Setting<?> setting);
    }

    private final Flags flags;
    private final Map<String, String> environment;
    private final @Nullable DotEnv localFile;
    private final @Nullable DotEnv globalFile;
    private final @Nullable HubFile hubFile;

    private Settings(
            Flags flags,
            Map<String, String> environment,
            @Nullable DotEnv localFile,
            @Nullable DotEnv globalFile,
            @Nullable HubFile hubFile) {
        this.flags = flags;
        this.environment = environment;
        this.localFile = localFile;
        this.globalFile = globalFile;
        this.hubFile = hubFile;
    }

    /** Reads the files that count for a client command. */
    static Settings ofClient(Surroundings around, Flags flags) {
        return new Settings(flags, around.environment(), localFile(around, flags), globalFile(around), null);
    }

    /** Reads the files that count for {@code up}: the dotenv ones too, for {@code --verbose} and {@code --debug}. */
    static Settings ofHub(Surroundings around, Flags flags) {
        var bare = new Settings(flags, around.environment(), null, null, null);
        Path file = bare.get(Setting.HUB_CONFIG);
        HubFile hubFile = file == null ? null : HubFile.read(around.path(file));
        return new Settings(flags, around.environment(), null, null, hubFile);
    }

    /** Reads every file, to show all settings. A {@code --config} in YAML is the hub's, any other the client's. */
    static Settings ofBoth(Surroundings around, Flags flags) {
        boolean yaml = flags.texts(Setting.CONFIG).stream().anyMatch(name -> name.matches("(?i).*\\.ya?ml"));
        Flags none = setting -> List.of();
        Settings client = ofClient(around, yaml ? setting -> without(Setting.CONFIG, setting, flags) : flags);
        Settings hub = ofHub(
                around, yaml ? setting -> flags.texts(setting == Setting.HUB_CONFIG ? Setting.CONFIG : setting) : none);
        Flags shown = setting -> {
            if (setting == Setting.CONFIG || setting == Setting.HUB_CONFIG) {
                return yaml == (setting == Setting.HUB_CONFIG) ? flags.texts(Setting.CONFIG) : List.of();
            }
            return flags.texts(setting);
        };
        return new Settings(shown, around.environment(), client.localFile, client.globalFile, hub.hubFile);
    }

    private static List<String> without(Setting<?> left, Setting<?> setting, Flags flags) {
        return setting == left ? List.of() : flags.texts(setting);
    }

    private static @Nullable DotEnv localFile(Surroundings around, Flags flags) {
        Path named = new Settings(flags, around.environment(), null, null, null).get(Setting.CONFIG);
        if (named != null) {
            return DotEnv.read(around.path(named));
        }
        Path found = DotEnv.findFrom(around.directory());
        return found == null ? null : DotEnv.read(found);
    }

    private static @Nullable DotEnv globalFile(Surroundings around) {
        Path file = around.home().resolve(".config/a2a-cli/.env");
        return Files.isRegularFile(file) ? DotEnv.read(file) : null;
    }

    /** The value of {@code setting} as text with its source; empty if it is unset. */
    Optional<Given> given(Setting<?> setting) {
        List<String> typed = flags.texts(setting);
        if (!typed.isEmpty()) {
            return Optional.of(new Given(typed, Source.FLAG, null));
        }
        String variable = environment.get(setting.variable());
        if (variable != null && !variable.isEmpty()) {
            return Optional.of(new Given(List.of(variable), Source.ENVIRONMENT, setting.variable()));
        }
        return fromFiles(setting)
                .or(() -> Optional.ofNullable(setting.fallback())
                        .map(text -> new Given(List.of(text), Source.DEFAULT, null)));
    }

    private Optional<Given> fromFiles(Setting<?> setting) {
        if (setting.is(SettingSpec.Trait.NOT_IN_FILES)) {
            return Optional.empty();
        }
        if (setting.scope() == Scope.HUB) {
            return hubFile == null
                    ? Optional.empty()
                    : fromFile(hubFile.values().get(setting.name()), Source.LOCAL_FILE, hubFile.file());
        }
        Optional<Given> local = localFile == null
                ? Optional.empty()
                : fromFile(localFile.values().get(setting.variable()), Source.LOCAL_FILE, localFile.file());
        return local.or(() -> globalFile == null
                ? Optional.empty()
                : fromFile(globalFile.values().get(setting.variable()), Source.GLOBAL_FILE, globalFile.file()));
    }

    private static Optional<Given> fromFile(@Nullable String text, Source source, Path file) {
        return text == null || text.isEmpty()
                ? Optional.empty()
                : Optional.of(new Given(List.of(text), source, file.toString()));
    }

    /**
     * The value of {@code setting}; null if it is unset.
     *
     * @throws CliException a usage error that names the setting, its source and what was expected
     */
    <T> @Nullable T get(Setting<T> setting) {
        Given given = given(setting).orElse(null);
        if (given == null) {
            return null;
        }
        String text = String.join(",", given.texts());
        try {
            if (setting.type().equals(SettingType.HTTP_URL)) {
                var unused = HttpAddress.of(text); // which names a bad port
            }
            return setting.type().parser().apply(text);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw invalid(setting, given, setting.type().expected());
        }
    }

    /** The error for a value that is well-formed but not allowed. */
    CliException invalid(Setting<?> setting, String expected) {
        return invalid(setting, given(setting).orElseThrow(), expected);
    }

    private static CliException invalid(Setting<?> setting, Given given, String expected) {
        String shown = setting.is(SettingSpec.Trait.SECRET) ? "its value" : String.join(",", given.texts());
        return CliException.usage(
                "invalid " + named(setting, given) + ": " + shown + " (expected: " + expected + ")", null);
    }

    /** The value of a setting that has a built-in default. */
    <T> T require(Setting<T> setting) {
        return requireNonNull(get(setting), setting.name());
    }

    /** The texts of a repeatable setting, one by one. */
    List<String> texts(Setting<?> setting) {
        return given(setting).map(Given::texts).orElse(List.of());
    }

    boolean isOn(Setting<Boolean> setting) {
        return Boolean.TRUE.equals(get(setting));
    }

    Source source(Setting<?> setting) {
        return given(setting).map(Given::source).orElse(Source.DEFAULT);
    }

    /** Whether to return at once: {@code --async} and {@code --wait} are two names of one choice, the closer source wins. */
    boolean isAsync() {
        boolean async = isOn(Setting.ASYNC);
        if (!async || !isOn(Setting.WAIT)) {
            return async;
        }
        int order = source(Setting.ASYNC).compareTo(source(Setting.WAIT));
        if (order == 0) {
            throw CliException.usage(
                    "--async and --wait contradict each other (both from the same source: "
                            + source(Setting.WAIT).words() + ")",
                    "leave one of them out");
        }
        return order > 0;
    }

    /** The files that credentials were taken from although others may read them. */
    List<Path> exposedFiles() {
        var exposed = new ArrayList<Path>();
        for (DotEnv file : new DotEnv[] {localFile, globalFile}) {
            if (file != null && holdsSecret(file) && file.readableByOthers()) {
                exposed.add(file.file());
            }
        }
        return exposed;
    }

    private boolean holdsSecret(DotEnv file) {
        return Setting.of(Scope.CLIENT).stream()
                .filter(setting -> setting.is(SettingSpec.Trait.SECRET))
                .anyMatch(setting -> file.values().containsKey(setting.variable()));
    }

    /** All secrets that were given, to be kept out of every output. */
    List<String> secrets() {
        var secrets = new HashMap<String, String>();
        for (Setting<?> setting : Setting.all()) {
            if (setting.is(SettingSpec.Trait.SECRET)) {
                for (String text : texts(setting)) {
                    int colon = setting == Setting.SVC_PARAM ? text.indexOf(':') : -1;
                    String secret = text.substring(colon + 1).strip();
                    secrets.put(secret, secret);
                }
            }
        }
        return List.copyOf(secrets.values());
    }

    private static String named(Setting<?> setting, Given given) {
        return switch (given.source()) {
            case FLAG, DEFAULT -> setting.flag();
            case ENVIRONMENT -> "environment variable " + setting.variable();
            case LOCAL_FILE, GLOBAL_FILE ->
                (setting.scope() == Scope.HUB ? setting.name() : setting.variable()) + " in " + given.origin();
        };
    }
}

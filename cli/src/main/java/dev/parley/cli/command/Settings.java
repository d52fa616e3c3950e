package dev.parley.cli.command;

import dev.parley.cli.command.ClientFlags.Reports;
import dev.parley.cli.command.ClientFlags.Request;
import dev.parley.cli.command.Setting.Scope;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandException;
import dev.parley.protocol.settings.EffectiveSetting;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.protocol.settings.SettingType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Values of the settings, with their sources.
 *
 * <p>Highest first: flag, environment, local file, global file, built-in default. A record of settings is read
 * when a command needs it, so a broken setting ends only the commands that use settings of its record.
 *
 * <p>Source: a2a-cli specification 0.2, sections 6.5 and 8.3.
 */
public final class Settings {

    /** Source of a value, lowest precedence first. */
    public enum Source {
        DEFAULT("built-in default"),
        GLOBAL_FILE("global file"),
        LOCAL_FILE("local file"),
        ENVIRONMENT("environment variable"),
        FLAG("flag");

        private final String words;

        Source(String words) {
            this.words = words;
        }

        public String words() {
            return words;
        }
    }

    /** One value as text; several texts where a flag was repeated. {@code origin}: the variable or the file. */
    public record GivenValue(
            List<String> texts, Source source, @Nullable String origin) {}

    /** The flags of the command line, by setting; a setting that was not given is missing. */
    public interface Flags {
        Flags NONE = setting -> List.of();

        List<String> texts(Setting setting);

        /** The same without some settings. */
        default Flags except(Predicate<Setting> left) {
            return setting -> left.test(setting) ? List.of() : texts(setting);
        }
    }

    private final CliEnvironment around;
    private final Flags flags;
    private final List<DotEnv> dotenvFiles;
    private final @Nullable HubFile hubFile;

    private Settings(CliEnvironment around, Flags flags, List<DotEnv> dotenvFiles, @Nullable HubFile hubFile) {
        this.around = around;
        this.flags = flags;
        this.dotenvFiles = dotenvFiles;
        this.hubFile = hubFile;
    }

    /** Reads the files that count for a client command. */
    public static Settings ofClient(CliEnvironment around, Flags flags) {
        var files = new ArrayList<DotEnv>();
        Path named = bare(around, flags).client(Reports::read).config();
        Path local = named == null ? DotEnv.findFrom(around.directory()) : named;
        if (local != null) {
            files.add(DotEnv.read(local, Source.LOCAL_FILE));
        }
        Path global = around.home().resolve(".config/a2a-cli/.env");
        if (Files.isRegularFile(global)) {
            files.add(DotEnv.read(global, Source.GLOBAL_FILE));
        }
        return new Settings(around, flags, files, null);
    }

    /** Reads the file that counts for {@code up}. */
    static Settings ofHub(CliEnvironment around, Flags flags) {
        Path file = bare(around, flags).hub(UpSettings::read).config();
        return new Settings(around, flags, List.of(), file == null ? null : HubFile.read(file));
    }

    /** Reads every file, to show all settings. A {@code --config} in YAML is the hub's, any other the client's. */
    static Settings ofBoth(CliEnvironment around, Flags flags) {
        boolean yaml = flags.texts(Setting.client("config")).stream().anyMatch(name -> name.matches("(?i).*\\.ya?ml"));
        Flags shown = flags.except(setting -> setting.is(Trait.NOT_IN_FILES) && yaml != (setting.scope() == Scope.HUB));
        return new Settings(around, shown, ofClient(around, shown).dotenvFiles, ofHub(around, shown).hubFile);
    }

    private static Settings bare(CliEnvironment around, Flags flags) {
        return new Settings(around, flags, List.of(), null);
    }

    /** The value of {@code setting} as text with its source; empty if it is unset. */
    public Optional<GivenValue> given(Setting setting) {
        List<String> typed = flags.texts(setting);
        if (!typed.isEmpty()) {
            return Optional.of(new GivenValue(typed, Source.FLAG, null));
        }
        String variable = around.environment().get(setting.variable());
        if (variable != null && !variable.isEmpty() && !SettingSpec.isAddressOfService(setting.variable(), variable)) {
            return Optional.of(new GivenValue(List.of(variable), Source.ENVIRONMENT, setting.variable()));
        }
        return fromFiles(setting)
                .or(() -> Optional.ofNullable(setting.spec().fallback())
                        .map(text -> new GivenValue(List.of(text), Source.DEFAULT, null)));
    }

    private Optional<GivenValue> fromFiles(Setting setting) {
        if (setting.is(Trait.NOT_IN_FILES)) {
            return Optional.empty();
        }
        if (setting.scope() == Scope.HUB) {
            return hubFile == null
                    ? Optional.empty()
                    : fromFile(hubFile.values().get(setting.name()), Source.LOCAL_FILE, hubFile.file());
        }
        return dotenvFiles.stream()
                .flatMap(file -> fromFile(file.values().get(setting.variable()), file.source(), file.file()).stream())
                .findFirst();
    }

    private static Optional<GivenValue> fromFile(@Nullable String text, Source source, Path file) {
        return text == null || text.isEmpty()
                ? Optional.empty()
                : Optional.of(new GivenValue(List.of(text), source, file.toString()));
    }

    /**
     * Reads a record of settings of commands that call agents; relative paths begin at the working directory.
     *
     * @throws CommandException a usage error with the setting, its source and the expected value
     */
    public <R> R client(Function<SettingReader, R> record) {
        return record.apply(reader(Scope.CLIENT));
    }

    /** Reads a record of settings of a hub in the same way. */
    public <R> R hub(Function<SettingReader, R> record) {
        return record.apply(reader(Scope.HUB));
    }

    public SettingReader reader(Scope scope) {
        return new SettingReader() {
            @Override
            public <T> @Nullable T read(SettingSpec<T> spec) {
                return value(Setting.of(scope, spec), spec.type());
            }

            @Override
            public EffectiveSetting effective(SettingSpec<?> spec) {
                return given(Setting.of(scope, spec))
                        .map(given -> new EffectiveSetting(
                                String.join(",", given.texts()), source(given.source()), given.origin()))
                        .orElseGet(() -> new EffectiveSetting(null, EffectiveSetting.Source.DEFAULT, null));
            }
        };
    }

    @SuppressWarnings("unchecked") // a path for a path
    private <T> @Nullable T value(Setting setting, SettingType<T> type) {
        GivenValue given = given(setting).orElse(null);
        if (given == null) {
            return null;
        }
        String text = String.join(type.equals(ClientFlags.LINES) ? "\n" : ",", given.texts());
        try {
            if (type.equals(SettingType.HTTP_URL)) {
                HttpAddress.requirePort(text);
            }
            T value = type.parser().apply(text);
            return value instanceof Path path ? (T) around.path(path) : value;
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            String shown = setting.is(Trait.SECRET) ? "its value" : String.join(",", given.texts());
            throw CommandException.usage(
                    "invalid " + named(setting, given) + ": " + shown + " (expected: " + type.expected() + ")", null);
        }
    }

    private static EffectiveSetting.Source source(Source source) {
        return switch (source) {
            case FLAG -> EffectiveSetting.Source.FLAG;
            case ENVIRONMENT -> EffectiveSetting.Source.ENVIRONMENT;
            case LOCAL_FILE, GLOBAL_FILE -> EffectiveSetting.Source.FILE;
            case DEFAULT -> EffectiveSetting.Source.DEFAULT;
        };
    }

    /** Variables of settings of a scope that are ignored, as they have addresses of services; see {@link SettingSpec#isAddressOfService}. */
    public List<String> addressesOfServices(Scope scope) {
        return Setting.of(scope).stream()
                .map(Setting::variable)
                .filter(variable -> {
                    String text = around.environment().get(variable);
                    return text != null && SettingSpec.isAddressOfService(variable, text);
                })
                .toList();
    }

    /** The texts of a repeatable setting, one by one. */
    public List<String> texts(Setting setting) {
        return given(setting).map(GivenValue::texts).orElse(List.of());
    }

    public Source source(Setting setting) {
        return given(setting).map(GivenValue::source).orElse(Source.DEFAULT);
    }

    /** True if a flag gives the setting. */
    public boolean isTyped(String name) {
        return source(Setting.client(name)) == Source.FLAG;
    }

    /** Whether to return at once: {@code --async} and {@code --wait} are two names of one choice, the closer source wins. */
    public boolean isAsync() {
        Request request = client(Request::read);
        if (!request.async() || !request.waits()) {
            return request.async();
        }
        Source wait = source(Setting.client("wait"));
        int order = source(Setting.client("async")).compareTo(wait);
        if (order == 0) {
            throw CommandException.usage(
                    "--async and --wait contradict each other (both from the same source: " + wait.words() + ")",
                    "leave one of them out");
        }
        return order > 0;
    }

    /** The files with credentials that other users may read. */
    public List<Path> exposedFiles() {
        return dotenvFiles.stream()
                .filter(file -> Setting.of(Scope.CLIENT).stream()
                        .anyMatch(setting ->
                                setting.is(Trait.SECRET) && file.values().containsKey(setting.variable())))
                .filter(DotEnv::readableByOthers)
                .map(DotEnv::file)
                .toList();
    }

    /** All secrets that were given, to be kept out of every output. */
    public List<String> secrets() {
        return Setting.all().stream()
                .filter(setting -> setting.is(Trait.SECRET))
                .flatMap(setting -> texts(setting).stream()
                        .map(text -> setting.name().equals("svc-param") ? text.substring(text.indexOf(':') + 1) : text))
                .map(String::strip)
                .distinct()
                .toList();
    }

    private static String named(Setting setting, GivenValue given) {
        return switch (given.source()) {
            case FLAG, DEFAULT -> setting.flag();
            case ENVIRONMENT -> "environment variable " + setting.variable();
            case LOCAL_FILE, GLOBAL_FILE ->
                (setting.scope() == Scope.HUB ? setting.name() : setting.variable()) + " in " + given.origin();
        };
    }
}

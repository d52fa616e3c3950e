package dev.parley.cli.command;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.protocol.settings.SettingType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Row of the table of settings, from which flags, environment variables, file keys, help and {@code config show} are made. The rows
 * are collected while the records of settings are read, those of a scope when they are first needed.
 */
public record Setting(Scope scope, SettingSpec<?> spec) {

    /** Scope of a setting, which decides where it is read from. */
    public enum Scope {
        /** Calling an agent: {@code A2ACLI_…} in the environment and in dotenv files. */
        CLIENT("A2ACLI_", ""),
        /** Running a hub: {@code PARLEY_…} in the environment, plain keys in a YAML file. */
        HUB("PARLEY_", "up.");

        private final String variablePrefix;
        private final String shownPrefix;

        Scope(String variablePrefix, String shownPrefix) {
            this.variablePrefix = variablePrefix;
            this.shownPrefix = shownPrefix;
        }
    }

    /** Further spellings of flags. */
    private static final Map<String, List<String>> ALIASES = Map.of(
            "agent-card", List.of("-a"),
            "output", List.of("-o"),
            "async", List.of("--return-immediately", "--no-wait"),
            "wait", List.of("--watch"));

    private static final class OfClient {
        private static final Map<String, Setting> ROWS = rows(Scope.CLIENT, ClientFlags::readAll);
    }

    private static final class OfHub {
        private static final Map<String, Setting> ROWS = rows(Scope.HUB, UpSettings::readAll);
    }

    private static Map<String, Setting> rows(Scope scope, Function<SettingReader, ?> records) {
        var rows = new LinkedHashMap<String, Setting>();
        var unused = records.apply(new SettingReader() {
            @Override
            public <T> @Nullable T read(SettingSpec<T> spec) {
                rows.put(spec.name(), of(scope, spec));
                return spec.defaultValue();
            }
        });
        return rows;
    }

    /** The row of a setting. This program keeps the data of hubs in the home directory. */
    public static Setting of(Scope scope, SettingSpec<?> spec) {
        boolean data = scope == Scope.HUB && spec.name().equals("data");
        return new Setting(scope, data ? spec.withFallback("~/.parley") : spec);
    }

    /** The row of a setting of commands that call agents. */
    public static Setting client(String name) {
        return requireNonNull(OfClient.ROWS.get(name), name);
    }

    /** The row of a setting of a hub. */
    public static Setting hub(String name) {
        return requireNonNull(OfHub.ROWS.get(name), name);
    }

    /** The rows of one scope, in the order in which they are shown. */
    public static List<Setting> of(Scope scope) {
        return List.copyOf((scope == Scope.HUB ? OfHub.ROWS : OfClient.ROWS).values());
    }

    /** The rows of some of the records of settings of commands that call agents. */
    public static List<Setting> of(Function<SettingReader, ?> records) {
        return List.copyOf(rows(Scope.CLIENT, records).values());
    }

    public static List<Setting> all() {
        return Stream.of(Scope.values()).flatMap(scope -> of(scope).stream()).toList();
    }

    /** The long flag without its dashes, which is also the key in a hub's file. */
    public String name() {
        return spec.name();
    }

    /** Further spellings of the flag: a short one, aliases. */
    public List<String> other() {
        return scope == Scope.CLIENT ? ALIASES.getOrDefault(name(), List.of()) : List.of();
    }

    /** The flag as it is typed. */
    public String flag() {
        return "--" + name();
    }

    /** The environment variable, which is also the name in a dotenv file. */
    public String variable() {
        return spec.variable(scope.variablePrefix);
    }

    /** The unique name in {@code config show}. */
    public String shownName() {
        return scope.shownPrefix + name();
    }

    public boolean is(Trait trait) {
        return spec.traits().contains(trait);
    }

    boolean isFlag() {
        return spec.type().equals(SettingType.FLAG);
    }
}

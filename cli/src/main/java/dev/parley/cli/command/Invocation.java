package dev.parley.cli.command;

import dev.parley.cli.command.ClientFlags.Agent;
import dev.parley.cli.command.ClientFlags.Credentials;
import dev.parley.cli.command.ClientFlags.KeyStore;
import dev.parley.cli.command.ClientFlags.Reports;
import dev.parley.cli.command.ClientFlags.Request;
import dev.parley.cli.command.ClientFlags.Tls;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.cli.output.Output;
import dev.parley.command.CommandException;
import dev.parley.command.RowParameters;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** Run of a command: its command line, its settings and its output. */
public class Invocation implements RowParameters.Typed {
    private final CliEnvironment around;
    private final ParseResult typed;
    private final TypedFlags flags;
    private final Settings settings;
    private final Output output;
    /** Records of settings that the command has read, by type. */
    private final Map<Class<?>, Record> read = new ConcurrentHashMap<>();

    public Invocation(CliEnvironment around, ParseResult typed, TypedFlags flags, Settings settings, Output output) {
        this.around = around;
        this.typed = typed;
        this.flags = flags;
        this.settings = settings;
        this.output = output;
    }

    /** Copies another invocation. */
    public Invocation(Invocation same) {
        this(same.around, same.typed, same.flags, same.settings, same.output);
    }

    public CliEnvironment around() {
        return around;
    }

    public Settings settings() {
        return settings;
    }

    public Agent agent() {
        return settings(Agent.class, Agent::read);
    }

    public Request request() {
        return settings(Request.class, Request::read);
    }

    public Credentials credentials() {
        return settings(Credentials.class, Credentials::read);
    }

    public KeyStore keyStore() {
        return settings(KeyStore.class, KeyStore::read);
    }

    public Tls tls() {
        return settings(Tls.class, Tls::read);
    }

    public Reports reports() {
        return settings(Reports.class, Reports::read);
    }

    /** Settings do not change while a command runs, so each record is read once, when the command needs it. */
    private <R extends Record> R settings(Class<R> type, Function<SettingReader, R> record) {
        return type.cast(read.computeIfAbsent(type, unread -> settings.client(record)));
    }

    public Output output() {
        return output;
    }

    /** Extensions whose operations the command calls, besides those that are on the class path. */
    public List<ExtensionProtocol> protocols() {
        return List.of();
    }

    public ParseResult typed() {
        return typed;
    }

    /** A path that the user typed. */
    public Path path(String typed) {
        return around.path(typed);
    }

    /** The directory that {@code --data} names, or a default; it has to exist. */
    public Path existingData(String named) {
        Path data = path(named);
        if (!Files.isDirectory(data)) {
            throw CommandException.usage(
                    "--data \"" + data + "\": not a directory (expected: the data directory of a hub)",
                    "parley up creates ~/.parley, or the directory that its --data names");
        }
        return data;
    }

    /** The value of an option of the command itself, null if it was not given. */
    @Override
    public @Nullable String option(String name) {
        OptionSpec option = typed.matchedOption(name);
        return option == null ? null : option.getValue();
    }

    /** The value of an option of the command itself, or of a variable of the environment; null if neither was given. */
    public @Nullable String optionOr(String name, String variable) {
        String value = option(name);
        String other = around.environment().getOrDefault(variable, "");
        return value == null && !other.isEmpty() ? other : value;
    }

    /** The value of an option of the command itself by its type, null if it was not given. */
    public <T> @Nullable T option(String name, SettingType<T> type) {
        String text = option(name);
        try {
            return text == null ? null : type.parser().apply(text);
        } catch (IllegalArgumentException | ArithmeticException | DateTimeException wrong) {
            throw CommandException.usage(
                    "invalid " + name + ": " + text + " (expected: " + type.expected() + ")", null);
        }
    }

    /** The value of an option of the command itself as a number from {@code least} to {@code most}. */
    public @Nullable Integer number(String name, int least, int most) {
        String range = most == Integer.MAX_VALUE ? "a number >= " + least : "a number from " + least + " to " + most;
        return option(
                name,
                new SettingType<>(range, Integer::valueOf)
                        .requiring(number -> number >= least && number <= most, range));
    }

    @Override
    public List<String> options(String name) {
        return typed.matchedOptionValue(name, List.of());
    }

    @Override
    public boolean has(String name) {
        return typed.hasMatchedOption(name);
    }

    public @Nullable String argument(int index) {
        PositionalParamSpec argument = typed.matchedPositional(index);
        Object value = argument == null ? null : argument.getValue();
        return value instanceof List<?> words
                ? words.stream().map(String::valueOf).collect(Collectors.joining(" "))
                : (String) value;
    }

    @Override
    public String requiredArgument(int index) {
        String value = argument(index);
        if (value == null) {
            throw new IllegalStateException("argument " + index + " is required but was not checked");
        }
        return value;
    }

    /**
     * The task that the command is about: its argument, or else {@code --task-id}.
     *
     * @throws CommandException if neither is given, or both and they differ
     */
    public String taskId() {
        String argument = argument(0);
        String setting = request().taskId();
        if (argument == null && setting == null) {
            throw CommandException.usage("no task named (expected: TASK-ID)", "parley task list shows the tasks");
        }
        if (argument != null && setting != null && settings.isTyped("task-id") && !argument.equals(setting)) {
            throw CommandException.usage("two tasks named: " + argument + " and " + setting, "leave one of them out");
        }
        return argument == null ? String.valueOf(setting) : argument;
    }

    public boolean isStreaming() {
        return flags.has("--stream");
    }

    /** Returns a command line that continues a task, with the options to reach the same agent, never a credential. */
    public String command(String... words) {
        var line = new ArrayList<String>(List.of("parley"));
        line.addAll(List.of(words));
        for (String name : List.of("agent-card", "registry", "transport", "a2a-version", "ca", "insecure", "config")) {
            Setting setting = Setting.client(name);
            for (String text : settings.isTyped(name) ? settings.texts(setting) : List.<String>of()) {
                line.add(setting.isFlag() ? setting.flag() : setting.flag() + "=" + quoted(text));
            }
        }
        return String.join(" ", line);
    }

    /** {@code text} as one word of a shell. */
    public static String quoted(String text) {
        return text.matches("[A-Za-z0-9_./:@%+=,-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}

package dev.parley.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** One run of a command: what was typed, what the settings are, and where the answers go. */
final class Invocation {
    private final Surroundings around;
    private final ParseResult typed;
    private final TypedFlags flags;
    private final Settings settings;
    private final Output output;

    Invocation(Surroundings around, ParseResult typed, TypedFlags flags, Settings settings, Output output) {
        this.around = around;
        this.typed = typed;
        this.flags = flags;
        this.settings = settings;
        this.output = output;
    }

    Surroundings around() {
        return around;
    }

    Settings settings() {
        return settings;
    }

    <T> @Nullable T get(Setting<T> setting) {
        return settings.get(setting);
    }

    Output output() {
        return output;
    }

    ParseResult typed() {
        return typed;
    }

    /** The value of an option of the command itself, null if it was not given. */
    @Nullable
    String option(String name) {
        OptionSpec option = typed.matchedOption(name);
        return option == null ? null : option.getValue();
    }

    /** The value of an option of the command itself as a number from {@code least} to {@code most}. */
    @Nullable
    Integer number(String name, int least, int most) {
        String text = option(name);
        if (text == null) {
            return null;
        }
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException wrong) {
            // Said below, as for numbers out of range.
        }
        String range = most == Integer.MAX_VALUE ? "a number >= " + least : "a number from " + least + " to " + most;
        throw CliException.usage("invalid " + name + ": " + text + " (expected: " + range + ")", null);
    }

    boolean has(String name) {
        return typed.hasMatchedOption(name);
    }

    @Nullable
    String argument(int index) {
        PositionalParamSpec argument = typed.matchedPositional(index);
        return argument == null ? null : argument.getValue();
    }

    String requiredArgument(int index) {
        String value = argument(index);
        if (value == null) {
            throw new IllegalStateException("argument " + index + " is required but was not checked");
        }
        return value;
    }

    /**
     * The task that the command is about: its argument, or else {@code --task-id}.
     *
     * @throws CliException if neither is given, or both and they differ
     */
    String taskId() {
        String argument = argument(0);
        String setting = get(Setting.TASK_ID);
        if (argument == null && setting == null) {
            throw CliException.usage("no task named (expected: TASK-ID)", "parley task list shows the tasks");
        }
        boolean typedFlag = settings.source(Setting.TASK_ID) == Settings.Source.FLAG;
        if (argument != null && setting != null && typedFlag && !argument.equals(setting)) {
            throw CliException.usage("two tasks named: " + argument + " and " + setting, "leave one of them out");
        }
        return argument == null ? String.valueOf(setting) : argument;
    }

    boolean isStreaming() {
        return flags.has("--stream");
    }

    TextView view() {
        return new TextView(settings.isOn(Setting.VERBOSE));
    }

    /** A command line that goes on with a task, with what is needed to reach the same agent, never a credential. */
    String command(String... words) {
        var line = new ArrayList<String>(List.of("parley"));
        line.addAll(List.of(words));
        for (Setting<?> setting :
                List.of(Setting.AGENT_CARD, Setting.TRANSPORT, Setting.A2A_VERSION, Setting.INSECURE, Setting.CONFIG)) {
            if (settings.source(setting) == Settings.Source.FLAG) {
                for (String text : settings.texts(setting)) {
                    line.add(setting.isFlag() ? setting.flag() : setting.flag() + "=" + quoted(text));
                }
            }
        }
        return String.join(" ", line);
    }

    /** {@code text} as one word of a shell. */
    static String quoted(String text) {
        return text.matches("[A-Za-z0-9_./:@%+=,-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}

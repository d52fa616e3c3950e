package dev.parley.cli;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Completion script for fish: commands, options and their summaries. picocli makes one for bash only. */
final class FishCompletion {
    /** Functions that compare the words before the cursor, without options, with a command. */
    private static final String FUNCTIONS = """
            function __parley_words
                set -l words (commandline -opc)
                for word in $words[2..-1]
                    string match -q -- '-*' $word; or echo $word
                end
            end
            function __parley_at
                set -l words (__parley_words)
                test "$words" = "$argv"
            end
            function __parley_in
                set -l words (__parley_words)
                set -l count (count $argv)
                test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"
            end
            """;

    private final StringBuilder script = new StringBuilder(FUNCTIONS);

    private final String program;
    private final Function<CommandLine, List<String>> visible;

    private FishCompletion(String program, Function<CommandLine, List<String>> visible) {
        this.program = program;
        this.visible = visible;
    }

    /**
     * Returns the script for a command and all below it.
     *
     * @param visible returns the names of the commands below one that users are shown
     */
    static String of(CommandLine root, Function<CommandLine, List<String>> visible) {
        var completion = new FishCompletion(root.getCommandName(), visible);
        completion.add(root, "");
        return completion.script.toString();
    }

    private void add(CommandLine command, String path) {
        CommandSpec spec = command.getCommandSpec();
        // Commands have the options of the root themselves.
        String inside = path.isEmpty() ? " -n __parley_at" : " -n '__parley_in" + path + "'";
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                line(inside + names(option) + value(option), option.description());
            }
        }
        for (String name : visible.apply(command)) {
            CommandLine child = requireNonNull(command.getSubcommands().get(name));
            line(
                    " -f -n '__parley_at" + path + "' -a " + name,
                    child.getCommandSpec().usageMessage().header());
            add(child, path + " " + name);
        }
    }

    private void line(String arguments, String... description) {
        script.append("complete -c ").append(program).append(arguments);
        if (description.length > 0 && !description[0].isBlank()) {
            script.append(" -d '").append(quoted(summary(description[0]))).append('\'');
        }
        script.append('\n');
    }

    private static String names(OptionSpec option) {
        var names = new StringBuilder();
        for (String name : option.names()) {
            names.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
        }
        return names.toString();
    }

    /** Options whose value is a file complete files, others nothing. */
    private static String value(ArgSpec option) {
        if (option.arity().min() == 0) {
            return "";
        }
        String label = option.paramLabel();
        return label.contains("FILE") || label.contains("DIR") || label.contains("JAR") ? " -r" : " -x";
    }

    /** The first sentence, or the part before its first semicolon. */
    private static String summary(String description) {
        String text = description.replace("%n", " ").replace("%%", "%").strip();
        int end = text.indexOf(". ");
        return (end < 0 ? text : text.substring(0, end)).replaceFirst("\\.$", "");
    }

    private static String quoted(String text) {
        return text.replace("\\", "\\\\").replace("'", "\\'");
    }
}

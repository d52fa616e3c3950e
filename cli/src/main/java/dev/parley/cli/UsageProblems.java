package dev.parley.cli;

import dev.parley.command.CommandException;
import dev.parley.protocol.support.Nearest;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Errors of a command line: the typed value, the expected one, and a correction. */
final class UsageProblems {
    private UsageProblems() {}

    static CommandException of(ParameterException wrong) {
        CommandLine at = wrong.getCommandLine();
        String help = at.getCommandSpec().qualifiedName() + " --help lists its arguments";
        if (wrong.getCause() instanceof CommandException refused) {
            return refused; // by the code that reads a value; the parser's words around it name its internals
        }
        return switch (wrong) {
            case UnmatchedArgumentException unmatched -> unmatched(unmatched, at, help);
            case MissingParameterException missing ->
                CommandException.usage(String.valueOf(missing.getMessage()), help);
            case OverwrittenOptionException twice ->
                CommandException.usage(
                        twice.getOverwritten().toString() + " is given twice (expected: once)",
                        "leave one of them out");
            default -> CommandException.usage(String.valueOf(wrong.getMessage()), help);
        };
    }

    private static CommandException unmatched(UnmatchedArgumentException unmatched, CommandLine at, String help) {
        String word = unmatched.getUnmatched().getFirst();
        List<String> commands = HelpCommand.visible(at);
        if (word.startsWith("-") && word.length() > 1) {
            String name = word.replaceFirst("=.*", "");
            List<String> options = at.getCommandSpec().options().stream()
                    .filter(option -> !option.hidden())
                    .map(option -> option.longestName())
                    .toList();
            String nearest = Nearest.like(name, options)
                    .map(option -> "did you mean " + option + "? ")
                    .orElse("");
            return CommandException.usage("unknown option " + name, nearest + help);
        }
        if (!commands.isEmpty()) {
            return CommandException.usage(
                    "unknown command " + word + " (expected: one of " + String.join(", ", commands) + ")",
                    Nearest.like(word, commands)
                            .map(command -> "did you mean " + command + "?")
                            .orElse(at.getCommandSpec().qualifiedName() + " --help lists them"));
        }
        return CommandException.usage("unexpected argument " + word, "quote a text of several words as one; " + help);
    }
}

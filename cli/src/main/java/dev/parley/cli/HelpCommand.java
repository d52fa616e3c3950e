package dev.parley.cli;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.command.CommandException;
import dev.parley.protocol.support.Nearest;
import java.util.List;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Commands about commands: {@code parley help}, {@code parley completion}, and groups that are typed without a command. */
final class HelpCommand {
    private HelpCommand() {}

    static Command help() {
        return Command.of(HelpCommand::explain)
                .rest("COMMAND", "The command to explain; without it all are listed.")
                .settings("output");
    }

    static Command completion() {
        return Command.of(HelpCommand::complete)
                .argument("SHELL", "bash, zsh or fish.")
                .settings("output")
                .footer("For example: source <(parley completion bash)");
    }

    private static CommandLine root(Invocation call) {
        return call.typed().commandSpec().root().commandLine();
    }

    private static int explain(Invocation call) {
        CommandLine at = root(call);
        PositionalParamSpec words = call.typed().matchedPositional(0);
        List<String> path = words == null ? List.of() : words.getValue();
        for (String word : path) {
            CommandLine below = at.getSubcommands().get(word);
            if (below == null) {
                throw CommandException.usage(
                        "unknown command " + word,
                        Nearest.like(word, visible(at))
                                .map(name -> "did you mean " + name + "?")
                                .orElse("parley help"));
            }
            at = below;
        }
        call.output().help(at.getUsageMessage());
        return 0;
    }

    private static int complete(Invocation call) {
        String shell = call.requiredArgument(0);
        CommandLine root = root(call);
        String script = switch (shell) {
            // The script brings zsh's emulation of bash completion along, so one serves both.
            case "bash", "zsh" -> AutoComplete.bash(root.getCommandName(), root);
            case "fish" -> FishCompletion.of(root, HelpCommand::visible);
            default ->
                throw CommandException.usage(
                        "unknown shell " + shell + " (expected: bash, zsh or fish)", "parley completion bash");
        };
        call.output().help(script);
        return 0;
    }

    /** Lists the commands of a group, and refuses the call. */
    static int list(Invocation call) {
        var parser = call.typed().commandSpec().commandLine();
        var help = parser.getHelp();
        call.around()
                .err()
                .print(help.synopsisHeading()
                        + help.synopsis(help.synopsisHeadingLength())
                        + help.commandListHeading()
                        + help.commandList()
                        + "\n");
        throw CommandException.usage(
                "no command given (expected: one of " + String.join(", ", visible(parser)) + ")",
                parser.getCommandSpec().qualifiedName() + " --help lists them");
    }

    /** The names of the commands below {@code parser} that are not hidden. */
    static List<String> visible(CommandLine parser) {
        return parser.getSubcommands().entrySet().stream()
                .filter(entry ->
                        !entry.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
    }
}

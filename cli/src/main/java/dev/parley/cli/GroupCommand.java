package dev.parley.cli;

import picocli.CommandLine.Model.CommandSpec;

/** A command that only has subcommands; without one it lists them. */
final class GroupCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {}

    @Override
    public int run(Invocation call) {
        var parser = call.typed().commandSpec().commandLine();
        var help = parser.getHelp();
        call.around()
                .err()
                .print(help.synopsisHeading()
                        + help.synopsis(help.synopsisHeadingLength())
                        + help.commandListHeading()
                        + help.commandList()
                        + "\n");
        throw CliException.usage(
                "no command given (expected: one of " + String.join(", ", HelpCommand.visible(parser)) + ")",
                parser.getCommandSpec().qualifiedName() + " --help lists them");
    }
}

package dev.parley.cli;

import picocli.CommandLine.Model.CommandSpec;

/** A word that only leads to other commands; alone it says which. */
final class GroupCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {}

    @Override
    public int run(Invocation call) {
        var parser = call.typed().commandSpec().commandLine();
        call.around().err().print(parser.getUsageMessage());
        throw CliException.usage(
                "no command given (expected: one of " + String.join(", ", HelpCommand.visible(parser)) + ")",
                "parley help shows all commands");
    }
}

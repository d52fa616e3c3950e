package dev.parley.cli;

import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley completion bash|zsh}. */
final class CompletionCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, true, "SHELL", "bash or zsh."));
        spec.usageMessage().footer("", "For example: source <(parley completion bash)");
    }

    @Override
    public List<Setting<?>> relevant() {
        return List.of(Setting.OUTPUT);
    }

    @Override
    public int run(Invocation call) {
        String shell = call.requiredArgument(0);
        if (!shell.equals("bash") && !shell.equals("zsh")) {
            throw CliException.usage("unknown shell " + shell + " (expected: bash or zsh)", "parley completion bash");
        }
        // The script brings zsh's emulation of bash completion along, so one serves both.
        call.output().print(AutoComplete.bash(Commands.NAME, Commands.parser(call.around())));
        return 0;
    }
}

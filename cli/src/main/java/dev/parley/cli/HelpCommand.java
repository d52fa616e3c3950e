package dev.parley.cli;

import dev.parley.protocol.support.Nearest;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code parley help [command…]}. */
final class HelpCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(PositionalParamSpec.builder()
                .index("0..*")
                .arity("0..*")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .paramLabel("COMMAND")
                .description("The command to explain; without it all are listed.")
                .build());
    }

    @Override
    public List<Setting<?>> relevant() {
        return List.of(Setting.OUTPUT);
    }

    @Override
    public int run(Invocation call) {
        CommandLine at = Commands.parser(call.around());
        PositionalParamSpec words = call.typed().matchedPositional(0);
        List<String> path = words == null ? List.of() : words.getValue();
        for (String word : path) {
            CommandLine below = at.getSubcommands().get(word);
            if (below == null) {
                List<String> names = visible(at);
                String hint = Nearest.like(word, names)
                        .map(name -> "did you mean " + name + "?")
                        .orElse("parley help");
                throw CliException.usage("unknown command " + word, hint);
            }
            at = below;
        }
        call.output().print(at.getUsageMessage());
        return 0;
    }

    /** The names of the commands below {@code parser} that are for people. */
    static List<String> visible(CommandLine parser) {
        return parser.getSubcommands().entrySet().stream()
                .filter(entry ->
                        !entry.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
    }
}

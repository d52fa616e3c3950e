package dev.parley.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The flags of settings on a command line, before and after the command's name; after counts more. */
public final class TypedFlags implements Settings.Flags {
    private final List<ParseResult> innermostFirst = new ArrayList<>();

    public TypedFlags(ParseResult typed) {
        for (ParseResult at = typed; at != null; at = at.hasSubcommand() ? at.subcommand() : null) {
            innermostFirst.addFirst(at);
        }
    }

    @Override
    public List<String> texts(Setting setting) {
        for (ParseResult level : innermostFirst) {
            OptionSpec option = level.matchedOption(setting.flag());
            if (option != null && option.getValue() != null) {
                Object value = option.getValue();
                return value instanceof List<?> several
                        ? several.stream().map(String::valueOf).toList()
                        : List.of(value.toString());
            }
        }
        return List.of();
    }

    /** Options before the name of the command. */
    Stream<OptionSpec> outer() {
        return innermostFirst.stream().skip(1).flatMap(level -> level.matchedOptions().stream());
    }

    /** Whether a flag that is not a setting was given at any level. */
    public boolean has(String name) {
        return innermostFirst.stream().anyMatch(level -> level.hasMatchedOption(name));
    }
}

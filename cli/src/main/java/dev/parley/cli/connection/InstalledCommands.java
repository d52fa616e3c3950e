package dev.parley.cli.connection;

import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import dev.parley.command.RowCommand;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.Set;
import java.util.function.Consumer;
import picocli.CommandLine.Model.CommandSpec;

/** Commands of the extensions that a user has installed: those that their jars bring, and one for each operation that is described. */
public final class InstalledCommands {
    /** Variable of the environment with another place. A file found beside the user's work must not name code to load. */
    private static final String VARIABLE = "A2ACLI_EXTENSIONS";

    private static final String DIRECTORY = ".config/a2a-cli/extensions";

    private InstalledCommands() {}

    /**
     * Returns the commands of the installed jars. Jars that cannot be used are a warning, so that the other commands work.
     *
     * @param taken names of the commands of the program
     */
    public static List<CommandEntry> find(CliEnvironment around, Set<String> taken, Consumer<String> warn) {
        String named = around.environment().getOrDefault(VARIABLE, "");
        Path place = named.isEmpty() ? around.home().resolve(DIRECTORY) : around.path(named);
        if (named.isEmpty() && (!place.isAbsolute() || !Files.isDirectory(place))) {
            return List.of();
        }
        List<Path> files = Jars.files(VARIABLE, place);
        var commands = new LinkedHashMap<String, CommandEntry>();
        try {
            var jars = new Jars(files);
            jars.services(CommandSource.class)
                    .flatMap(source -> source.commands().stream())
                    .forEach(entry -> commands.putIfAbsent(entry.name(), entry));
            jars.services(ExtensionProtocol.Provider.class)
                    .flatMap(provider -> provider.protocols().stream())
                    .map(RowCommand::group)
                    .filter(group -> !group.below().isEmpty())
                    .forEach(group -> commands.putIfAbsent(group.name(), group));
            commands.values().forEach(InstalledCommands::check);
        } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
            warn.accept("extensions in " + place + ": cannot load: " + broken.getMessage()
                    + " (expected: jars built for this version of Parley and Java "
                    + Runtime.version().feature() + "); their commands are missing");
            return List.of();
        }
        return commands.values().stream()
                .filter(entry -> {
                    boolean isFree = entry.name().matches("\\w[\\w.-]*") && !taken.contains(entry.name());
                    if (!isFree) {
                        warn.accept("extension command \"" + entry.name()
                                + "\": left out (expected: a word that is no command of the program)");
                    }
                    return isFree;
                })
                .toList();
    }

    /** Declares the parameters once, so that faulty ones do not end up in the help of all commands. */
    private static void check(CommandEntry entry) {
        var command = entry.command();
        if (command != null) {
            command.get().describe(CommandSpec.create());
        }
        var names = new HashSet<String>();
        for (CommandEntry below : entry.below()) {
            if (!names.add(below.name())) {
                throw new IllegalArgumentException(
                        "command \"" + entry.name() + " " + below.name() + "\": duplicate name");
            }
            check(below);
        }
    }
}

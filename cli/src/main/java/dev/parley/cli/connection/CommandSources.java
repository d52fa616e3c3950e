package dev.parley.cli.connection;

import dev.parley.command.CommandSource;
import dev.parley.protocol.ErrorKind;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** Commands and hints that extensions add to the program, found when they are first needed. */
public final class CommandSources {
    public static final List<CommandSource> ALL =
            ServiceLoader.load(CommandSource.class, CommandSource.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private CommandSources() {}

    /** Returns the hint of an extension for an error. */
    public static Optional<String> hint(ErrorKind error, String agent) {
        return ALL.stream()
                .flatMap(source -> source.hint(error, agent).stream())
                .findFirst();
    }
}

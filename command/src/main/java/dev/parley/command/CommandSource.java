package dev.parley.command;

import dev.parley.protocol.ErrorKind;
import java.util.List;
import java.util.Optional;

/** Provides commands of the program {@code parley}; found by {@link java.util.ServiceLoader}. */
public interface CommandSource {
    /** The commands, in the order of the help. A group of a name that exists has its commands added to that group. */
    List<CommandEntry> commands();

    /** Next step for a user whose command ended with an error of the extension; empty for that of the program. */
    default Optional<String> hint(ErrorKind error, String agent) {
        return Optional.empty();
    }
}

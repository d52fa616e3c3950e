package dev.parley.cli.host;

import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.Interruption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A directory, for its owner only, with files that are not complete yet. It is removed at the end, also when the command is interrupted; a
 * process that is killed leaves it.
 */
record Staging(Path path, Interruption interruption) implements AutoCloseable {
    /** Name of the directory of a restore, which is in the data directory. */
    static final String RESTORE = "restore";

    /** Makes the directory, with a hidden name that begins with {@code name}. */
    static Staging make(Path parent, String name, Invocation call) throws IOException {
        Path path = Files.createTempDirectory(parent, "." + name + ".");
        Interruption interruption = call.around().interruption();
        interruption.react(() -> {
            remove(path);
            return Interruption.BY_SIGNAL;
        });
        return new Staging(path, interruption);
    }

    /** Removes a file, or a directory with all that is in it, as far as the system permits it. */
    static void remove(Path path) {
        try (Stream<Path> all = Files.walk(path)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException left) {
            // the command reports its own failure; the hidden directory stays
        }
    }

    @Override
    public void close() {
        remove(path);
        interruption.clear();
    }
}

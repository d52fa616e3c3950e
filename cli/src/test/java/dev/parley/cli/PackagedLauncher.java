package dev.parley.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** The launcher on the path, in a tree without sources whose program is the packaged one. */
final class PackagedLauncher {
    private final Path directory;

    /** @param directory of the tree, and of the processes */
    PackagedLauncher(Path directory) throws IOException {
        this.directory = directory;
        Path tree = directory.resolve("parley-tree");
        Path program = Files.createDirectories(tree.resolve("cli/target/quick/parley"));
        Path packaged = Path.of(System.getProperty("parley.program")).toAbsolutePath();
        Files.createSymbolicLink(program.resolve("lib"), packaged.resolveSibling("lib"));
        for (String jar : List.of("parley.jar", "changed.jar")) { // the second one is not prepared for quick starts
            Files.createSymbolicLink(program.resolve(jar), packaged);
        }
        Files.createFile(program.resolve("built"));
        Files.copy(Path.of("../parley"), tree.resolve("parley"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.createSymbolicLink(
                Files.createDirectory(directory.resolve("bin")).resolve("parley"), tree.resolve("parley"));
    }

    /** A process whose commands find the launcher, and without settings of the program from outside. */
    ProcessBuilder process(List<String> words) {
        var command = new ArrayList<>(words);
        if (command.getFirst().equals("parley")) {
            command.set(0, directory.resolve("bin/parley").toString());
        }
        var process = new ProcessBuilder(command).directory(directory.toFile());
        process.environment().keySet().removeIf(name -> name.matches("(A2ACLI|PARLEY|JAVA)_.*|JDK_JAVA_OPTIONS"));
        process.environment().merge("PATH", directory.resolve("bin").toString(), (path, own) -> own + ":" + path);
        return process;
    }
}

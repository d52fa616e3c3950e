package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OwnersOnlyTest {
    @TempDir
    private Path directory;

    @Test
    void aFileIsMadeAsAWholeForItsOwnerAndNeverReplaced() throws IOException {
        Path file = directory.resolve("secret");

        OwnersOnly.create(file, "first".getBytes(UTF_8));
        assertThatThrownBy(() -> OwnersOnly.create(file, "second".getBytes(UTF_8)))
                .isInstanceOf(FileAlreadyExistsException.class);

        assertThat(file).hasContent("first");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(directory).as("nothing else is left").isDirectoryContaining(file::equals);
        try (var files = Files.list(directory)) {
            assertThat(files).hasSize(1);
        }
    }

    @Test
    void aFileIsMadeAndNeverReplacedOnAFileSystemWithoutLinks() throws IOException {
        Path file = directory.resolve("secret");
        OwnersOnly.Naming forbidden = written -> {
            throw new FileSystemException(file.toString(), written.toString(), "Operation not permitted");
        };
        OwnersOnly.Naming unknown = written -> {
            throw new UnsupportedOperationException();
        };

        OwnersOnly.create(file, "first".getBytes(UTF_8), forbidden);
        for (OwnersOnly.Naming link : List.of(forbidden, unknown)) {
            assertThatThrownBy(() -> OwnersOnly.create(file, "second".getBytes(UTF_8), link))
                    .isInstanceOf(FileAlreadyExistsException.class);
        }
        OwnersOnly.create(directory.resolve("other"), "other".getBytes(UTF_8), unknown);

        assertThat(file).hasContent("first");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("secret", "other");
    }

    @Test
    void aFileIsReplacedAsAWholeForItsOwner() throws IOException {
        Path file = directory.resolve("database.url");
        Files.writeString(file, "a longer first content"); // readable by others

        OwnersOnly.replace(file, "second".getBytes(UTF_8));

        assertThat(file).hasContent("second");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(directory.toFile().list()).containsExactly("database.url");
    }

    @Test
    void aFileThatCannotBeWrittenIsNotThere() throws Exception {
        Path file = directory.resolve("secret");
        // A process that may write no byte to a file: the system refuses as it does on a full disk.
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -f 0 && exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:-UsePerfData",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Creation.class.getName(),
                        file.toString())
                .redirectErrorStream(true)
                .start();

        assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).contains("IOException");
        assertThat(process.waitFor()).isOne();
        assertThat(directory).isEmptyDirectory();
    }

    /** Program that makes a file. */
    static final class Creation {
        private Creation() {}

        public static void main(String[] arguments) throws IOException {
            OwnersOnly.create(Path.of(arguments[0]), "first".getBytes(UTF_8));
        }
    }
}

package dev.parley.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
}

package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.move.MovedDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a data directory whose database was moved. */
final class MovedDirectoryTest {
    private static final String URL = "postgresql://parley@localhost/parley";

    @TempDir
    private Path parent;

    private Path earlier;
    private Path made;

    @BeforeEach
    void makeEarlier() throws IOException {
        earlier = Files.createDirectory(parent.resolve("earlier"));
        made = parent.resolve("made");
        write("parley.db");
        write("parley.db-wal");
        write("parley.lock");
        write("token.secret");
    }

    private void write(String name) throws IOException {
        Path file = earlier.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, name);
    }

    private void make() {
        MovedDirectory.check(earlier, made, URL);
        MovedDirectory.make(earlier, made, URL);
    }

    @Test
    void onlyTheDatabaseOfTheDirectoryItselfIsLeftOut() throws IOException {
        write("backups/parley.db");
        write("backups/older/parley.db.gz");
        write("backups/database.url");

        make();

        assertThat(made.resolve("parley.db")).doesNotExist();
        assertThat(made.resolve("parley.db-wal")).doesNotExist();
        assertThat(made.resolve("parley.lock")).doesNotExist();
        assertThat(made.resolve("database.url")).hasContent(URL);
        assertThat(made.resolve("token.secret")).hasContent("token.secret");
        assertThat(made.resolve("backups/parley.db")).hasContent("backups/parley.db");
        assertThat(made.resolve("backups/older/parley.db.gz")).exists();
        assertThat(made.resolve("backups/database.url")).hasContent("backups/database.url");
    }

    @Test
    void theDirectoryOfAnotherHubIsLeftOut() throws IOException {
        write("run/echo/parley.lock");
        write("run/echo/parley.db");

        make();

        assertThat(made.resolve("run/echo")).doesNotExist();
    }

    @Test
    void aLinkToADirectoryStaysALinkAndOneToAFileIsCopied() throws IOException {
        Path shared = Files.createDirectory(parent.resolve("shared"));
        Files.writeString(shared.resolve("model.bin"), "model");
        Files.createSymbolicLink(earlier.resolve("models"), Path.of("..", "shared"));
        Files.createSymbolicLink(earlier.resolve("ring"), Path.of("."));
        Files.createSymbolicLink(earlier.resolve("model.bin"), Path.of("..", "shared", "model.bin"));
        Files.delete(earlier.resolve("parley.lock"));

        make();
        make();

        assertThat(made.resolve("models")).isSymbolicLink();
        assertThat(made.resolve("models").toRealPath()).isEqualTo(shared.toRealPath());
        assertThat(made.resolve("ring")).isSymbolicLink();
        assertThat(Files.isSymbolicLink(made.resolve("model.bin"))).isFalse();
        assertThat(made.resolve("model.bin")).hasContent("model");
    }

    @Test
    void ownersAndPermissionsAreThoseOfTheEarlierDirectory() throws IOException {
        write("notes/text");
        Files.setPosixFilePermissions(earlier.resolve("notes"), PosixFilePermissions.fromString("rwxr-x---"));
        Files.setPosixFilePermissions(earlier, PosixFilePermissions.fromString("rwxr-x--x"));
        UserPrincipal owner = Files.getOwner(earlier);
        if (owner.getName().equals("root")) { // which may give files to others
            owner = earlier.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
            for (String name : new String[] {"", "notes", "notes/text", "token.secret"}) {
                Files.setOwner(earlier.resolve(name), owner);
            }
        }

        make();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
                .isEqualTo("rwxr-x--x");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made.resolve("notes"))))
                .isEqualTo("rwxr-x---");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made.resolve("database.url"))))
                .isEqualTo("rw-------");
        for (String name : new String[] {"", "notes", "notes/text", "token.secret", "database.url"}) {
            assertThat(Files.getOwner(made.resolve(name))).as(name).isEqualTo(owner);
        }
    }
}

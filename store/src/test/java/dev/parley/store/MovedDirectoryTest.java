package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.move.MovedDirectory;
import dev.parley.store.spi.NotOpenedException;
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
    void aLinkToADirectoryOfTheEarlierOneNamesThatOfTheNewOne() throws IOException {
        write("models/large/model.bin");
        Files.createDirectories(earlier.resolve("notes/new"));
        Files.createSymbolicLink(earlier.resolve("current"), earlier.resolve("models/large"));
        Files.createSymbolicLink(earlier.resolve("notes/new/models"), Path.of("..", "..", "models"));
        Files.createSymbolicLink(earlier.resolve("notes/self"), Path.of("."));

        make();
        make();

        assertThat(Files.readSymbolicLink(made.resolve("current"))).isEqualTo(Path.of("models", "large"));
        assertThat(made.resolve("notes/new/models").toRealPath())
                .isEqualTo(made.resolve("models").toRealPath());
        assertThat(made.resolve("notes/self").toRealPath())
                .isEqualTo(made.resolve("notes").toRealPath());
    }

    @Test
    void aLinkWithoutAFileStaysALink() throws IOException {
        Files.createSymbolicLink(earlier.resolve("gone"), Path.of("missing"));
        Files.createSymbolicLink(earlier.resolve("loop"), Path.of("loop"));

        make();
        make();

        assertThat(Files.readSymbolicLink(made.resolve("gone"))).isEqualTo(Path.of("missing"));
        assertThat(Files.readSymbolicLink(made.resolve("loop"))).isEqualTo(Path.of("loop"));
    }

    @Test
    void linksInTheNewDirectoryAreNotFollowed() throws IOException {
        write("notes/text");
        make();
        Path others = Files.createDirectory(parent.resolve("others"));
        Files.setPosixFilePermissions(others, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path file = Files.writeString(parent.resolve("file"), "of others");
        Files.delete(made.resolve("token.secret"));
        Files.createSymbolicLink(made.resolve("token.secret"), file);

        make();

        assertThat(file).hasContent("of others");
        assertThat(made.resolve("token.secret")).hasContent("token.secret").isRegularFile();

        Files.delete(made.resolve("notes/text"));
        Files.delete(made.resolve("notes"));
        Files.createSymbolicLink(made.resolve("notes"), others);

        assertThatThrownBy(this::make)
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("directory " + made.resolve("notes") + ": it is a symbolic link");
        assertThat(others).isEmptyDirectory();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(others)))
                .isEqualTo("rwxr-xr-x");
    }

    @Test
    void aDirectoryThatIsALinkOrHasNoParentIsRefused() throws IOException {
        Path others = Files.createDirectory(parent.resolve("others"));
        Path link = Files.createSymbolicLink(parent.resolve("link"), others);
        Path inside = Files.createSymbolicLink(parent.resolve("inside"), earlier);
        Path file = Files.writeString(parent.resolve("file"), "text");

        assertThatThrownBy(() -> MovedDirectory.check(earlier, link, URL))
                .hasMessageContaining("it is a symbolic link");
        assertThatThrownBy(() -> MovedDirectory.make(earlier, link, URL)).hasMessageContaining("it is a symbolic link");
        assertThatThrownBy(() -> MovedDirectory.check(earlier, inside.resolve("new"), URL))
                .hasMessageContaining("it is in the earlier data directory");
        assertThatThrownBy(() -> MovedDirectory.check(earlier, parent.resolve("missing/new"), URL))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("missing", "does not exist");
        assertThatThrownBy(() -> MovedDirectory.check(earlier, file.resolve("new"), URL))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("Not a directory");
        assertThat(others).isEmptyDirectory();
        assertThat(parent.resolve("missing")).doesNotExist();
    }

    @Test
    void rootWritesNothingIntoTheDirectoryOfAnotherUser() throws IOException {
        Files.createDirectory(made);
        String user = System.getProperty("user.name");
        if (user.equals("root")) {
            Files.setOwner(
                    made, made.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
        }
        System.setProperty("user.name", "root");
        try {
            assertThatThrownBy(() -> MovedDirectory.check(earlier, made, URL))
                    .isInstanceOf(NotOpenedException.class)
                    .hasMessageContaining("it belongs to " + Files.getOwner(made) + ": run the command as that user");
        } finally {
            System.setProperty("user.name", user);
        }
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

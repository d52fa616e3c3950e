package dev.parley.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.dialect.Json;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.Store;
import dev.parley.store.move.DatabaseCopy;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Archives of {@code parley backup}, whole and damaged, and what {@code parley restore} makes of them. */
@Tag("heavy")
@Timeout(120)
final class BackupCommandTest {
    private static final String KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    private static final String MANIFEST = "manifest.json";

    @TempDir
    private Path directory;

    private Path data;
    private Path archive;

    @BeforeEach
    void backUp() throws IOException {
        data = directory.resolve("data");
        archive = directory.resolve("backup.zip");
        Store.open(data).close();
        Files.writeString(data.resolve("encryption.key"), KEY);
        Files.createDirectories(data.resolve("cards"));
        Files.writeString(data.resolve("cards/one.key"), "a key");
        Files.createSymbolicLink(data.resolve("linked"), Path.of("cards/one.key"));
        Files.createDirectories(data.resolve("other"));
        Files.writeString(data.resolve("other/parley.lock"), "of another hub");
        Ran ran = run("backup", "backup.zip", "--data", "data");
        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.err()).contains("not in the archive: \"other\" (of another hub)");
    }

    private Ran run(String... args) {
        return new Shell(directory).run(args);
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private Map<String, byte[]> members() throws IOException {
        var members = new TreeMap<String, byte[]>();
        try (var zip = new ZipFile(archive.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                members.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
            }
        }
        return members;
    }

    private static byte[] zip(Map<String, byte[]> members) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> member : members.entrySet()) {
                zip.putNextEntry(new ZipEntry(member.getKey()));
                zip.write(member.getValue());
            }
        }
        return bytes.toByteArray();
    }

    /** The archive with a further file, which the manifest lists, too. */
    private byte[] with(String name) throws IOException {
        var members = new LinkedHashMap<>(members());
        byte[] content = "content".getBytes(StandardCharsets.UTF_8);
        var manifest = new LinkedHashMap<String, Object>(manifest(members));
        var listed = new ArrayList<Object>((List<?>) manifest.get("members"));
        String hash = HexFormat.of().formatHex(Sha256.of(content));
        listed.add(Map.of("name", name, "bytes", content.length, "sha256", hash));
        manifest.put("members", listed);
        members.put(name, content);
        members.put(MANIFEST, Json.write(manifest));
        return zip(members);
    }

    private byte[] with(String member, Object value) throws IOException {
        Map<String, byte[]> members = members();
        var manifest = new LinkedHashMap<String, Object>(manifest(members));
        manifest.put(member, value);
        members.put(MANIFEST, Json.write(manifest));
        return zip(members);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> manifest(Map<String, byte[]> members) {
        return Json.read(requireNonNull(members.get(MANIFEST)), Map.class);
    }

    /** The archive with a link that leads out of the directory, as zip programs write it. */
    private byte[] withLink() throws IOException {
        Map<String, byte[]> members = members();
        members.put("zz", "/etc".getBytes(StandardCharsets.UTF_8));
        byte[] zip = zip(members);
        String text = new String(zip, StandardCharsets.ISO_8859_1);
        int header = text.lastIndexOf("PK\u0001\u0002");
        assertThat(text.indexOf("zz", header)).isPositive();
        zip[header + 5] = 3; // made by Unix
        zip[header + 41] = (byte) 0xA1; // a link with all permissions
        zip[header + 40] = (byte) 0xFF;
        return zip;
    }

    private void assertRefused(byte[] damaged, String problem) throws IOException {
        Files.write(directory.resolve("damaged.zip"), damaged);
        List<String> before = names(directory);

        Ran ran = run("restore", "damaged.zip", "--data", "restored");

        assertThat(ran.status()).as(ran.out() + ran.err()).isOne();
        assertThat(ran.err()).contains("damaged.zip", problem, "expected: ", "Hint: nothing was restored");
        assertThat(names(directory)).isEqualTo(before);
    }

    @Test
    void allFilesComeBackForTheirOwnerOnly() throws Exception {
        assertThat(members().keySet())
                .containsExactly("cards/one.key", "encryption.key", "linked", MANIFEST, "parley.db");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)))
                .isEqualTo("rw-------");
        Files.createDirectory(directory.resolve("empty"));

        for (String made : List.of("new", "empty")) {
            Ran ran = run("restore", "backup.zip", "--data", made);

            assertThat(ran.status()).as(ran.err()).isZero();
            Path restored = directory.resolve(made);
            assertThat(ran.out()).contains("parley doctor --data " + restored, "parley up --data " + restored);
            assertThat(names(restored)).containsExactly("cards", "encryption.key", "linked", "parley.db");
            assertThat(restored.resolve("linked")).isRegularFile().hasContent("a key");
            for (String name : List.of("cards/one.key", "encryption.key", "parley.db")) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(restored.resolve(name))))
                        .isEqualTo("rw-------");
            }
            Store.open(restored).close();
        }
    }

    @Test
    void nothingIsReplacedUnlessTheOperatorSaysSo() throws Exception {
        byte[] before = Files.readAllBytes(archive);
        Files.createSymbolicLink(directory.resolve("link"), directory.resolve("nowhere"));

        assertThat(run("backup", "backup.zip", "--data", "data").err()).contains("exists", "--force");
        assertThat(archive).hasBinaryContent(before);
        assertThat(run("backup", "backup.zip", "--data", "data", "--force").status())
                .isZero();
        assertThat(run("backup", "data/backup.zip", "--data", "data").err()).contains("in the data directory");
        assertThat(run("backup", "missing/backup.zip", "--data", "data").err()).contains("its directory is missing");
        assertThat(run("restore", "backup.zip", "--data", "data").err()).contains("not empty");
        assertThat(run("restore", "backup.zip", "--data", "link").err()).contains("a symbolic link");
        assertThat(run("restore", "backup.zip").err()).contains("--data DIR");
        assertThat(names(directory)).containsExactly("backup.zip", "data", "link");
    }

    @Test
    void aDirectoryThatAHubBeginsToUseIsRefused() throws Exception {
        Path taken = directory.resolve("taken");
        try (Closeable hub = DatabaseCopy.hold(taken)) {
            Ran ran = run("restore", "backup.zip", "--data", "taken");

            assertThat(ran.status()).isOne();
            assertThat(ran.err()).contains("in use");
            assertThat(names(taken)).containsExactly("parley.lock");
        }
        assertThat(run("restore", "backup.zip", "--data", "taken").status()).isZero();
        assertThat(names(taken)).containsExactly("cards", "encryption.key", "linked", "parley.db");
    }

    @Test
    void aDirectoryOfAnotherUserIsRefusedForRoot() throws Exception {
        assumeThat(System.getProperty("user.name")).isEqualTo("root");
        UserPrincipal other =
                directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
        Path foreign = Files.createDirectory(directory.resolve("foreign"));
        Files.setOwner(foreign, other);
        Path link = Files.createSymbolicLink(data.resolve("taken"), Path.of("/etc/passwd"));
        Files.setAttribute(link, "posix:owner", other, LinkOption.NOFOLLOW_LINKS);

        assertThat(run("restore", "backup.zip", "--data", "foreign").err())
                .contains("belongs to nobody", "run the command as nobody");
        assertThat(names(foreign)).isEmpty();
        assertThat(run("backup", "backup.zip", "--data", "data", "--force").err())
                .contains("\"taken\" (a link to a file of another user)");
        assertThat(members()).doesNotContainKey("taken");
    }

    @Test
    void filesThatCannotBeRestoredAreRefusedByName() throws Exception {
        for (String name : List.of("manifest.json", "a:b", "cards/a\\b")) {
            Path file = Files.writeString(data.resolve(name), "content");

            Ran ran = run("backup", "backup.zip", "--data", "data", "--force");

            assertThat(ran.status()).as(name).isOne();
            assertThat(ran.err()).contains("file \"" + file, "expected: ", "move the file out of the data directory");
            Files.delete(file);
        }
    }

    @Test
    void keysThatAreNotInTheArchiveAreNamed() throws Exception {
        Files.writeString(directory.resolve("hub.keys"), KEY);

        assertThat(run("backup", "new.zip", "--data", "data", "--encryption-key-file", "hub.keys")
                        .err())
                .contains("the archive has no key of encryption: keep the file of --encryption-key-file");
        assertThat(run("restore", "new.zip", "--data", "new", "--encryption-key-file", "hub.keys")
                        .out())
                .contains("parley up --data " + directory.resolve("new") + " --encryption-key-file hub.keys");
    }

    @Test
    void aDamagedArchiveIsRefusedAndLeavesNothing() throws Exception {
        byte[] whole = Files.readAllBytes(archive);
        for (int part = 2; part < 5; part++) { // of the database, which fills the middle
            byte[] flipped = whole.clone();
            flipped[whole.length * part / 7] ^= 4;
            assertRefused(flipped, "damaged.zip");
        }
        for (int length : List.of(0, 1000, whole.length - 1)) {
            assertRefused(Arrays.copyOf(whole, length), "damaged");
        }
        var members = members();
        members.put("encryption.key", "another".getBytes(StandardCharsets.UTF_8));
        assertRefused(zip(members), "file \"encryption.key\": damaged");
        members.remove("encryption.key");
        assertRefused(zip(members), "file \"encryption.key\": missing");
        members.remove(MANIFEST);
        assertRefused(zip(members), "no manifest.json");
    }

    @Test
    void anArchiveThatReachesOutOfTheDirectoryIsRefused() throws Exception {
        for (String name : List.of("../outside", "cards/../../outside", "/tmp/outside", "c:\\outside", "cards//two")) {
            assertRefused(with(name), "leaves the directory");
        }
        for (String name : List.of("database.url", "parley.lock", "parley.db-wal")) {
            assertRefused(with(name), "not part of a backup");
        }
        assertRefused(withLink(), "file \"zz\": not in manifest.json");
        assertThat(directory.resolve("outside")).doesNotExist();
    }

    @Test
    void aBackupOfANewerProgramIsRefused() throws Exception {
        assertRefused(with("schema", 1_000), "the tables of tasks have version 1000");
        assertRefused(with("modules", Map.of("audit", 1_000)), "the tables of \"audit\" have version 1000");
        assertRefused(with("parleyBackup", 2), "a newer Parley wrote the backup");
    }
}

package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.task.DownloadFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files named by strangers stay where the user wants them. */
@Timeout(60)
class DownloadTest {
    private static final String TASK = """
            {"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[\
            {"artifactId":"a1","parts":[{"raw":"YWJj","filename":"../../evil.txt"},{"text":"plain"},\
            {"data":{"n":1}},{"url":"https://example.com/never","filename":"remote"}]},\
            {"artifactId":"a2","parts":[{"text":"again","filename":"evil.txt"}]}]}""";

    @TempDir
    Path directory;

    @Test
    @Tag("A2ACLI_DOWNLOAD_001")
    void artifactsAreSavedBelowTheDirectoryOnly() throws IOException {
        try (var agent = new ScriptedServer().on("GetTask", TASK)) {
            Path below = directory.resolve("a/b");

            Shell.Ran ran = new Shell(directory).run("task", "download", "t1", "-a", agent.url(), "--dir", "a/b");

            Path real = below.toRealPath();
            assertThat(ran.out()).isEqualTo("""
                    Task-ID: t1
                    Context-ID: c1
                    State: TASK_STATE_COMPLETED
                    Saved: %1$s/evil.txt
                    Saved: %1$s/a1-1.txt
                    Saved: %1$s/a1-2.json
                    Saved: %1$s/evil-1.txt
                    """.formatted(real));
            assertThat(below.resolve("evil.txt")).hasContent("abc");
            assertThat(below.resolve("evil-1.txt")).hasContent("again");
            assertThat(directory.resolve("evil.txt")).doesNotExist();
            assertThat(ran.err()).contains("not fetched: https://example.com/never");
        }
    }

    @Test
    void oneArtifactCanBeChosen() {
        try (var agent = new ScriptedServer().on("GetTask", TASK)) {
            Shell shell = new Shell(directory);

            Shell.Ran one = shell.run("task", "download", "t1", "-a", agent.url(), "--artifact", "a2");
            Shell.Ran none = shell.run("task", "download", "t1", "-a", agent.url(), "--artifact", "a9");

            assertThat(one.out()).contains("evil.txt").doesNotContain("a1-1");
            assertThat(none.err()).contains("no artifact a9 (expected: one of a1, a2)");
        }
    }

    @Test
    void nothingThatExistsIsOverwrittenUnasked() throws IOException {
        Files.writeString(directory.resolve("x.txt"), "mine");
        byte[] theirs = "theirs".getBytes(StandardCharsets.UTF_8);

        Path beside = new DownloadFolder(directory, false).save("x.txt", "f", theirs);
        assertThat(beside.getFileName()).hasToString("x-1.txt");
        assertThat(directory.resolve("x.txt")).hasContent("mine");

        new DownloadFolder(directory, true).save("x.txt", "f", theirs);
        assertThat(directory.resolve("x.txt")).hasContent("theirs");
    }

    @Test
    void linksAreNotFollowed() throws IOException {
        Path outside = Files.writeString(directory.resolve("outside"), "mine");
        Path folder = Files.createDirectory(directory.resolve("folder"));
        Files.createSymbolicLink(folder.resolve("link"), outside);
        byte[] theirs = "theirs".getBytes(StandardCharsets.UTF_8);

        new DownloadFolder(folder, false).save("link", "f", theirs);
        new DownloadFolder(folder, true).save("link", "f", theirs);

        assertThat(outside).hasContent("mine");
        assertThat(folder.resolve("link")).hasContent("theirs");
    }

    @Test
    void namesLoseWhatIsSpecialInThem() {
        assertThat(DownloadFolder.safe("/etc/passwd")).isEqualTo("passwd");
        assertThat(DownloadFolder.safe("C:\\Windows\\win.ini")).isEqualTo("win.ini");
        assertThat(DownloadFolder.safe("..")).isEmpty();
        assertThat(DownloadFolder.safe(".bashrc")).isEqualTo("bashrc");
        assertThat(DownloadFolder.safe("-rf")).isEqualTo("rf");
        assertThat(DownloadFolder.safe("a/.-- -x.txt")).isEqualTo("x.txt");
        assertThat(DownloadFolder.safe("a\u0000b\u001b[31m\n.txt")).isEqualTo("ab[31m.txt");
        assertThat(DownloadFolder.safe("photo\u202egpj.exe")).isEqualTo("photogpj.exe");
        assertThat(DownloadFolder.safe("nul.txt")).isEmpty();
        assertThat(DownloadFolder.safe("name. . ")).isEqualTo("name");
        assertThat(DownloadFolder.safe("x:stream")).isEqualTo("xstream");
        assertThat(DownloadFolder.safe("ä".repeat(300) + ".txt").getBytes(StandardCharsets.UTF_8))
                .hasSizeLessThanOrEqualTo(200)
                .endsWith(".txt".getBytes(StandardCharsets.UTF_8));
    }
}

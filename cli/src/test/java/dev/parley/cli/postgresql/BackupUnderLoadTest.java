package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley backup} and {@code parley restore} of a hub on SQLite that clients send to, each a process of its own. */
@Tag("heavy")
@Timeout(180)
final class BackupUnderLoadTest {
    private static final Pattern KEY = Pattern.compile("\"key\":\"([^\"]+)\"");
    private static final int UNAUTHORIZED = 401;

    /** Kibibytes of the largest file of a process that meets a full disk: less than an empty database. */
    private static final int FULL = 100;

    @TempDir
    private Path directory;

    private record Ran(int status, String output) {}

    private Ran run(List<String> shell, String... words) throws IOException, InterruptedException {
        var command = new ArrayList<>(shell);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-Duser.home=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                "dev.parley.cli.Main"));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return new Ran(process.exitValue(), output);
    }

    private String done(String... words) throws IOException, InterruptedException {
        Ran ran = run(List.of(), words);
        assertThat(ran.status()).as(ran.output()).isZero();
        return ran.output();
    }

    /** Answers of a hub that a restored one has to give, too: the events of tasks, from the first one. */
    private static Map<String, String> events(String url, List<String> tasks) throws IOException, InterruptedException {
        var events = new LinkedHashMap<String, String>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (String task : tasks) {
                HttpRequest request = HttpRequest.newBuilder(
                                URI.create(url + "/agents/echo/tasks/" + task + ":subscribe"))
                        .header("A2A-Version", "1.0")
                        .header("Last-Event-ID", "0")
                        .POST(BodyPublishers.noBody())
                        .build();
                events.put(task, client.send(request, BodyHandlers.ofString()).body());
            }
        }
        return events;
    }

    private static int statusWith(String key, String url) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/agents/echo/tasks"))
                    .header("A2A-Version", "1.0")
                    .header("Authorization", "Bearer " + key)
                    .build();
            return client.send(request, BodyHandlers.discarding()).statusCode();
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void assertNothingIsLeftOnAFullDisk(String data) throws IOException, InterruptedException {
        List<String> names = names();

        Ran full = run(
                List.of("bash", "-c", "ulimit -f " + FULL + "; exec \"$@\"", "full"),
                "backup",
                "full.zip",
                "--data",
                data);

        assertThat(full.status()).as(full.output()).isOne();
        assertThat(full.output()).contains("PARLEY_ERR_DATA", "was not copied", "space");
        assertThat(names()).isEqualTo(names);
    }

    @Test
    void aHubThatIsRestoredAfterAKillHasAllThatWasAcknowledgedBeforeItsBackupBegan() throws Exception {
        String data = directory.resolve("first/data").toString();
        Map<String, String> before;
        Map<String, String> events;
        String key;
        try (var hub = HubProcess.startWithSqlite(directory.resolve("first"))) {
            Matcher created = KEY.matcher(
                    done("key", "create", "-a", hub.url(), "--group", "default", "--principal", "bob", "-o", "json"));
            assertThat(created.find()).isTrue();
            key = created.group(1);
            assertNothingIsLeftOnAFullDisk(data);
            try (var senders = new Senders(hub.calls(), 2)) {
                senders.await(100);
                before = senders.acknowledged();
                done("backup", "backup.zip", "--data", data);
                senders.await(10);
            }
            events = events(hub.url(), before.values().stream().limit(20).toList());
        } // which kills the hub

        String report = done("restore", "backup.zip", "--data", "second/data");

        assertThat(report).contains("Audit: verified", "parley up --data ");
        try (var restored = HubProcess.startWithSqlite(directory.resolve("second"))) {
            Senders.verify(restored.calls(), before);
            assertThat(events(restored.url(), List.copyOf(events.keySet()))).isEqualTo(events);
            assertThat(done("audit", "verify", "-a", restored.url())).contains("Chain: good");
        }
        try (var guarded = HubProcess.startWithSqlite(directory.resolve("second"), "--auth", "required")) {
            assertThat(statusWith(key, guarded.url())).isEqualTo(Answer.OK);
            assertThat(statusWith(key + "x", guarded.url())).isEqualTo(UNAUTHORIZED);
        }
    }
}

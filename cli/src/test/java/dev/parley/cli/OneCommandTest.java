package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley one …} against a hub. */
@Timeout(120)
@Tag("heavy")
final class OneCommandTest {
    @TempDir
    private Path directory;

    private final Hub hub = Hub.builder()
            .agents(Agent.named("researcher", "Researches")
                    .skill("research", "Researches a topic")
                    .handle((request, reply) -> {
                        if (request.text().equals("nothing")) {
                            reply.fail("no source");
                        } else {
                            reply.progress(50, "reading");
                            reply.complete("about " + request.text());
                        }
                    }))
            .inMemory()
            .port(0)
            .webhookAllow(List.of("127.0.0.1"))
            .drain(Duration.ofMillis(200))
            .start();

    @AfterEach
    void end() {
        hub.close();
    }

    private Ran one(String... args) {
        var all = new String[args.length + 1];
        all[0] = "one";
        System.arraycopy(args, 0, all, 1, args.length);
        return new Shell(directory)
                .with("A2ACLI_AGENT_CARD", hub.agentUrl("researcher"))
                .run(all);
    }

    @Test
    @DisplayName(
            "ONE04: parley one send delegates, waits, and prints the result as text or JSON; progress goes to stderr")
    void send() {
        Ran text = one("send", "research", "--parameters", "{\"topic\": \"tides\"}");
        Ran json = one("send", "research", "--parameters", "{\"topic\": \"tides\"}", "-o", "json");

        assertThat(text.status()).as(text.err()).isZero();
        assertThat(text.out()).contains("Status: completed").contains("about tides");
        assertThat(text.err()).contains("accepted");
        Map<?, ?> result = Json.read(json.out().getBytes(UTF_8), Map.class);
        assertThat(result.get("status")).isEqualTo("completed");
        assertThat(result.get("result")).isEqualTo("about tides");
    }

    @Test
    @DisplayName("ONE05, ONE07: parley one send fails with the code of a refusal or of the task, and sends queries")
    void refusalsAndQueries() {
        Ran failed = one("send", "research", "--parameters", "{\"topic\": \"nothing\"}");
        Ran unknown = one("send", "paint");
        Ran wrong = one("send", "research", "--priority", "urgent");
        Ran query = one("send", "--query", "waves", "-o", "json");

        assertThat(failed.status()).isEqualTo(1);
        assertThat(failed.err()).contains("no source");
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("paint").contains("research");
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err()).contains("urgent").contains("critical");
        assertThat(query.status()).as(query.err()).isZero();
        assertThat(query.out()).contains("about waves");
    }

    @Test
    @DisplayName("ONE08: parley one listen prints callbacks as lines of JSON")
    void listen() throws Exception {
        var out = new ByteArrayOutputStream();
        var err = new WaitingStream("/callbacks");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var listening = CompletableFuture.supplyAsync(
                    () -> new Shell(directory)
                            .run(out, err, "one", "listen", "--as", "planner", "--path", "/callbacks", "--count", "1"),
                    threads);
            String url = err.found.get(60, TimeUnit.SECONDS);
            Ran sent = one(
                    "send", "research", "--as", "planner", "--callback", url, "--parameters", "{\"topic\":\"tides\"}");

            assertThat(sent.status()).as(sent.err()).isZero();
            assertThat(sent.out()).contains("accepted");
            assertThat(listening.get(60, TimeUnit.SECONDS)).isZero();
        }
        Map<?, ?> message = Json.read(out.toByteArray(), Map.class);
        assertThat(message.get("version")).isEqualTo("1.0");
        assertThat(String.valueOf(message.get("to"))).contains("planner");
    }

    /** Completes with the address in the line that has it. */
    private static final class WaitingStream extends ByteArrayOutputStream {
        final CompletableFuture<String> found = new CompletableFuture<>();
        private final Pattern address;

        WaitingStream(String path) {
            this.address = Pattern.compile("http://\\S+" + path);
        }

        @Override
        public synchronized void write(byte[] bytes, int start, int length) {
            super.write(bytes, start, length);
            var line = address.matcher(toString(UTF_8));
            if (line.find()) {
                found.complete(line.group());
            }
        }
    }

    @Test
    @DisplayName("the command lines of docs/mesh.md run")
    void commandLinesOfTheDocumentation() throws Exception {
        List<List<String>> lines = Pattern.compile("(?m)^parley (.*)$")
                .matcher(Files.readString(Path.of("../docs/mesh.md")))
                .results()
                .map(line -> words(line.group(1)))
                .filter(words -> Set.of("one", "card").contains(words.getFirst()))
                .filter(words -> !words.contains("listen"))
                .toList();

        assertThat(lines).hasSizeGreaterThanOrEqualTo(5);
        for (List<String> words : lines) {
            Ran ran = new Shell(directory).run(words.toArray(String[]::new));
            assertThat(ran.status()).as(words + ": " + ran.err()).isZero();
        }
    }

    /** The words of a command line, which calls this hub. */
    private List<String> words(String line) {
        return Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)")
                .matcher(line)
                .results()
                .map(word -> word.group().replaceAll("^['\"]|['\"]$", ""))
                .map(word -> word.replace("http://127.0.0.1:7420", hub.url()))
                .toList();
    }

    @Test
    @DisplayName("ONE30: keys for encrypted content are made, and their public halves printed")
    void keys() throws Exception {
        Ran created = one("key", "create", "enc.json", "-o", "json");
        Ran shown = one("key", "public", "enc.json");
        Ran again = one("key", "create", "enc.json");

        assertThat(created.status()).as(created.err()).isZero();
        Object id = Json.read(created.out().getBytes(UTF_8), Map.class).get("keyId");
        assertThat(shown.out()).contains(String.valueOf(id)).doesNotContain("\"d\"");
        assertThat(Files.readString(directory.resolve("enc.json"))).contains("\"d\"");
        assertThat(again.status()).isEqualTo(2);
        assertThat(again.err()).contains("exists already");
    }
}

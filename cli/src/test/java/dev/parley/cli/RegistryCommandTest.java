package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.agents.DemoAgents;
import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.trust.cards.CardKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley agent …} and {@code parley discover} against the registry of a hub. */
@Timeout(120)
final class RegistryCommandTest {
    @TempDir
    Path directory = Path.of("");

    private final Hub hub = Hub.builder()
            .set("registry-publisher", "agent.localhost")
            .agents(DemoAgents.all().stream()
                    .filter(agent -> agent.name().equals("echo"))
                    .toArray(Agent[]::new))
            .inMemory()
            .port(0)
            .drain(Duration.ofMillis(200))
            .start();
    private Shell shell = new Shell(directory);

    @BeforeEach
    void begin() throws IOException {
        shell = new Shell(directory);
        Ran card = shell.run("card", "get", "-a", hub.agentUrl("echo"), "-o", "json");
        assertThat(card.status()).as(card.err()).isZero();
        Files.writeString(
                directory.resolve("card.json"), card.out().replace("\"name\":\"echo\"", "\"name\":\"mirror\""));
    }

    @AfterEach
    void end() {
        hub.close();
    }

    @Test
    @DisplayName("GEM13 an agent is registered from a file, listed, searched, shown and deleted")
    void record() {
        Ran registered = ok("agent", "register", "card.json", "--visibility", "public");
        assertThat(registered.out()).contains("urn:air:agent.localhost:default:mirror", "Visibility: public");
        String id = "urn:air:agent.localhost:default:mirror";

        assertThat(ok("agent", "list").out()).contains(id, "mirror");
        assertThat(ok("agent", "list", "--skill", "echo", "-o", "json").out()).contains("\"agents\":[{");
        assertThat(ok("agent", "search", "mirror").out()).contains(id);
        assertThat(ok("agent", "search", "the", "mirror", "agent", "--skill", "echo")
                        .out())
                .contains(id);
        assertThat(shell.run("agent", "search", "--url", hub.url()).err()).contains("WORDS");
        assertThat(shell.run("agent", "diff", id, "--url", hub.url()).err()).contains("no version before 1");
        assertThat(ok("agent", "show", id).out()).contains("Name: mirror", "Status: active");
        assertThat(ok("agent", "show", id, "-o", "json").out()).startsWith("{\"id\":\"" + id);
        ok("agent", "delete", id);
        assertThat(ok("agent", "list").out()).doesNotContain(id);
    }

    @Test
    @DisplayName("a card is inspected from a file and at an address, and not registered")
    void inspected() {
        Ran file = ok("agent", "inspect", "card.json");
        assertThat(file.out())
                .contains("Dialect: A2A 1.0", "Signature: unsigned", "A2A 1.0, 8.4", "/signatures", "reachable");
        Ran address = ok("agent", "inspect", hub.agentUrl("echo"), "-o", "json");
        assertThat(address.out()).contains("\"dialect\":\"A2A 1.0\"", "\"reachable\":true");
        assertThat(ok("agent", "list").out()).doesNotContain("mirror");
    }

    @Test
    @DisplayName("D12, S116: agents with names in other scripts are registered, shown, searched and kept apart")
    void unicodeNames() throws IOException {
        String card = Files.readString(directory.resolve("card.json"));
        for (String name : List.of("\u7ffb\u8a33", "\u8981\u7d04")) {
            Files.writeString(
                    directory.resolve("card.json"), card.replace("\"name\":\"mirror\"", "\"name\":\"" + name + "\""));
            assertThat(ok("agent", "register", "card.json", "--visibility", "public")
                            .out())
                    .contains("Name: " + name);
        }

        for (String name : List.of("\u7ffb\u8a33", "\u8981\u7d04")) {
            String shown = ok("agent", "show", "urn:air:agent.localhost:default:" + name)
                    .out();
            assertThat(shown).contains("Name: " + name);
            String id = shown.lines()
                    .filter(line -> line.startsWith("Id: "))
                    .findFirst()
                    .orElseThrow()
                    .substring("Id: ".length());
            assertThat(ok("agent", "search", name).out()).contains(id);
            assertThat(ok("discover", name).out()).contains(id);
        }
    }

    @Test
    @DisplayName("kinds of changes that a version must not have are options that are repeated")
    void refusedChanges() throws IOException {
        String id = "urn:air:agent.localhost:default:mirror";
        ok("agent", "register", "card.json", "--refuse", "breaking", "--refuse", "trust");
        String card = Files.readString(directory.resolve("card.json"));
        Files.writeString(directory.resolve("other.json"), card.replace("\"id\":\"echo\"", "\"id\":\"other\""));

        Ran refused =
                shell.run("agent", "register", "other.json", "--id", id, "--refuse", "breaking", "--url", hub.url());
        Ran wrong = shell.run("agent", "publish", id, "--refuse", "nonsense", "--url", hub.url());

        assertThat(refused.err()).contains("skill removed");
        assertThat(wrong.err()).contains("nonsense", "breaking, trust, safe");
    }

    @Test
    @DisplayName("entries are exported to a file and imported from it")
    void exported() throws IOException {
        ok("agent", "register", "card.json", "--visibility", "public");
        assertThat(ok("agent", "export", "all.jsonl").out()).contains("Agents: ");
        assertThat(Files.readString(directory.resolve("all.jsonl"))).contains("default:mirror");
        ok("agent", "delete", "urn:air:agent.localhost:default:mirror");
        Files.writeString(
                directory.resolve("one.jsonl"),
                Files.readAllLines(directory.resolve("all.jsonl")).stream()
                        .filter(line -> line.contains("default:mirror"))
                        .findFirst()
                        .orElseThrow());

        Ran imported = ok("agent", "import", "one.jsonl");

        assertThat(imported.out()).contains("Imported: 1");
        assertThat(ok("agent", "list").out()).contains("default:mirror");
    }

    @Test
    @DisplayName("ONE18 the best agent for a text is found, with the reason, and gets a text")
    void discover() {
        ok("agent", "register", "card.json", "--visibility", "public");

        Ran found = ok("discover", "mirror");

        assertThat(found.out()).contains("urn:air:agent.localhost:default:mirror", "score");
        assertThat(ok("discover", "mirror", "-o", "json").out()).contains("\"results\":[{");
        Ran ran = ok("discover", "mirror", "--run", "hello there");
        assertThat(ran.err()).contains("sending to mirror (urn:air:agent.localhost:default:mirror)");
        assertThat(ran.out()).contains("hello there");
        assertThat(ok("discover").out()).contains("default:mirror");
        assertThat(ok("discover", "an", "agent", "like", "a", "mirror").out()).contains("default:mirror");
    }

    @Test
    @DisplayName(
            "ONE37 an agent on the signed list of revocations is named as revoked and gets no text, though an old answer has it")
    void revoked() throws IOException {
        Path key = directory.resolve("key.json");
        CardKeys.create(key, CardKeys.Algorithm.ES256, null);
        CardKeys keys = CardKeys.read(List.of(key));
        Files.write(directory.resolve("trusted.json"), keys.published());
        Agent[] agents = {Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text()))};
        AtomicReference<byte @Nullable []> old = new AtomicReference<>();
        try (Hub signing = Hub.builder()
                        .set("registry-publisher", "agent.localhost")
                        .agents(agents)
                        .inMemory()
                        .port(0)
                        .drain(Duration.ofMillis(200))
                        .cardKeys(keys)
                        .start();
                HttpClient http = HttpClient.newHttpClient()) {
            HttpServer cache = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            cache.createContext("/", exchange -> {
                byte[] body = exchange.getRequestBody().readAllBytes();
                boolean isSearch = exchange.getRequestURI().getPath().endsWith("/ard/search");
                byte[] kept = old.get();
                byte[] answer = isSearch && kept != null
                        ? kept
                        : forwarded(http, signing.url() + exchange.getRequestURI(), exchange.getRequestMethod(), body);
                exchange.getResponseHeaders().set("Content-Type", "application/json");
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
                exchange.close();
            });
            cache.start();
            try {
                String url = "http://127.0.0.1:" + cache.getAddress().getPort();
                String[] register = {"agent", "register", "card.json", "--visibility", "public", "--url", signing.url()
                };
                assertThat(shell.run(register).status()).isZero();
                String id = "urn:air:agent.localhost:default:mirror";
                String[] discover = {
                    "discover",
                    "mirror",
                    "--url",
                    url,
                    "--allow-origin",
                    url,
                    "--allow-origin",
                    signing.url(),
                    "--trust",
                    "trusted.json"
                };
                Ran before = shell.run(discover);
                assertThat(before.status()).as(before.err()).isZero();
                assertThat(before.out()).contains(id);
                old.set(forwarded(
                        http,
                        signing.url() + "/registry/ard/search",
                        "POST",
                        "{\"query\":{\"text\":\"mirror\"}}".getBytes(UTF_8)));
                assertThat(shell.run("agent", "revoke", id, "--reason", "stolen", "--url", signing.url())
                                .status())
                        .isZero();

                Ran after = shell.run(discover);
                String[] run = Arrays.copyOf(discover, discover.length + 2);
                run[discover.length] = "--run";
                run[discover.length + 1] = "hello there";
                Ran refused = shell.run(run);

                assertThat(after.status()).as(after.err()).isZero();
                assertThat(after.out()).doesNotContain(id);
                assertThat(after.err()).contains(id + " is revoked");
                assertThat(refused.err()).doesNotContain("sending to mirror");
            } finally {
                cache.stop(0);
            }
        }
    }

    private static byte[] forwarded(HttpClient http, String url, String method, byte[] body) throws IOException {
        try {
            return http.send(
                            HttpRequest.newBuilder(URI.create(url))
                                    .header("Content-Type", "application/json")
                                    .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                                    .build(),
                            HttpResponse.BodyHandlers.ofByteArray())
                    .body();
        } catch (InterruptedException stopped) {
            throw new IOException(stopped);
        }
    }

    @Test
    void whatIsMissingOrWrongIsSaidWithTheWayOut() {
        Ran missing = shell.run("agent", "register", "none.json", "--url", hub.url());
        assertThat(missing.status()).isEqualTo(2);
        assertThat(missing.err()).contains("cannot read the card", "none.json");
        Ran unknown = shell.run("agent", "show", "urn:air:agent.localhost:default:none", "--url", hub.url());
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("unknown (EntryNotFoundError)", "parley agent list");
        Ran unreachable = shell.run("agent", "list", "--url", "http://127.0.0.1:1");
        assertThat(unreachable.status()).isEqualTo(3);
        assertThat(shell.run("agent", "list", "--page-size", "many", "--url", hub.url())
                        .err())
                .contains("invalid --page-size");
        assertThat(shell.run("agent", "--help").out()).contains("register", "search", "show");
        assertThat(shell.run("agent", "register", "--help").out())
                .contains("CARD-URL|FILE", "--visibility", "--human-id");
    }

    private Ran ok(String... args) {
        String[] line = Arrays.copyOf(args, args.length + 2);
        line[args.length] = "--url";
        line[args.length + 1] = hub.url();
        Ran ran = shell.run(line);
        assertThat(ran.status()).as(String.join(" ", line) + ": " + ran.err()).isZero();
        return ran;
    }
}

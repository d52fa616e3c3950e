package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The extension with parts of a hub of {@code docs/extensions.md}, compiled from the page into a jar of its own. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SampleHubExtensionTest {
    private static final String[] V1 = {"A2A-Version", "1.0"};

    @TempDir
    private static Path directory;

    private URLClassLoader loader;
    private ExtensionProtocol protocol;

    @BeforeAll
    void compile() throws Exception {
        Path jar = SampleJar.of("../docs/extensions.md", "Notes", directory)
                .write(HubExtensionSource.class, ExtensionProtocol.Provider.class);
        loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, getClass().getClassLoader());
        protocol =
                service(ExtensionProtocol.Provider.class).protocols().iterator().next();
    }

    @AfterAll
    void close() throws Exception {
        loader.close();
    }

    private <S> S service(Class<S> type) {
        return ServiceLoader.load(type, loader).stream()
                .filter(provider -> provider.type().getName().startsWith("example."))
                .map(ServiceLoader.Provider::get)
                .findFirst()
                .orElseThrow();
    }

    private HubBuilder builder() {
        return Hub.builder()
                .port(0)
                .grpcOnCards(true)
                .extension(service(HubExtensionSource.class))
                .agents(echo());
    }

    private Hub hub() {
        return builder().inMemory().start();
    }

    private static Agent echo() {
        return Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text()));
    }

    private Operation.ExtensionCall<?> add(String text) throws Exception {
        return (Operation.ExtensionCall<?>) loader.loadClass("example.Notes$Add")
                .getConstructor(String.class)
                .newInstance(text);
    }

    private static HttpResponse<String> note(Outsider outsider, String path, String text) throws Exception {
        return outsider.post(path, "{'text':'" + text + "'}", V1);
    }

    @Test
    @DisplayName(
            "metrics of an extension are counted under their names, and no caller makes their number grow without end")
    void metrics() throws Exception {
        try (Hub hub = hub()) {
            var outsider = new Outsider(hub.url());
            note(outsider, "/notes/entries", "a note of more than ten characters");
            try (Frames follow = outsider.streamOf("GET", "/notes/entries", "", V1)) {
                follow.next();

                assertThat(outsider.get("/metrics").body().lines())
                        .contains("# HELP notes_added_total Notes that were added.", "# TYPE notes_added_total counter")
                        .contains("notes_added_total{group=\"default\"} 1.0")
                        .contains("notes_followers 1.0")
                        .contains("notes_length_bucket{le=\"10.0\"} 0", "notes_length_bucket{le=\"100.0\"} 1");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    @DisplayName("an error of an extension arrives as its own constant, over each binding")
    void errors(String binding) throws Exception {
        try (Hub hub = builder().inMemory().set("notes-limit", "1").start();
                AgentClient client = AgentClient.builder()
                        .extension(protocol)
                        .prefer(binding)
                        .connect(hub.agentUrl("echo"))) {
            client.call(add("first"), CallContext.anonymous());

            Operation.ExtensionCall<?> second = add("second");
            assertThatThrownBy(() -> client.call(second, CallContext.anonymous()))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error())
                                    .isSameAs(protocol.errors().getFirst()));
            assertThat(new Outsider(hub.url()).get("/metrics").body().lines())
                    .anyMatch(line -> line.startsWith("parley_errors_total{agent=\"echo\"")
                            && line.contains("error=\"NOTES_FULL\""));
        }
    }

    @Test
    @DisplayName("an error of an extension has its code, its HTTP status and its name")
    void errorsOnTheWire() throws Exception {
        try (Hub hub = builder().inMemory().set("notes-limit", "1").start()) {
            var outsider = new Outsider(hub.url());
            note(outsider, "/agents/echo/entries", "first");

            HttpResponse<String> rest = note(outsider, "/agents/echo/entries", "second");
            Shown rpc = outsider.rpc("/agents/echo", "notes/add", "{'text':'third'}", V1);

            assertThat(rest.statusCode()).isEqualTo(507);
            assertThat(rest.body()).contains("\"reason\":\"NOTES_FULL\"");
            assertThat(rpc.at("error", "code").value()).isEqualTo(-31001);
            assertThat(rpc.at("error", "data", 0, "reason").text()).isEqualTo("NOTES_FULL");
        }
    }

    @Test
    @DisplayName(
            "an agent of an extension answers at a path of its own, streams there, and goes on after Last-Event-ID")
    void paths() throws Exception {
        try (Hub hub = hub()) {
            var outsider = new Outsider(hub.url());
            note(outsider, "/notes/entries", "one");
            note(outsider, "/agents/echo/entries", "two");

            try (Frames all = outsider.streamOf("GET", "/notes/entries", "", V1);
                    Frames rest = outsider.streamOf(
                            "GET", "/notes/entries", "", "A2A-Version", "1.0", "Last-Event-ID", "1")) {
                assertThat(requireNonNull(all.next()).at("text").text()).isEqualTo("one");
                assertThat(requireNonNull(all.next()).at("text").text()).isEqualTo("two");
                assertThat(requireNonNull(rest.next()).at("text").text()).isEqualTo("two");
                note(outsider, "/notes/entries", "three");
                assertThat(requireNonNull(rest.next()).at("number").value()).isEqualTo(3);
            }
            assertThat(outsider.get("/notesandmore", V1).statusCode()).isEqualTo(404);
            assertThat(outsider.get("/notes/.well-known/agent-card.json").body())
                    .contains("\"name\":\"notes\"");
        }
    }

    @Test
    @DisplayName(
            "an agent of an extension calls other agents on behalf of its caller, and only those that the caller may use")
    void callsOfAgents() throws Exception {
        Path policy = directory.resolve("policy.json");
        Files.writeString(
                policy,
                "{\"rules\": [{\"effect\": \"deny\", \"agents\": [\"closed\"], \"operations\": [\"SendMessage\"]}]}");
        Agent closed =
                Agent.named("closed", "Is not to be called").handle((request, reply) -> reply.complete("secret"));
        Agent loop =
                Agent.named("loop", "Has itself called").handle((request, reply) -> reply.complete(request.text()));
        try (Hub hub = builder()
                .inMemory()
                .policy(PolicyFile.read(policy))
                .agents(closed, loop)
                .start()) {
            var outsider = new Outsider(hub.url());

            assertThat(ask(outsider, "echo hello")).contains("noted as 1");
            assertThat(ask(outsider, "closed hello"))
                    .contains("TASK_STATE_FAILED")
                    .doesNotContain("secret");
            assertThat(ask(outsider, "notes notes")).contains("TASK_STATE_FAILED");
            assertThat(ask(outsider, "nothing hello")).contains("TASK_STATE_FAILED");
            try (Frames notes = outsider.streamOf("GET", "/notes/entries", "", V1)) {
                assertThat(requireNonNull(notes.next()).at("text").text()).contains("hello");
            }
            assertThat(outsider.get("/metrics").body().lines())
                    .anyMatch(line -> line.startsWith("parley_requests_total{agent=\"echo\"")
                            && line.contains("operation=\"SendMessage\""));
        }
    }

    private static String ask(Outsider outsider, String text) throws Exception {
        return outsider.post(
                        "/agents/notes/message:send",
                        "{'message':{'messageId':'" + text + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}",
                        V1)
                .body();
    }

    @Test
    @DisplayName("callers without credentials reach no path of an extension")
    void pathsAreAuthenticated() throws Exception {
        try (Hub hub = builder()
                .inMemory()
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var outsider = new Outsider(hub.url());
            String[] key = {"X-Api-Key", hub.bootstrapKey().orElseThrow(), "A2A-Version", "1.0"};

            assertThat(note(outsider, "/notes/entries", "one").statusCode()).isEqualTo(401);
            assertThat(outsider.post("/notes/entries", "{'text':'one'}", key).statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName(
            "callers without credentials call the operations that an extension opens, in its protocol, and no others")
    void faces() throws Exception {
        try (Hub hub = builder()
                .inMemory()
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var outsider = new Outsider(hub.url());
            String key = hub.bootstrapKey().orElseThrow();

            HttpResponse<String> suggested = outsider.post("/suggestions", "more plants");
            assertThat(suggested.statusCode()).isEqualTo(201);
            assertThat(suggested.body()).isEqualTo("note 1");
            assertThat(outsider.get("/suggestions").statusCode()).isEqualTo(405);
            assertThat(outsider.get("/suggestions").body()).doesNotContain("{");
            assertThat(note(outsider, "/notes/entries", "one").statusCode()).isEqualTo(401);
            assertThat(outsider.rpc("/notes", "notes/suggest", "{'text':'two'}", V1)
                            .at("result", "number")
                            .value())
                    .isEqualTo(2);
            assertThat(outsider.post(
                                    "/agents/echo", "{'jsonrpc':'2.0','id':1,'method':'notes/suggest','params':{}}", V1)
                            .statusCode())
                    .isEqualTo(401);
            assertThat(outsider.post("/suggestions", "three", "X-Api-Key", key).body())
                    .isEqualTo("note 3");
            assertThat(outsider.post("/suggestions", "four", "X-Api-Key", "wrong")
                            .statusCode())
                    .isEqualTo(401);
        }
    }

    @Test
    @DisplayName(
            "tables of an extension outlast a restart on SQLite, and its rows about a principal are listed and erased")
    void tablesOnSqlite() throws Exception {
        Path data = directory.resolve("data");
        survives(() -> builder().data(data).start());
    }

    @Test
    @DisplayName(
            "tables of an extension outlast a restart on PostgreSQL, and its rows about a principal are listed and erased")
    void tablesOnPostgresql() throws Exception {
        Path data = directory.resolve("postgresql");
        String url = PostgresqlServer.url();
        survives(() -> builder().data(data).database(url).start());
    }

    @Test
    @DisplayName("a timer that was set before a restart is handled once")
    void timers() throws Exception {
        Path data = directory.resolve("timers");
        try (Hub hub = builder().data(data).start()) {
            var outsider = new Outsider(hub.url());
            note(outsider, "/notes/entries", "in PT0.2S: soon");
            note(outsider, "/agents/echo/entries", "plain");
            try (Frames notes = outsider.streamOf("GET", "/notes/entries", "", V1)) {
                assertThat(requireNonNull(notes.next()).at("text").text()).isIn("plain", "soon");
                assertThat(requireNonNull(notes.next()).at("text").text()).isIn("plain", "soon");
            }
            note(outsider, "/notes/entries", "in PT1S: later");
        }
        try (Hub hub = builder().data(data).start()) {
            var outsider = new Outsider(hub.url());
            try (Frames notes =
                    outsider.streamOf("GET", "/notes/entries", "", "A2A-Version", "1.0", "Last-Event-ID", "2")) {
                assertThat(requireNonNull(notes.next()).at("text").text()).isEqualTo("later");
                note(outsider, "/notes/entries", "last");
                assertThat(requireNonNull(notes.next()).at("text").text()).isEqualTo("last");
            }
        }
    }

    private static void survives(java.util.function.Supplier<Hub> start) throws Exception {
        try (Hub hub = start.get()) {
            note(new Outsider(hub.url()), "/notes/entries", "kept");
        }
        try (Hub hub = start.get()) {
            var outsider = new Outsider(hub.url());
            note(outsider, "/notes/entries", "more");
            String person = "?group=default&principal=anonymous";

            assertThat(outsider.get("/admin/privacy/notes" + person).body()).contains("kept", "more");
            assertThat(outsider.post("/admin/privacy/erase" + person, "{}").body())
                    .contains("\"notes\":2");
            assertThat(outsider.get("/admin/privacy/notes" + person).body()).doesNotContain("kept");
        }
    }

    @Test
    @DisplayName("a webhook is tried as often as the extension says, and then given up")
    void retries() throws Exception {
        var calls = new LinkedBlockingQueue<Instant>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            calls.add(Instant.now());
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        receiver.start();
        try (Hub hub = builder().inMemory().webhookAllow(List.of("127.0.0.1")).start()) {
            var outsider = new Outsider(hub.url());
            outsider.post(
                    "/agents/echo/message:send",
                    "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'hello'}]},'configuration':"
                            + "{'taskPushNotificationConfig':{'url':'http://127.0.0.1:"
                            + receiver.getAddress().getPort() + "/'}}}",
                    V1);

            String dead = Eventually.value(
                    "the webhook is given up",
                    () -> outsider.get("/admin/webhooks/dead").body(),
                    list -> list.contains("attempts"));
            assertThat(Shown.of(dead).at("webhooks", 0, "attempts").value()).isEqualTo(3);
            assertThat(calls).hasSize(3);
        } finally {
            receiver.stop(0);
        }
    }

    @Test
    @DisplayName("a critical task begins before 100 others that wait, and these are not starved")
    void priorities() throws Exception {
        var begun = new LinkedBlockingQueue<String>();
        var go = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "One at a time").concurrency(1).handle((request, reply) -> {
            begun.add(request.text());
            go.await();
            reply.complete(request.text());
        });
        try (Hub hub = builder().inMemory().agents(slow).start()) {
            var outsider = new Outsider(hub.url());
            send(outsider, "first", false);
            assertThat(begun.poll(60, TimeUnit.SECONDS)).isEqualTo("first");
            for (int i = 0; i < 100; i++) {
                send(outsider, "low", false);
            }
            for (int i = 0; i < 20; i++) {
                send(outsider, "critical", true);
            }
            go.countDown();

            var order = new ArrayList<String>();
            for (int i = 0; i < 20; i++) {
                order.add(begun.poll(60, TimeUnit.SECONDS));
            }
            assertThat(order.getFirst()).isEqualTo("critical");
            assertThat(IntStream.range(0, 20)
                            .filter(i -> order.get(i).equals("critical"))
                            .count())
                    .isEqualTo(16);
        }
    }

    private static void send(Outsider outsider, String text, boolean urgent) throws Exception {
        outsider.post(
                "/agents/slow/message:send",
                "{'message':{'messageId':'" + java.util.UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'"
                        + text + "'}],'metadata':{'notes/urgent':" + urgent
                        + "}},'configuration':{'returnImmediately':true}}",
                V1);
    }

    @Test
    @DisplayName("an agent of an extension with the name of another agent refuses the start")
    void names() {
        Agent notes = Agent.named("notes", "Was there before").handle((request, reply) -> reply.complete("x"));

        assertThatThrownBy(() -> builder().inMemory().agents(notes).start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("agent \"notes\": duplicate name");
    }
}

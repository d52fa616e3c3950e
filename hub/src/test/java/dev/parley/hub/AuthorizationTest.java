package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Part;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers may do, as outsiders see it: groups T1 (alice, bob) and T2 (mallory), and the record of it all. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class AuthorizationTest {
    private static final String POLICY = """
            {"rules": [
               {"effect": "hide", "groups": ["T2"], "agents": ["ledger"]},
               {"effect": "deny", "principals": ["bob"], "agents": ["echo"], "operations": ["CancelTask", "SendMessage"]},
               {"effect": "scopes", "scopes": ["push"], "operations": ["CreateTaskPushNotificationConfig"]}
             ],
             "shared": ["board"],
             "limits": {"principal": {"perDay": 1000000}}}
            """;

    private static final List<String> CARDS = List.of(
            "/.well-known/agent-card.json",
            "/.well-known/agent.json",
            "/kernel/.well-known/agent.json",
            "/agentvault",
            "/agentvault/agent-card.json",
            "/agentvault/.well-known/agent.json");

    @TempDir
    private static Path directory;

    private Hub hub;
    private Outsider outsider;
    private String admin;
    private String alice;
    private String bob;
    private String mallory;

    @BeforeAll
    void start() throws Exception {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .authentication(Authentication.named(List.of("required")))
                .webhookAllow(List.of("127.0.0.1"))
                .policy(policy(POLICY))
                .agents(agent("echo"), agent("ledger"), agent("board"), ticker(), skilled(), drawing())
                .start();
        outsider = new Outsider(hub.url());
        admin = hub.bootstrapKey().orElseThrow();
        alice = key("T1", "alice");
        bob = key("T1", "bob");
        mallory = key("T2", "mallory");
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private static PolicyFile policy(String text) {
        try {
            Path file = Files.createTempFile(directory, "policy", ".json");
            Files.writeString(file, text);
            return PolicyFile.read(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Says who calls").handle((request, reply) -> {
            if (request.text().equals("wait")) {
                reply.askForInput("What else?");
            } else {
                reply.complete(request.context().caller());
            }
        });
    }

    private static Agent ticker() {
        return Agent.named("ticker", "Has always something to say").handle((request, reply) -> {
            for (int i = 0; i < 1_000; i++) {
                reply.working("tick");
                TimeUnit.MILLISECONDS.sleep(20);
            }
            reply.complete();
        });
    }

    private static Agent drawing() {
        return Agent.named("drawing", "Draws")
                .outputModes("image/png")
                .handle((request, reply) -> reply.complete(Part.file("a.png", "image/png", new byte[] {1, 2, 3})));
    }

    private static Agent skilled() {
        return Agent.named("skilled", "Has skills for some")
                .skill("read", "For everybody")
                .skill(new Skill("write", "write", "For some", List.of(), List.of(), List.of(), List.of(), List.of())
                        .withScopes("books:write"))
                .extendedSkill(
                        new Skill("burn", "burn", "For few", List.of(), List.of(), List.of(), List.of(), List.of())
                                .withScopes("books:burn"))
                .handle((request, reply) -> reply.complete("done"));
    }

    private String key(String group, String principal, String... scopes) throws Exception {
        var quoted = new ArrayList<String>();
        for (String scope : scopes) {
            quoted.add("'" + scope + "'");
        }
        HttpResponse<String> made = outsider.post(
                "/admin/keys",
                "{'group':'" + group + "','principal':'" + principal + "','scopes':" + quoted + "}",
                "X-Api-Key",
                admin);
        assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
        return Shown.of(made.body()).at("key").text();
    }

    private HttpResponse<String> rpc(String key, String agent, String method, String params) throws Exception {
        return outsider.post(
                "/agents/" + agent,
                "{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}",
                "X-Api-Key",
                key,
                "A2A-Version",
                "1.0");
    }

    private static String message(String text, String more) {
        return "{'message':{'messageId':'" + java.util.UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'"
                + text + "'}]" + more + "}}";
    }

    private String task(String key, String agent) throws Exception {
        HttpResponse<String> sent = rpc(key, agent, "SendMessage", message("wait", ""));
        assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
        return Shown.of(sent.body()).at("result", "task", "id").text();
    }

    private static String withoutId(HttpResponse<String> answer, String id) {
        return answer.statusCode() + " " + answer.body().replace(id, "ID");
    }

    @Test
    @DisplayName("ONE17, GEM24: another group, and another of the same group, finds no such task by any operation")
    void strangersFindNothing() throws Exception {
        String id = task(alice, "echo");
        String none = "00000000-0000-7000-8000-000000000000";
        for (String stranger : List.of(mallory, key("T1", "carol"))) {
            for (String method : List.of("GetTask", "CancelTask", "SubscribeToTask")) {
                HttpResponse<String> hidden = rpc(stranger, "echo", method, "{'id':'" + id + "'}");
                HttpResponse<String> missing = rpc(stranger, "echo", method, "{'id':'" + none + "'}");
                assertThat(withoutId(hidden, id)).as(method).isEqualTo(withoutId(missing, none));
                assertThat(hidden.body()).contains("-32001");
            }
            assertThat(rpc(stranger, "echo", "ListTasks", "{}").body()).contains("\"totalSize\":0");
            assertThat(rpc(stranger, "echo", "SendMessage", message("more", ",'taskId':'" + id + "'"))
                            .body())
                    .contains("-32001");
        }
        assertThat(rpc(alice, "echo", "ListTasks", "{}").body()).contains(id);
    }

    @Test
    @DisplayName("GEM20: a name in the message is nobody's")
    void identityComesFromTheTransportAlone() throws Exception {
        String more = ",'metadata':{'caller':'bob','group':'T2','X-User':'bob'}";
        HttpResponse<String> sent = outsider.post(
                "/agents/echo",
                "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':" + message("who", more) + "}",
                "X-Api-Key",
                alice,
                "X-User",
                "bob",
                "X-Forwarded-User",
                "bob",
                "X-Tenant",
                "T2");
        assertThat(sent.body()).contains("\"alice\"").doesNotContain("\"bob\"}]");
    }

    @Test
    void whoIsDeniedIsToldUnlessItIsAboutATask() throws Exception {
        String id = task(alice, "echo");
        HttpResponse<String> denied = rpc(bob, "echo", "SendMessage", message("hello", ""));
        assertThat(denied.body()).contains("PERMISSION_DENIED").contains("The policy of this hub does not allow it");
        assertThat(rpc(bob, "echo", "CancelTask", "{'id':'" + id + "'}").body()).contains("-32001");
        assertThat(rpc(bob, "ledger", "SendMessage", message("hello", "")).statusCode())
                .isEqualTo(200);
    }

    @Test
    void anAgentThatIsHiddenIsNotThere() throws Exception {
        HttpResponse<String> hidden = rpc(mallory, "ledger", "GetTask", "{'id':'x'}");
        HttpResponse<String> missing = rpc(mallory, "nowhere", "GetTask", "{'id':'x'}");
        assertThat(hidden.statusCode()).isEqualTo(missing.statusCode()).isEqualTo(404);
        assertThat(hidden.body()).isEqualTo(missing.body());
        assertThat(outsider.get("/agents", "X-Api-Key", mallory).body())
                .contains("\"echo\"")
                .doesNotContain("ledger");
        assertThat(outsider.get("/agents", "X-Api-Key", alice).body()).contains("\"ledger\"");
        assertThat(rpc(alice, "ledger", "SendMessage", message("hello", "")).statusCode())
                .isEqualTo(200);
    }

    @Test
    void anAgentThatIsHiddenHasNoCardEither() throws Exception {
        for (String card : CARDS) {
            assertThat(told("GET", "ledger" + card, "X-Api-Key", mallory))
                    .as(card)
                    .startsWith("404")
                    .isEqualTo(told("GET", "nowhere" + card, "X-Api-Key", mallory));
            assertThat(told("GET", "ledger" + card, "X-Api-Key", alice))
                    .as(card)
                    .startsWith("200");
            assertThat(told("GET", "ledger" + card, "X-Api-Key", "wrong"))
                    .as("the rule is for others: " + card)
                    .startsWith("200");
        }
    }

    @Test
    void strangersAreJudgedByThePolicyAsAnonymous() throws Exception {
        String team = """
                {"rules": [
                   {"effect": "allow", "principals": ["alice"]},
                   {"effect": "hide", "principals": ["anonymous"], "agents": ["ledger"]}
                 ]}
                """;
        try (Hub closed = closed(false, team)) {
            var there = new Outsider(closed.url());
            for (String card : CARDS) {
                assertThat(told(there, "GET", "ledger" + card))
                        .as(card)
                        .startsWith("404")
                        .isEqualTo(told(there, "GET", "nowhere" + card));
                assertThat(told(there, "GET", "echo" + card)).as(card).startsWith("200");
                assertThat(told(there, "GET", "ledger" + card, "X-Api-Key", aliceOf(closed, there)))
                        .as(card)
                        .startsWith("200");
            }
            assertThat(told(there, "POST", "ledger")).startsWith("401").isEqualTo(told(there, "POST", "nowhere"));
        }
    }

    @Test
    void strangersCannotTellNamesThatAreTakenWhereCardsAreProtected() throws Exception {
        var asked = new ArrayList<>(CARDS.stream().map(card -> "GET " + card).toList());
        asked.addAll(List.of(
                "POST ",
                "POST /message:send",
                "GET /tasks/x",
                "GET /v1/card",
                "POST /kernel",
                "POST /agentvault",
                "GET /agentvault/files/x/y/0",
                "DELETE /nothing"));
        try (Hub closed = closed(true, "{'rules': []}".replace('\'', '"'))) {
            var there = new Outsider(closed.url());
            for (String one : asked) {
                String method = one.substring(0, one.indexOf(' '));
                String below = one.substring(one.indexOf(' ') + 1);
                assertThat(told(there, method, "nowhere" + below))
                        .as(one)
                        .startsWith("40")
                        .doesNotStartWith("404")
                        .isEqualTo(told(there, method, "echo" + below));
            }
            assertThat(told(there, "POST", "nowhere", "X-Api-Key", "wrong"))
                    .startsWith("401")
                    .isEqualTo(told(there, "POST", "echo", "X-Api-Key", "wrong"));
            assertThat(told(
                            there,
                            "POST",
                            "nowhere",
                            "X-Api-Key",
                            closed.bootstrapKey().orElseThrow()))
                    .startsWith("404");
        }
    }

    private Hub closed(boolean protectCards, String policy) throws Exception {
        return Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .protectCards(protectCards)
                .policy(policy(policy))
                .agents(agent("echo"), agent("ledger"))
                .start();
    }

    private static String aliceOf(Hub there, Outsider outsider) throws Exception {
        return Shown.of(outsider.post(
                                "/admin/keys",
                                "{'group':'T1','principal':'alice','scopes':[]}",
                                "X-Api-Key",
                                there.bootstrapKey().orElseThrow())
                        .body())
                .at("key")
                .text();
    }

    private String told(String method, String agent, String... headers) throws Exception {
        return told(outsider, method, agent, headers);
    }

    /** All of an answer that could tell one agent from another, where it is not a card. */
    private static String told(Outsider there, String method, String agent, String... headers) throws Exception {
        HttpResponse<String> answer = there.send(method, "/agents/" + agent, headers);
        var names = new TreeMap<>(answer.headers().map());
        names.remove("date");
        return answer.statusCode() + " " + names + " " + answer.body();
    }

    @Test
    @DisplayName("GEM23, ONE27: a skill asks for scopes, and so does a message that names none")
    void skillsAskForScopes() throws Exception {
        String writer = key("T1", "writer", "books:write");
        String all = key("T1", "chief", "books:write", "books:burn");
        String read = message("x", ",'metadata':{'skillId':'read'}");
        String write = message("x", ",'metadata':{'skillId':'write'}");

        assertThat(rpc(alice, "skilled", "SendMessage", read).body()).contains("\"done\"");
        assertThat(rpc(alice, "skilled", "SendMessage", write).body())
                .contains("PERMISSION_DENIED")
                .contains("books:write");
        assertThat(rpc(writer, "skilled", "SendMessage", write).body()).contains("\"done\"");
        assertThat(rpc(writer, "skilled", "SendMessage", message("x", "")).body())
                .contains("books:burn");
        assertThat(rpc(all, "skilled", "SendMessage", message("x", "")).body()).contains("\"done\"");
        assertThat(rpc(all, "skilled", "SendMessage", message("x", ",'metadata':{'skillId':'fly'}"))
                        .body())
                .contains("-32602")
                .contains("metadata.skillId");

        HttpResponse<String> rest =
                outsider.post("/agents/skilled/message:send", write, "X-Api-Key", alice, "A2A-Version", "1.0");
        assertThat(rest.statusCode()).isEqualTo(403);
        assertThat(rest.headers().firstValue("WWW-Authenticate").orElse(""))
                .contains("error=\"insufficient_scope\", scope=\"books:write\"");
        HttpResponse<String> further = outsider.post(
                "/agents/skilled/message:send", message("x", ""), "X-Api-Key", writer, "A2A-Version", "1.0");
        assertThat(further.headers().firstValue("WWW-Authenticate").orElse(""))
                .as("with the granted scopes, which clients would lose otherwise")
                .contains("error=\"insufficient_scope\", scope=\"books:burn books:write\"");
    }

    @Test
    @DisplayName("GEM15: the extended card shows more skills than the public one, to whom they are granted")
    void theExtendedCardShowsWhatOneMayUse() throws Exception {
        String all = key("T1", "chief", "books:write", "books:burn");
        Shown card = Shown.of(
                outsider.get("/agents/skilled/.well-known/agent-card.json").body());
        assertThat(skills(card)).containsExactly("read", "write");
        assertThat(card.at("skills", 1, "securityRequirements", 0, "schemes").value())
                .isEqualTo(Map.of("parley", Map.of("list", List.of("books:write"))));

        assertThat(skills(Shown.of(rpc(all, "skilled", "GetExtendedAgentCard", "{}")
                                .body())
                        .at("result")))
                .containsExactly("read", "write", "burn");
        assertThat(skills(Shown.of(rpc(alice, "skilled", "GetExtendedAgentCard", "{}")
                                .body())
                        .at("result")))
                .as("M12: no fewer than on the public card")
                .containsExactly("read", "write");
        assertThat(outsider.get("/agents/skilled/extendedAgentCard").statusCode())
                .isEqualTo(401);
    }

    @Test
    @DisplayName(
            "M12 without authentication every caller gets the extended card, in JSON-RPC, REST and at the older address")
    void theExtendedCardOfAnOpenHub() throws Exception {
        try (Hub open = Hub.builder().inMemory().port(0).agents(skilled()).start()) {
            var caller = new Outsider(open.url());

            assertThat(skills(caller.result("/agents/skilled", "GetExtendedAgentCard", "{}", "A2A-Version", "1.0")))
                    .containsExactly("read", "write", "burn");
            for (String path : List.of("/extendedAgentCard", "/v1/card", "/agent/authenticatedExtendedCard")) {
                String version = path.equals("/extendedAgentCard") ? "1.0" : "0.3";
                assertThat(skills(Shown.of(caller.get("/agents/skilled" + path, "A2A-Version", version)
                                .body())))
                        .as(path)
                        .containsExactly("read", "write", "burn");
            }
        }
    }

    private static List<String> skills(Shown card) {
        var ids = new ArrayList<String>();
        if (card.at("skills").value() instanceof List<?> skills) {
            skills.forEach(skill -> ids.add(String.valueOf(((Map<?, ?>) skill).get("id"))));
        }
        return ids;
    }

    @Test
    void whatIsSharedBelongsToTheGroup() throws Exception {
        String id = task(alice, "board");

        assertThat(rpc(bob, "board", "GetTask", "{'id':'" + id + "'}").body()).contains(id);
        assertThat(rpc(mallory, "board", "GetTask", "{'id':'" + id + "'}").body())
                .contains("-32001");
    }

    @Test
    void secretsOfWebhooksAreReturnedNeitherToMembersNorToTheirOwner() throws Exception {
        String pusher = key("T1", "pusher", "push");
        String shared = task(pusher, "board");
        String own = task(pusher, "echo");
        String config = "{'taskId':'ID','id':'w','url':'http://127.0.0.1:9/','token':'t0ken-s3cret',"
                + "'authentication':{'scheme':'Bearer','credentials':'cred-s3cret'}}";

        String created = rpc(pusher, "board", "CreateTaskPushNotificationConfig", config.replace("ID", shared))
                .body();
        String byBob = rpc(bob, "board", "GetTaskPushNotificationConfig", "{'taskId':'" + shared + "','id':'w'}")
                .body();
        String listed = rpc(pusher, "board", "ListTaskPushNotificationConfigs", "{'taskId':'" + shared + "'}")
                .body();
        String createdAsOwn = rpc(pusher, "echo", "CreateTaskPushNotificationConfig", config.replace("ID", own))
                .body();
        String byOwner = rpc(pusher, "echo", "GetTaskPushNotificationConfig", "{'taskId':'" + own + "','id':'w'}")
                .body();
        String listedByOwner = rpc(pusher, "echo", "ListTaskPushNotificationConfigs", "{'taskId':'" + own + "'}")
                .body();

        assertThat(List.of(created, byBob, listed, createdAsOwn, byOwner, listedByOwner))
                .allSatisfy(answer ->
                        assertThat(answer).contains("\"url\"", "Bearer").doesNotContain("s3cret"));
    }

    @Test
    void anOperationMayAskForAScope() throws Exception {
        String id = task(alice, "echo");
        String config = "{'taskId':'" + id + "','url':'https://example.com/hook'}";
        assertThat(rpc(alice, "echo", "CreateTaskPushNotificationConfig", config)
                        .body())
                .contains("Not all of these scopes were granted: push");
    }

    @Test
    @DisplayName("ONE24: no key gets 401, and so does one that was revoked, at once and in every form")
    void aRevokedKeyIsRefused() throws Exception {
        String dave = key("T1", "dave");
        assertThat(rpc(dave, "echo", "ListTasks", "{}").statusCode()).isEqualTo(200);
        String id = dave.split("_", -1)[1];

        assertThat(outsider.post("/admin/keys/" + id + "/revoke", "{}", "X-Api-Key", dave)
                        .statusCode())
                .isEqualTo(403);
        assertThat(outsider.post("/admin/keys/" + id + "/revoke", "{}", "X-Api-Key", admin)
                        .statusCode())
                .isEqualTo(200);

        assertThat(rpc(dave, "echo", "ListTasks", "{}").statusCode()).isEqualTo(401);
        assertThat(outsider.get("/agents/echo/tasks", "Authorization", "Bearer " + dave)
                        .statusCode())
                .isEqualTo(401);
        assertThat(outsider.get("/agents/echo/tasks").statusCode()).isEqualTo(401);
    }

    @ParameterizedTest
    @CsvSource({"keys/KEY/revoke", "users/T3/erin/disable", "groups/T3/archive"})
    @DisplayName("ONE24: open streams of a disabled user end")
    void streamsEndWithTheRightToThem(String means) throws Exception {
        if (outsider.post("/admin/groups", "{'id':'T3'}", "X-Api-Key", admin).statusCode() == 200) {
            outsider.post("/admin/users", "{'group':'T3','name':'erin'}", "X-Api-Key", admin);
        }
        String erin = key("T3", "erin");
        String path = "/admin/" + means.replace("KEY", erin.split("_", -1)[1]);
        try (var stream =
                outsider.stream("/agents/ticker", "SendStreamingMessage", message("go", ""), "X-Api-Key", erin)) {
            assertThat(stream.next()).isNotNull();

            HttpResponse<String> shut = outsider.post(path, "{}", "X-Api-Key", admin);
            assertThat(shut.statusCode()).as(shut.body()).isEqualTo(200);

            assertThat(stream.until(frame -> frame.data().has("error")).data().toString())
                    .contains("The credential of this stream is no longer good");
            assertThat(stream.next()).isNull();
        }
        outsider.post(path.replace("disable", "enable").replace("archive", "restore"), "{}", "X-Api-Key", admin);
    }

    @ParameterizedTest
    @CsvSource({"users/T5/gina/disable", "groups/T5/archive"})
    @DisplayName("ONE24: addresses of files of a disabled user end with the right of the user")
    void addressesOfFilesNeverOutliveTheirOwner(String means) throws Exception {
        if (outsider.post("/admin/groups", "{'id':'T5'}", "X-Api-Key", admin).statusCode() == 200) {
            outsider.post("/admin/users", "{'group':'T5','name':'gina'}", "X-Api-Key", admin);
        }
        String gina = key("T5", "gina");
        String path = "/agents/drawing/agentvault";
        String id = Shown.of(
                        rpc(gina, "drawing", "SendMessage", message("draw", "")).body())
                .at("result", "task", "id")
                .text();
        String file = outsider.result(path, "tasks/get", "{'id':'" + id + "'}", "X-Api-Key", gina)
                .at("artifacts", 0, "url")
                .text()
                .replaceFirst("^http://localhost:\\d+", "");
        assertThat(outsider.get(file).statusCode()).isEqualTo(200);

        outsider.post("/admin/" + means, "{}", "X-Api-Key", admin);

        assertThat(outsider.get(file).statusCode()).isEqualTo(403);
        outsider.post(
                "/admin/" + means.replace("disable", "enable").replace("archive", "restore"), "{}", "X-Api-Key", admin);
        assertThat(outsider.get(file).statusCode()).isEqualTo(200);
    }

    @Test
    @DisplayName("ONE24: webhooks of a disabled user are given up")
    void webhooksEndWithTheRightToThem() throws Exception {
        var called = new CountDownLatch(1);
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
            called.countDown();
        });
        receiver.start();
        try {
            String frank = key("T1", "frank");
            String webhook = "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
            String params = message("go", "")
                    .replaceFirst(
                            "\\}$",
                            ",'configuration':{'returnImmediately':true,"
                                    + "'taskPushNotificationConfig':{'id':'hook','url':'" + webhook + "'}}}");
            assertThat(rpc(frank, "ticker", "SendMessage", params).body()).contains("\"task\"");
            assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();

            outsider.post("/admin/users", "{'group':'T1','name':'frank'}", "X-Api-Key", admin);
            outsider.post("/admin/users/T1/frank/disable", "{}", "X-Api-Key", admin);

            Eventually.asserted(
                    "the webhook is given up",
                    () -> assertThat(outsider.get("/admin/webhooks/dead", "X-Api-Key", admin)
                                    .body())
                            .contains("the owner of the task is disabled"));
        } finally {
            receiver.stop(0);
        }
    }

    @Test
    @DisplayName(
            "ONE28, GEM30: above the limit a caller gets 429 with Retry-After, others are served, and all see what is left")
    void limitsAreKept() throws Exception {
        try (Hub limited = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .policy(policy("{\"limits\": {\"principal\": {\"perSecond\": 0.001, \"burst\": 2}}}"))
                .agents(agent("echo"))
                .start()) {
            var there = new Outsider(limited.url());
            String first = limited.bootstrapKey().orElseThrow();
            String made = there.post("/admin/keys", "{'group':'T1','principal':'other'}", "X-Api-Key", first)
                    .body();
            String second = Shown.of(made).at("key").text();

            HttpResponse<String> one = there.get("/agents/echo/tasks", "X-Api-Key", first, "A2A-Version", "1.0");
            assertThat(one.headers().firstValue("RateLimit-Limit")).contains("2");
            assertThat(one.headers().firstValue("RateLimit-Remaining")).contains("1");
            assertThat(there.get("/agents/echo/tasks", "X-Api-Key", first, "A2A-Version", "1.0")
                            .statusCode())
                    .isEqualTo(200);
            HttpResponse<String> over = there.get("/agents/echo/tasks", "X-Api-Key", first, "A2A-Version", "1.0");
            assertThat(over.statusCode()).isEqualTo(429);
            assertThat(Long.parseLong(over.headers().firstValue("Retry-After").orElseThrow()))
                    .isBetween(900L, 1_000L);
            assertThat(there.get("/agents/echo/tasks", "X-Api-Key", second, "A2A-Version", "1.0")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("cards that some callers may not see are kept by no cache of several callers")
    void cardsForSomeCallersAreNotCachedForOthers(boolean isProtected) throws Exception {
        try (Hub closed = closed(
                isProtected,
                "{\"rules\":[{\"effect\":\"allow\",\"principals\":[\"alice\"],\"agents\":[\"ledger\"]},"
                        + "{\"effect\":\"hide\",\"agents\":[\"ledger\"]}]}")) {
            var there = new Outsider(closed.url());
            String[] key = {"X-Api-Key", aliceOf(closed, there)};

            for (String file : List.of("/.well-known/agent-card.json", "/.well-known/agent.json")) {
                assertThat(caching(there.get("/agents/ledger" + file, key)))
                        .as(file)
                        .isEqualTo("private, no-cache");
                assertThat(caching(there.get("/agents/echo" + file, key)))
                        .as(file)
                        .isEqualTo(isProtected ? "private, no-cache" : "public, max-age=60");
            }
            HttpResponse<String> page = there.get("/openapi.json", key);
            assertThat(caching(page)).startsWith("private");
            assertThat(String.join(", ", page.headers().allValues("Vary")))
                    .contains("Authorization", "X-Api-Key", "Cookie", "Parley-Session-Proof");
            HttpResponse<String> card = there.get("/agents/ledger/.well-known/agent-card.json", key);
            assertThat(String.join(", ", card.headers().allValues("Vary"))).contains("A2A-Version", "Cookie");
        }
    }

    private static String caching(HttpResponse<?> answer) {
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.headers().firstValue("Cache-Control").orElse("");
    }

    @Test
    @DisplayName("GEM17: a protected card is shown to those who may call alone")
    void cardsCanBeProtected() throws Exception {
        try (Hub closed = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .protectCards(true)
                .agents(agent("echo"))
                .start()) {
            var there = new Outsider(closed.url());
            String key = closed.bootstrapKey().orElseThrow();
            for (String path : List.of(
                    "/agents/echo/.well-known/agent-card.json",
                    "/agents/echo/.well-known/agent.json",
                    "/agents/echo/kernel/.well-known/agent.json",
                    "/agents/echo/agentvault/agent-card.json",
                    "/.well-known/agent-card.json")) {
                assertThat(there.get(path).statusCode()).as(path).isEqualTo(401);
                assertThat(there.get(path, "X-Api-Key", key).statusCode())
                        .as(path)
                        .isEqualTo(200);
            }
            assertThat(there.get("/agents").body()).doesNotContain("echo");
            assertThat(there.get("/agents", "X-Api-Key", key).body()).contains("echo");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "GEM17, M15: the card of an agent is shown at some addresses alone, whose own credentials are asked for besides")
    void cardsCanBeForSomeAddresses(boolean isProtected) throws Exception {
        try (Hub ranged = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .protectCards(isProtected)
                .set("card-addresses", "far=10.0.0.0/8+fd00::/8,near=10.0.0.0/8+127.0.0.0/8+::1")
                .agents(agent("far"), agent("near"), agent("open"))
                .start()) {
            var there = new Outsider(ranged.url());
            String[] key = {"X-Api-Key", ranged.bootstrapKey().orElseThrow()};
            for (String card : List.of(
                    "/.well-known/agent-card.json",
                    "/.well-known/agent.json",
                    "/kernel/.well-known/agent.json",
                    "/agentvault/agent-card.json")) {
                assertThat(there.get("/agents/far" + card, key).statusCode())
                        .as(card)
                        .isEqualTo(404);
                assertThat(there.get("/agents/near" + card, key).statusCode())
                        .as(card)
                        .isEqualTo(200);
                assertThat(there.get("/agents/open" + card, key).statusCode())
                        .as(card)
                        .isEqualTo(200);
                assertThat(there.get("/agents/near" + card).statusCode())
                        .as(card)
                        .isEqualTo(isProtected ? 401 : 200);
                assertThat(caching(there.get("/agents/near" + card, key)))
                        .as(card)
                        .doesNotStartWith("public");
            }
            assertThat(there.get("/agents", key).body())
                    .contains("near", "open")
                    .doesNotContain("far");
            assertThat(there.get("/openapi.json", key).body()).contains("near").doesNotContain("/agents/far");
            assertThat(there.post(
                                    "/agents/far/message:send",
                                    "{'message':{'messageId':'1','role':'ROLE_USER','parts':[{'text':'x'}]}}",
                                    "X-Api-Key",
                                    key[1],
                                    "A2A-Version",
                                    "1.0")
                            .statusCode())
                    .isEqualTo(200);
        }
        assertThatThrownBy(() -> Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("card-addresses", "far=10.0.0.0/33")
                        .agents(agent("far"))
                        .start())
                .hasMessageContaining("card-addresses: far: address: 10.0.0.0/33 (expected: IP or IP/bits)");
    }

    @Test
    void rulesAboutASkillAreNotAvoidedByNotNamingIt() throws Exception {
        try (Hub kept = Hub.builder()
                .data(directory.resolve("skills"))
                .port(0)
                .policy(policy("""
                        {"rules": [{"effect": "deny", "agents": ["skilled"], "skills": ["write"]},
                                   {"effect": "deny", "operations": ["CancelTask"]}]}"""))
                .agents(
                        skilled(),
                        Agent.named("one", "Has one skill")
                                .skill("read", "For everybody")
                                .handle((request, reply) -> reply.complete("done")))
                .start()) {
            var there = new Outsider(kept.url());
            String send = "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':%s}";
            String[] version = {"A2A-Version", "1.0"};
            for (String metadata : List.of("", ",'metadata':{'skillId':'write'}")) {
                assertThat(there.post("/agents/skilled", send.formatted(message("hello", metadata)), version)
                                .body())
                        .as(metadata)
                        .contains("PERMISSION_DENIED");
            }
            assertThat(there.post(
                                    "/agents/skilled",
                                    send.formatted(message("hello", ",'metadata':{'skillId':'read'}")),
                                    version)
                            .body())
                    .contains("TASK_STATE_COMPLETED");
            assertThat(there.post("/agents/one", send.formatted(message("hello", "")), version)
                            .body())
                    .contains("TASK_STATE_COMPLETED");
            for (String named : List.of("7", "['write']", "'" + "burning".repeat(100_000) + "'")) {
                String body = there.post(
                                "/agents/skilled",
                                send.formatted(message("hello", ",'metadata':{'skillId':" + named + "}")),
                                version)
                        .body();
                assertThat(body).contains("-32602", "skillId").hasSizeLessThan(2_000);
            }
            String two = message("hello", ",'metadata':{'skillId':'read'}")
                    .replaceFirst("}$", ",'metadata':{'skillId':'write'}}");
            assertThat(there.post("/agents/skilled", send.formatted(two), version)
                            .body())
                    .contains("-32602", "expected: the one of the message");

            String unheardOf = "D".repeat(100_000);
            assertThat(there.rpc("/agents/skilled", "CancelTask", "{'id':'" + unheardOf + "'}", version)
                            .at("error", "code")
                            .text())
                    .isEqualTo("-32602");
            // What is written next comes after it.
            there.post("/agents/one", send.formatted(message("hello", "")), version);
            assertThat(there.get("/admin/audit?action=call.denied").body()).doesNotContain("DDD");
        }
    }

    @Test
    @DisplayName("ONE29, GEM29: the audit tells who began a task, who canceled it, and who was turned away")
    void theAuditTells() throws Exception {
        try (Hub kept = Hub.builder()
                .data(directory.resolve("audited"))
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(agent("echo"))
                .start()) {
            var there = new Outsider(kept.url());
            String key = kept.bootstrapKey().orElseThrow();
            String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
            String sent = there.post(
                            "/agents/echo/message:send",
                            message("wait", ""),
                            "X-Api-Key",
                            key,
                            "A2A-Version",
                            "1.0",
                            "traceparent",
                            trace)
                    .body();
            String id = Shown.of(sent).at("task", "id").text();
            there.post("/agents/echo/tasks/" + id + ":cancel", "{}", "X-Api-Key", key, "A2A-Version", "1.0");
            there.get("/agents/echo/tasks");

            Shown rows = Shown.of(
                    there.get("/admin/audit?target=" + id, "X-Api-Key", key).body());
            assertThat(rows.at("rows", 0, "actor").text()).isEqualTo("admin");
            assertThat(rows.at("rows", 0, "action").text()).isEqualTo("task.created");
            assertThat(rows.at("rows", 0, "trace").text()).isEqualTo(trace);
            assertThat(rows.at("rows", 0, "address").text()).isEqualTo("127.0.0.1");
            Shown canceled = Shown.of(there.get("/admin/audit?action=task.canceled", "X-Api-Key", key)
                            .body())
                    .at("rows", 0);
            assertThat(canceled.at("actor").text()).isEqualTo("admin");
            assertThat(canceled.at("target").text()).isEqualTo(id);

            String made = there.post("/admin/keys", "{'group':'T1','principal':'erin','scopes':[]}", "X-Api-Key", key)
                    .body();
            there.get("/admin/keys", "X-Api-Key", Shown.of(made).at("key").text());
            // What is written next comes after the rows of the calls that were turned away.
            there.post("/admin/groups", "{'id':'next'}", "X-Api-Key", key);
            Shown denied = Shown.of(there.get("/admin/audit?action=call.denied", "X-Api-Key", key)
                    .body());
            assertThat(denied.at("rows", 0, "actor").text()).isEqualTo("anonymous");
            assertThat(denied.at("rows", 1, "actor").text()).isEqualTo("erin");
            assertThat(denied.at("rows", 1, "group").text()).isEqualTo("T1");
            Shown verified =
                    Shown.of(there.get("/admin/audit/verify", "X-Api-Key", key).body());
            assertThat(verified.at("good").value()).isEqualTo(true);
            assertThat(there.get("/admin/audit").statusCode()).isEqualTo(401);
        }
    }

    @Test
    void theSchemaOfAGraphIsHiddenFromCallersWhoMayNotQueryIt() throws Exception {
        try (Hub kept = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .policy(policy("""
                        {"rules": [{"effect": "deny", "principals": ["dave"], "operations": ["knowledge/query"]}]}
                        """))
                .agents(Agent.named("knowing", "Has a knowledge graph")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete("ok")))
                .start()) {
            var there = new Outsider(kept.url());
            String boss = kept.bootstrapKey().orElseThrow();
            String schema = "/agents/knowing/kg/schema.graphql";
            for (String name : List.of("carol", "dave")) {
                String body = there.post(
                                "/admin/keys",
                                "{'group':'T8','principal':'" + name + "','scopes':[]}",
                                "X-Api-Key",
                                boss)
                        .body();
                HttpResponse<String> answer =
                        there.get(schema, "X-Api-Key", Shown.of(body).at("key").text());
                assertThat(answer.statusCode()).as(name).isEqualTo(name.equals("carol") ? 200 : 403);
                assertThat(answer.body().contains("type Query")).isEqualTo(name.equals("carol"));
            }
        }
    }

    @Test
    @DisplayName("KG21: a member of the group cannot put changes into the task of another")
    void changesOfAnotherMemberAreNotShownOnATask() throws Exception {
        try (Hub kept = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(Agent.named("knowing", "Has a knowledge graph")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete("ok")))
                .start()) {
            var there = new Outsider(kept.url());
            String boss = kept.bootstrapKey().orElseThrow();
            var keys = new LinkedHashMap<String, String>();
            for (String name : List.of("carol", "dave")) {
                String asked = "{'group':'T9','principal':'" + name + "','scopes':[]}";
                keys.put(
                        name,
                        Shown.of(there.post("/admin/keys", asked, "X-Api-Key", boss)
                                        .body())
                                .at("key")
                                .text());
            }
            String carol = String.valueOf(keys.get("carol"));
            String[] asCarol = {"X-Api-Key", carol, "A2A-Version", "1.0"};
            String task = there.result(
                            "/agents/knowing",
                            "SendMessage",
                            "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'x'}]}}",
                            asCarol)
                    .at("task", "id")
                    .text();

            keys.forEach((name, key) -> assertThatCode(() -> there.result(
                            "/agents/knowing",
                            "knowledge/update",
                            "{'taskId':'" + task + "','mutations':[{'op':'add','statement':{'subject':{'id':'ex:" + name
                                    + "'},'predicate':{'id':'ex:q'},'object':{'value':'o'}}}]}",
                            "X-Api-Key",
                            key,
                            "A2A-Version",
                            "1.0"))
                    .doesNotThrowAnyException());

            assertThat(there.result("/agents/knowing", "GetTask", "{'id':'" + task + "'}", asCarol)
                            .at("metadata", "knowledgeChanges")
                            .size())
                    .isEqualTo(1);
        }
    }

    @Test
    @DisplayName("ONE29: an operator decides about the graph of any group, by name, and the audit tells")
    void reviewsOfAnyGroupAreForOperators() throws Exception {
        try (Hub kept = Hub.builder()
                .data(directory.resolve("reviewed"))
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(Agent.named("knowing", "Has a knowledge graph")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete("ok")))
                .start()) {
            var there = new Outsider(kept.url());
            String boss = kept.bootstrapKey().orElseThrow();
            String carol = Shown.of(there.post(
                                    "/admin/keys", "{'group':'T7','principal':'carol','scopes':[]}", "X-Api-Key", boss)
                            .body())
                    .at("key")
                    .text();
            String rules = "/admin/knowledge/rules?group=T7";
            assertThat(there.post(rules, "{'rules':[{'effect':'review','on':'update'}]}", "X-Api-Key", carol)
                            .statusCode())
                    .isEqualTo(403);
            assertThat(there.post(rules, "{'rules':[{'effect':'never'}]}", "X-Api-Key", boss)
                            .statusCode())
                    .isEqualTo(400);
            there.post(rules, "{'rules':[{'effect':'review','on':'update'}]}", "X-Api-Key", boss);
            String update =
                    "{'jsonrpc':'2.0','id':1,'method':'knowledge/update','params':{'mutations':[{'op':'add','statement':"
                            + "{'subject':{'id':'ex:p'},'predicate':{'id':'ex:q'},'object':{'value':'o'}}}]}}";
            there.post("/agents/knowing", update, "X-Api-Key", carol, "A2A-Version", "1.0");

            String reviews = "/admin/knowledge/reviews";
            assertThat(there.get(reviews, "X-Api-Key", boss).body()).doesNotContain("carol");
            Shown waiting =
                    Shown.of(there.get(reviews + "?group=T7", "X-Api-Key", boss).body());
            assertThat(waiting.at("reviews", 0, "caller").text()).isEqualTo("carol");
            String id = waiting.at("reviews", 0, "id").text();
            Shown approved = Shown.of(there.post(reviews + "/" + id + "/approve?group=T7", "{}", "X-Api-Key", boss)
                    .body());
            assertThat(approved.at("verificationStatus").text()).isEqualTo("Verified");

            Shown decided = Shown.of(there.get(reviews + "?group=T7&state=all", "X-Api-Key", boss)
                    .body());
            assertThat(decided.at("reviews", 0, "decidedBy").text()).isEqualTo("admin");
            Shown rows = Shown.of(there.get("/admin/audit?group=T7&action=knowledge.updated", "X-Api-Key", boss)
                    .body());
            assertThat(rows.at("rows", 0, "outcome").text()).isEqualTo("Pending Review");
            assertThat(rows.at("rows", 0, "actor").text()).isEqualTo("carol");
            Shown approval = Shown.of(
                            there.get("/admin/audit?subject=T7/carol&action=knowledge.approved", "X-Api-Key", boss)
                                    .body())
                    .at("rows", 0);
            assertThat(approval.at("actor").text()).isEqualTo("admin");
            assertThat(approval.at("outcome").text()).isEqualTo("Verified");
            assertThat(there.get("/admin/audit?action=knowledge.rules", "X-Api-Key", boss)
                            .body())
                    .contains("\"actor\":\"admin\"");
        }
    }
}

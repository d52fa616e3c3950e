package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The mesh of hubs with authentication, with data that outlast a restart, and with few workers. */
@Timeout(120)
@Tag("heavy")
final class MeshHubTest {
    @TempDir
    private Path directory;

    private static Agent echo() {
        return Agent.named("echo", "Echoes")
                .skill("say", "Says")
                .handle((request, reply) -> reply.complete(request.text()));
    }

    private static String key(Peer admin, String adminKey, String principal, String scopes) throws Exception {
        return admin.post(
                        "/admin/keys",
                        "{'group':'T1','principal':'%s','scopes':[%s]}".formatted(principal, scopes),
                        "X-Api-Key",
                        adminKey)
                .text("key");
    }

    private static Answer critical(Peer peer, String id, String from, String key) throws Exception {
        String envelope = Peer.envelope(id, "echo", "task_delegation", "{'task':'say'}", "{'priority':'critical'}")
                .replace("planner", from);
        return peer.post("/agents/echo/one", envelope, "X-Api-Key", key);
    }

    @Test
    @DisplayName(
            "ONE24, ONE27 calls need a key of their sender; what it may not do is capability_mismatch with 403, in any dialect")
    void rights() throws Exception {
        Path policy = directory.resolve("policy.json");
        Files.writeString(
                policy,
                "{\"rules\": [{\"effect\": \"hide\", \"agents\": [\"secret\"]},"
                        + " {\"effect\": \"deny\", \"principals\": [\"guest\"], \"operations\": [\"SendMessage\"]}]}");
        Agent secret = Agent.named("secret", "Is hidden").handle((request, reply) -> reply.complete("x"));
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .policy(PolicyFile.read(policy))
                .agents(echo(), secret)
                .start()) {
            var peer = new Peer(hub.url());
            String admin = hub.bootstrapKey().orElseThrow();
            String alice = key(peer, admin, "alice", "");
            String chief = key(peer, admin, "chief", "'priority:critical'");
            String guest = key(peer, admin, "guest", "");

            Answer anonymous = peer.delegate("m-1", "echo", "say", "x");
            assertThat(anonymous.status()).isEqualTo(401);
            assertThat(anonymous.content("code")).isEqualTo("task_rejected");
            assertThat(anonymous.header("WWW-Authenticate")).isNotEmpty();

            Answer forged = peer.delegate("m-1", "echo", "say", "x", "X-Api-Key", alice);
            assertThat(forged.status()).isEqualTo(400);
            assertThat(forged.content("details", "path")).isEqualTo("from.agentId");

            assertThat(critical(peer, "m-2", "chief", chief).status()).isEqualTo(202);
            Answer noScope = critical(peer, "m-2", "alice", alice);
            assertThat(noScope.status()).isEqualTo(403);
            assertThat(noScope.content("code")).isEqualTo("capability_mismatch");
            Answer asA2a = peer.post(
                    "/agents/echo/message:send",
                    "{'message':{'messageId':'m-3','role':'ROLE_USER','parts':[{'text':'x'}],'metadata':{'"
                            + Delegations.URI + "':{'priority':'critical'}}}}",
                    "X-Api-Key",
                    alice,
                    "A2A-Version",
                    "1.0");
            assertThat(asA2a.status()).isEqualTo(403);

            String ofGuest = Peer.envelope("m-4", "echo", "task_delegation", "{'task':'say'}", "{}")
                    .replace("planner", "guest");
            Answer denied = peer.post("/agents/echo/one", ofGuest, "X-Api-Key", guest);
            assertThat(denied.status()).isEqualTo(403);
            assertThat(denied.content("code")).isEqualTo("capability_mismatch");

            Answer hidden = peer.delegate("m-5", "secret", "say", "x", "X-Api-Key", alice);
            Answer missing = peer.delegate("m-5", "nobody", "say", "x", "X-Api-Key", alice);
            assertThat(hidden.status()).isEqualTo(404);
            assertThat(hidden.content("code"))
                    .isEqualTo(missing.content("code"))
                    .isEqualTo("agent_not_found");
        }
    }

    @Test
    @DisplayName("ONE28 limits count an envelope once, though it becomes a message")
    void envelopesAreCountedOnce() throws Exception {
        Path policy = directory.resolve("daily.json");
        Files.writeString(policy, "{\"limits\": {\"agent\": {\"perDay\": 2}}}");
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .policy(PolicyFile.read(policy))
                .agents(echo())
                .start()) {
            var peer = new Peer(hub.url());

            assertThat(peer.delegate("m-1", "echo", "say", "x").status()).isEqualTo(202);
            assertThat(peer.delegate("m-2", "echo", "say", "x").status()).isEqualTo(202);
            assertThat(peer.delegate("m-3", "echo", "say", "x").status()).isEqualTo(429);
        }
    }

    @Test
    @DisplayName("ONE28 calls beyond a limit get 429 with Retry-After, as an envelope")
    void limits() throws Exception {
        Path policy = directory.resolve("limits.json");
        Files.writeString(policy, "{\"limits\": {\"principal\": {\"perSecond\": 1, \"burst\": 2}}}");
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .policy(PolicyFile.read(policy))
                .agents(echo())
                .start()) {
            var peer = new Peer(hub.url());
            String admin = hub.bootstrapKey().orElseThrow();
            String alice = key(peer, admin, "alice", "");
            Answer answer;
            int calls = 0;
            do {
                String envelope = Peer.envelope("m-" + calls, "echo", "query", "{'query':'x'}", "{}")
                        .replace("planner", "alice");
                answer = peer.post("/agents/echo/one", envelope, "X-Api-Key", alice);
            } while (answer.status() == 200 && ++calls < 1_000);

            assertThat(answer.status()).isEqualTo(429);
            assertThat(answer.type()).isEqualTo("error");
            assertThat(answer.content("retryable")).isEqualTo(true);
            assertThat(answer.header("Retry-After")).isNotEmpty();
        }
    }

    @Test
    @DisplayName("ONE15 an answer outlasts a restart, and a crash between effect and answer leads to the same task")
    void restart() throws Exception {
        Answer first;
        try (Hub hub = Hub.builder().data(directory).port(0).agents(echo()).start()) {
            first = new Peer(hub.url()).delegate("m-1", "echo", "say", "x");
        }
        try (Hub hub = Hub.builder().data(directory).port(0).agents(echo()).start()) {
            Answer again = new Peer(hub.url()).delegate("m-1", "echo", "say", "x");
            assertThat(again.content("taskId")).isEqualTo(first.content("taskId"));
            assertThat(again.text("timestamp")).isEqualTo(first.text("timestamp"));
        }
        try (Database database = Database.open(directory)) { // as a crash before the answer was kept
            int removed = database.write(session -> session.update("DELETE FROM one_answer"));
            assertThat(removed).isEqualTo(1);
        }
        try (Hub hub = Hub.builder().data(directory).port(0).agents(echo()).start()) {
            Answer again = new Peer(hub.url()).delegate("m-1", "echo", "say", "x");
            assertThat(again.content("taskId")).isEqualTo(first.content("taskId"));
            assertThat(again.text("messageId")).isEqualTo(first.text("messageId"));
        }
    }

    @Test
    @DisplayName("ONE15 answers, durations and time limits are kept on PostgreSQL, too")
    void postgresql() throws Exception {
        String url = PostgresqlServer.url();
        Answer first;
        try (Hub hub = Hub.builder()
                .data(directory)
                .database(url)
                .port(0)
                .agents(echo())
                .start()) {
            var peer = new Peer(hub.url());
            first = peer.post(
                    "/agents/echo/one",
                    Peer.envelope("m-1", "echo", "task_delegation", "{'task':'say'}", "{'timeout':60000}"));
            assertThat(first.status()).isEqualTo(202);
        }
        try (Hub hub = Hub.builder()
                .data(directory)
                .database(url)
                .port(0)
                .agents(echo())
                .start()) {
            var peer = new Peer(hub.url());
            Answer again = peer.post(
                    "/agents/echo/one",
                    Peer.envelope("m-1", "echo", "task_delegation", "{'task':'say'}", "{'timeout':60000}"));
            assertThat(again.content("taskId")).isEqualTo(first.content("taskId"));
            assertThat(peer.get("/one/events", "A2A-Version", "1.0").status()).isEqualTo(200);
            assertThat(peer.get("/openapi.json").body())
                    .as("a call and a stream at one address")
                    .contains("\"one/events\"", "one/events/watch", "text/event-stream");
        }
    }

    private static Agent asking() {
        return Agent.named("asking", "Asks")
                .skill("ask", "Asks")
                .handle((request, reply) -> reply.askForInput("Which?"));
    }

    private static String timed(String id, int timeout) {
        return Peer.envelope(id, "asking", "task_delegation", "{'task':'ask'}", "{'timeout':" + timeout + "}");
    }

    private String onDisk() throws IOException {
        var all = new StringBuilder();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }

    @Test
    @DisplayName(
            "ONE32, AK26 an erasure leaves no name or content of a sender in answers, timers, events and connections")
    void erasure() throws Exception {
        try (Hub hub = Hub.builder()
                .data(directory)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(asking())
                .start()) {
            var peer = new Peer(hub.url());
            String admin = hub.bootstrapKey().orElseThrow();
            String alice = key(peer, admin, "alice-liddell", "");
            String[] bob = {"X-Api-Key", key(peer, admin, "bob", ""), "A2A-Version", "1.0"};
            String envelope = timed("m-1", 3_600_000).replace("planner", "alice-liddell");
            assertThat(peer.post("/agents/asking/one", envelope, "X-Api-Key", alice)
                            .status())
                    .isEqualTo(202);
            Eventually.asserted(
                    "the row of the audit, which is written after the answer",
                    () -> assertThat(body(peer, "/one/connections", bob)).contains("alice-liddell"));
            String notice = Peer.envelope("m-2", "asking", "conflict", "{'text':'curiouser'}", "{}")
                    .replace("planner", "alice-liddell");
            assertThat(peer.post("/agents/asking/one", notice, "X-Api-Key", alice)
                            .status())
                    .isEqualTo(200);
            assertThat(body(peer, "/one/events", bob)).contains("curiouser");
            assertThat(onDisk()).contains("alice-liddell", "curiouser");

            Answer erased =
                    peer.post("/admin/privacy/erase?group=T1&principal=alice-liddell", "{}", "X-Api-Key", admin);

            assertThat(erased.text("tasks")).as(erased.body()).isEqualTo("1");
            assertThat(erased.text("messageTimers")).isEqualTo("0"); // as it went with its task
            key(peer, admin, "carol", ""); // what is written next comes after the row of the erasure
            assertThat(onDisk()).doesNotContain("alice-liddell", "curiouser").contains("extension_timer");
            assertThat(body(peer, "/one/connections", bob)).doesNotContain("alice-liddell");
            assertThat(body(peer, "/one/events", bob))
                    .contains("sha256:", "\"messageType\":\"conflict\"")
                    .doesNotContain("alice-liddell", "curiouser");
            assertThat(peer.get("/admin/audit/verify", "X-Api-Key", admin).at("good"))
                    .isEqualTo(true);
        }
    }

    private static String body(Peer peer, String path, String... headers) throws Exception {
        return peer.get(path, headers).body();
    }

    @Test
    @DisplayName("ONE32 the erasure of a sender that is not authenticated leaves the time limits of its tasks")
    void limitsOutlastErasures() throws Exception {
        try (Hub hub = Hub.builder().data(directory).port(0).agents(asking()).start()) {
            var peer = new Peer(hub.url());
            Object task = peer.post("/agents/asking/one", timed("m-1", 2_000)).content("taskId");

            Answer erased = peer.post("/admin/privacy/erase?group=default&principal=planner", "{}");

            assertThat(erased.text("messageAnswers")).isEqualTo("1");
            peer.get("/agents/asking/tasks/" + task + ":subscribe", "A2A-Version", "1.0"); // until it has ended
            Answer ended = peer.get("/agents/asking/one/tasks/" + task);
            assertThat(ended.content("error", "code")).as(ended.body()).isEqualTo("timeout");
        }
    }

    private static Agent single(CountDownLatch released, List<String> ran) {
        return Agent.named("single", "Works")
                .skill("work", "Works")
                .concurrency(1)
                .handle((request, reply) -> {
                    ran.add(request.text());
                    assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
                    reply.complete(request.text());
                });
    }

    /** Waits for the end of tasks. */
    private static void await(Peer peer, List<String> tasks) throws Exception {
        for (String task : tasks) {
            peer.get("/agents/single/tasks/" + task + ":subscribe", "A2A-Version", "1.0");
        }
    }

    @Test
    @DisplayName("ONE10 with one worker a critical task starts before the 100 low ones that wait")
    void priorities() throws Exception {
        var released = new CountDownLatch(1);
        var ran = new CopyOnWriteArrayList<String>();
        try (Hub hub =
                Hub.builder().inMemory().port(0).agents(single(released, ran)).start()) {
            var peer = new Peer(hub.url());
            var tasks = new ArrayList<String>();
            for (int i = 0; i < 101; i++) { // of which the first one runs
                tasks.add(begin(peer, "low-" + i, "low"));
            }
            tasks.add(begin(peer, "critical", "critical"));
            released.countDown();
            await(peer, tasks);

            assertThat(ran).hasSize(102);
            assertThat(ran.get(1)).isEqualTo("critical");
        }
    }

    @Test
    @DisplayName(
            "ONE10 while tasks of each priority wait, one worker starts them 8:4:2:1, and low ones are not starved")
    void shares() throws Exception {
        int rounds = 10;
        Map<String, Integer> weights = Map.of("critical", 8, "high", 4, "medium", 2, "low", 1);
        var released = new CountDownLatch(1);
        var ran = new CopyOnWriteArrayList<String>();
        try (Hub hub =
                Hub.builder().inMemory().port(0).agents(single(released, ran)).start()) {
            var peer = new Peer(hub.url());
            var tasks = new ArrayList<>(List.of(begin(peer, "first", "medium")));
            for (Map.Entry<String, Integer> level : weights.entrySet()) {
                for (int i = 0; i < level.getValue() * (rounds + 2); i++) { // more than start, so that none is short
                    tasks.add(begin(peer, level.getKey() + "-" + i, level.getKey()));
                }
            }
            released.countDown();
            await(peer, tasks);

            assertThat(ran).hasSize(tasks.size());
            weights.forEach((level, weight) -> assertThat(started(ran, level, 1, 15 * rounds))
                    .as(level)
                    .isBetween(weight * rounds * 9 / 10, weight * rounds * 11 / 10));
            for (int round = 0; round < rounds; round++) {
                assertThat(started(ran, "low", 1 + 15 * round, 15))
                        .as("round %d", round)
                        .isEqualTo(1);
            }
        }
    }

    private static int started(List<String> ran, String level, int from, int count) {
        return (int) ran.subList(from, from + count).stream()
                .filter(each -> each.startsWith(level + "-"))
                .count();
    }

    private static String begin(Peer peer, String id, String priority) throws Exception {
        String content = "{'task':'work','parameters':{'text':'" + id + "'}}";
        Answer accepted = peer.post(
                "/agents/single/one",
                Peer.envelope(id, "single", "task_delegation", content, "{'priority':'" + priority + "'}"));
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        return String.valueOf(accepted.content("taskId"));
    }
}

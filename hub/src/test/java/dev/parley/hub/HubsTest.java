package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.hub.Outsider.Shown;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The list of hubs, their checks, and drains. */
@Timeout(90)
final class HubsTest {
    @TempDir
    private Path data;

    private final Semaphore step = new Semaphore(0);
    private Hub hub;
    private Outsider outsider;
    private String[] admin;

    @BeforeEach
    void start() {
        hub = Hub.builder()
                .data(data.resolve("data"))
                .port(0)
                .drain(Duration.ZERO)
                .authentication(Authentication.named(List.of("required")))
                .agents(
                        Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text())),
                        Agent.named("worker", "Works until it may end").handle((request, reply) -> {
                            reply.working("began");
                            step.acquire();
                            reply.complete("done");
                        }),
                        Agent.named("booking", "Asks for a seat").handle(HubsTest::book))
                .start();
        outsider = new Outsider(hub.url());
        admin = with(hub.bootstrapKey().orElseThrow());
    }

    private static String[] with(String key) {
        return new String[] {"X-Api-Key", key, "A2A-Version", "1.0"};
    }

    private static void book(Request request, Reply reply) {
        if (request.task().isEmpty()) {
            reply.askForInput("Which seat?");
        } else {
            reply.complete("Booked: " + request.text());
        }
    }

    @AfterEach
    void stop() {
        step.release(10);
        hub.close();
    }

    private HttpResponse<String> send(String agent, String id, String more, String... headers) throws Exception {
        return outsider.post(
                "/agents/" + agent + "/message:send",
                "{'message':{'messageId':'" + id + "','role':'ROLE_USER','parts':[{'text':'" + id + "'}]" + more
                        + "},'configuration':{'returnImmediately':true}}",
                headers);
    }

    private Shown sent(String agent, String id, String more) throws Exception {
        HttpResponse<String> answer = send(agent, id, more, admin);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return Shown.of(answer.body()).at("task");
    }

    private void drain(String what) throws Exception {
        HttpResponse<String> answer = outsider.post("/admin/hubs/this/" + what, "{}", admin);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body().contains("drained")).isEqualTo(what.equals("drain"));
    }

    private static void assertRefused(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).contains("30");
        assertThat(answer.body()).contains("The hub is drained");
    }

    @Test
    void aDrainedHubRefusesNewTasksInEachDialectUntilItIsResumed() throws Exception {
        drain("drain");

        assertRefused(send("echo", "m-1", "", admin));
        HttpResponse<String> rpc = outsider.post(
                "/agents/echo",
                "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':{'message':{'messageId':'m-2','role':'ROLE_USER',"
                        + "'parts':[{'text':'x'}]}}}",
                admin);
        assertRefused(rpc);
        assertThat(rpc.body()).contains("\"jsonrpc\"").contains("\"error\"");
        HttpResponse<String> old = outsider.post(
                "/agents/echo",
                "{'jsonrpc':'2.0','id':1,'method':'message/send','params':{'message':{'kind':'message','messageId':'m-3',"
                        + "'role':'user','parts':[{'kind':'text','text':'x'}]}}}",
                admin[0],
                admin[1]);
        assertRefused(old);
        HttpResponse<String> oldest = outsider.post(
                "/agents/echo",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':{'id':'mine','message':{'role':'user',"
                        + "'parts':[{'type':'text','text':'x'}]}}}",
                admin[0],
                admin[1]);
        assertRefused(oldest);
        assertThat(outsider.get("/ready").statusCode()).isEqualTo(503);
        assertThat(outsider.get("/health").statusCode()).isEqualTo(200);

        drain("resume");

        assertThat(send("echo", "m-1", "", admin).statusCode()).isEqualTo(200);
        assertThat(outsider.get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void runningTasksReadsRepetitionsAndFollowUpsGoOn() throws Exception {
        String running = sent("worker", "w-1", "").at("id").text();
        String asking = sent("booking", "b-1", "").at("id").text();

        drain("drain");

        assertThat(sent("worker", "w-1", "").at("id").text()).isEqualTo(running);
        String hubs = outsider.get("/admin/hubs", admin).body();
        assertThat(Shown.of(hubs).at("hubs", 0, "running").value()).hasToString("1");
        assertThat(outsider.get("/agents/booking/tasks/" + asking, admin).statusCode())
                .isEqualTo(200);
        assertThat(sent("booking", "b-2", ",'taskId':'" + asking + "'").at("id").text())
                .isEqualTo(asking);
        step.release();
        for (String task : List.of("worker/tasks/" + running, "booking/tasks/" + asking)) {
            Eventually.value(
                    task + " is completed",
                    () -> outsider.get("/agents/" + task, admin).body(),
                    shown -> shown.contains("TASK_STATE_COMPLETED"));
        }
    }

    @Test
    void aDrainAndItsEndLeaveARowEach() throws Exception {
        drain("drain");
        drain("drain"); // changes nothing
        drain("resume");

        Eventually.asserted("the audit of the drain", () -> {
            Shown rows = Shown.of(
                            outsider.get("/admin/audit?target=this", admin).body())
                    .at("rows");
            assertThat(IntStream.range(0, rows.size())
                            .mapToObj(row -> rows.at(row, "action").text()))
                    .containsExactly("hub.drained", "hub.resumed");
        });
    }

    @Test
    void theChecksTellThatChangesAreRefused() throws Exception {
        Path database = data.resolve("data").resolve("parley.db");
        Path aside = data.resolve("aside.db");

        Files.move(database, aside);
        assertThat(outsider.get("/ready").statusCode()).isEqualTo(503);
        assertThat(outsider.get("/admin/hubs/this/health?fresh=true", admin).body())
                .contains("\"check\":\"changes\",\"level\":\"problem\"", "tries again by itself");

        Files.move(aside, database);
        // With pauses: requests that are refused without any are a flood, whose connection the hub ends.
        Eventually.holds("the hub is ready", () -> outsider.get("/ready").statusCode() == 200);
        assertThat(outsider.get("/admin/hubs/this/health?fresh=true", admin).body())
                .doesNotContain("\"changes\"");
    }

    @Test
    void onlyOperatorsSeeCheckAndDrainHubs() throws Exception {
        String made = outsider.post("/admin/keys", "{'group':'team','principal':'ann'}", admin)
                .body();
        String[] ann = with(Shown.of(made).at("key").text());

        assertThat(outsider.get("/admin/hubs", ann).statusCode()).isEqualTo(403);
        assertThat(outsider.get("/admin/hubs/this/health", ann).statusCode()).isEqualTo(403);
        assertThat(outsider.post("/admin/hubs/this/drain", "{}", ann).statusCode())
                .isEqualTo(403);
        assertThat(outsider.post("/admin/hubs/this/drain", "{}").statusCode()).isEqualTo(401);
        assertThat(outsider.post("/admin/hubs/other/drain", "{}", admin).statusCode())
                .isEqualTo(404);
        assertThat(outsider.get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void theChecksOfTheHubAreSharedUntilSomebodyAsksForFreshOnes() throws Exception {
        String first = outsider.get("/admin/hubs/this/health", admin).body();
        String again = outsider.get("/admin/hubs/this/health", admin).body();
        String fresh = outsider.get("/admin/hubs/this/health?fresh=true", admin).body();

        assertThat(first).contains("\"disk\"", "\"database\"", "\"queue\"", "\"backlog\"", "\"made\"");
        assertThat(again).isEqualTo(first);
        assertThat(Shown.of(fresh).at("made").text())
                .isNotEqualTo(Shown.of(first).at("made").text());
    }

    @Test
    void aHubInMemorySaysSo() throws Exception {
        try (Hub memory = Hub.builder().inMemory().port(0).start()) {
            var other = new Outsider(memory.url());

            assertThat(other.get("/admin/hubs/this/health").body()).contains("keeps its data in memory", "--data DIR");
            assertThat(other.get("/admin/hubs").body()).contains("\"id\":\"this\"");
        }
    }
}

package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.database.Database;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Calls that read while the database fails are answered as unavailable, in each dialect, and tell nothing of its inside. */
@Timeout(120)
@Tag("heavy")
final class UnavailableReadsTest {
    private static final String AGENT = "/agents/" + SecurityOperation.AGENT;
    private static final String ASK = "{'queryLanguage':'graphql','query':'{ graphs { name } }'}";
    private static final String ADD =
            "{'mutations':[{'op':'add','statement':{'subject':{'id':'ex:s'},'predicate':{'id':'ex:p'},'object':{'value':'o'}}}]}";

    @TempDir
    Path data = Path.of("");

    private final Faults faults = new Faults();
    private Hub hub;
    private Outsider caller;
    private String task;

    @BeforeEach
    void start() throws Exception {
        hub = hub();
        caller = new Outsider(hub.url());
        task = caller.result(
                        AGENT,
                        "SendMessage",
                        "{'message':{'messageId':'m-1','role':'ROLE_USER','parts':[{'text':'hello'}]}}",
                        "A2A-Version",
                        "1.0")
                .at("task", "id")
                .text();
        caller.result(AGENT, "knowledge/update", ADD, "A2A-Version", "1.0");
        hub.close();
        hub = hub(); // which has nothing of the task in memory
        caller = new Outsider(hub.url());
    }

    @AfterEach
    void stop() {
        faults.pass();
        hub.close();
    }

    private Hub hub() {
        return hub(data);
    }

    private Hub hub(Path directory) {
        return Hub.builder()
                .data(directory)
                .port(0)
                .drain(Duration.ZERO)
                .connections(faults::wrap)
                .agents(Agent.named(SecurityOperation.AGENT, "Says it again")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())))
                .start();
    }

    private static void assertUnavailable(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).contains("1");
        assertTellsNothing(answer.body());
    }

    /** Refused writes have the reason that is also in {@code /ready}. */
    private static void assertTellsNothing(String said) {
        assertThat(said.replaceFirst(
                        "The task could not be written: the database cannot be written: \\[SQLITE_IOERR][^\"]*", ""))
                .doesNotContainIgnoringCase("sqlite")
                .doesNotContain("Exception", "disk", "database", "reference");
    }

    private static String envelope(String method, String params) {
        return "{'jsonrpc':'2.0','id':'q-1','method':'" + method + "','params':" + params + "}";
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = ';',
            value = {
                "1.0; ``; GetTask; {'id':'ID'}; -32603",
                "1.0; ``; ListTasks; {}; -32603",
                "1.0; ``; CancelTask; {'id':'ID'}; -32603",
                "1.0; ``; SubscribeToTask; {'id':'ID'}; -32603",
                "1.0; ``; SendMessage; {'message':{'messageId':'m-2','role':'ROLE_USER','taskId':'ID','parts':[{'text':'x'}]}}; -32603",
                "1.0; ``; SendMessage; {'message':{'messageId':'m-3','role':'ROLE_USER','parts':[{'text':'x'}]}}; -32603",
                "1.0; ``; ListTaskPushNotificationConfigs; {'taskId':'ID'}; -32603",
                "0.3; ``; tasks/get; {'id':'ID'}; -32603",
                "0.3; ``; tasks/resubscribe; {'id':'ID'}; -32603",
                "0.1; ``; tasks/get; {'id':'ID'}; -32603",
                "1.0; /kernel; tasks/get; {'id':'ID'}; -32603",
                "1.0; /agentvault; tasks/get; {'id':'ID'}; -32000",
                "1.0; ``; knowledge/query; " + ASK + "; -32603",
                "1.0; ``; knowledge/update; " + ADD + "; -32603",
                "1.0; ``; knowledge/subscribe; {'subscriptionQuery':'subscription { knowledgeChanged { op } }'}; -32603"
            })
    void callsOverJsonRpcAreUnavailable(String version, String dialect, String method, String params, int code)
            throws Exception {
        faults.from(1, Fault.IO, Side.ALL);

        HttpResponse<String> answer =
                caller.post(AGENT + dialect, envelope(method, params.replace("ID", task)), "A2A-Version", version);

        assertUnavailable(answer);
        Shown error = Shown.of(answer.body()).at("error");
        assertThat(error.at("code").value()).as(answer.body()).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource({
        "1.0, GET, /tasks/ID, ''",
        "1.0, GET, /tasks, ''",
        "1.0, GET, /tasks/ID:subscribe, ''",
        "1.0, GET, /tasks/ID/pushNotificationConfigs, ''",
        "0.3, GET, /v1/tasks/ID, ''",
        "1.0, POST, /kg:query, ASK"
    })
    void callsOverRestAreUnavailable(String version, String verb, String path, String body) throws Exception {
        faults.from(1, Fault.FULL, Side.ALL);
        String at = AGENT + path.replace("ID", task);

        HttpResponse<String> answer = verb.equals("GET")
                ? caller.get(at, "A2A-Version", version)
                : caller.post(at, body.replace("ASK", ASK), "A2A-Version", version);

        assertUnavailable(answer);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "GET_EXTENDED_AGENT_CARD")
    void callsOverGrpcAreUnavailable(SecurityOperation operation) {
        URI url = URI.create(hub.url());
        ManagedChannel channel = OkHttpChannelBuilder.forAddress(
                        url.getHost(), url.getPort(), InsecureChannelCredentials.create())
                .build();
        try {
            faults.from(1, Fault.BUSY, Side.ALL);

            SecurityOperation.Answer answer = operation.overGrpc(channel, task);

            assertThat(answer.status()).as(answer.said()).isEqualTo("UNAVAILABLE");
            assertTellsNothing(answer.said());
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void callsAreAnsweredAsSoonAsTheFaultHasPassed() throws Exception {
        for (Fault fault : List.of(Fault.FULL, Fault.IO, Fault.BUSY, Fault.INTERRUPT)) {
            faults.from(1, fault, Side.ALL);
            assertUnavailable(caller.post(AGENT, envelope("GetTask", "{'id':'" + task + "'}"), "A2A-Version", "1.0"));
            faults.pass();
            caller.awaitReady(200, "");

            assertThat(caller.get(AGENT + "/tasks", "A2A-Version", "1.0").body())
                    .contains(task);
        }
        assertThat(caller.result(AGENT, "GetTask", "{'id':'" + task + "'}", "A2A-Version", "1.0")
                        .text())
                .contains("hello");
    }

    /** A group gets its row among the graphs when something is written to its graph, not when a task is read. */
    @Test
    void readsOfAGroupWithoutAGraphWriteNothing() throws Exception {
        Path fresh = data.resolve("fresh");
        try (Hub without = hub(fresh)) {
            var asking = new Outsider(without.url());
            String id = asking.result(
                            AGENT,
                            "SendMessage",
                            "{'message':{'messageId':'m-1','role':'ROLE_USER','parts':[{'text':'hello'}]}}",
                            "A2A-Version",
                            "1.0")
                    .at("task", "id")
                    .text();
            assertThat(asking.result(AGENT, "GetTask", "{'id':'" + id + "'}", "A2A-Version", "1.0")
                            .text())
                    .contains(id);
            assertThat(graphs(fresh)).isZero();
            faults.from(1, Fault.FULL, Side.WRITES);

            assertThat(asking.get(AGENT + "/tasks/" + id, "A2A-Version", "1.0").statusCode())
                    .isEqualTo(200);
            HttpResponse<String> answer = asking.post(AGENT + "/kg:query", ASK, "A2A-Version", "1.0");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(graphs(fresh)).isZero();
        } finally {
            faults.pass();
        }
    }

    private static long graphs(Path directory) {
        try (Database database = Database.openForReading(directory)) {
            return database.<Long>read(session -> {
                try (ResultSet row =
                        session.bind("SELECT count(*) FROM kg_space").executeQuery()) {
                    return row.getLong(1);
                }
            });
        }
    }

    /** Waiting does not help against a damaged page, so the caller gets a reference into the log. */
    @Test
    void aDamagedPageIsAnInternalErrorWithAReference() throws Exception {
        faults.from(1, Fault.CORRUPT, Side.READS);

        HttpResponse<String> answer = caller.get(AGENT + "/tasks/" + task, "A2A-Version", "1.0");

        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).contains("reference").doesNotContainIgnoringCase("sqlite");
    }
}

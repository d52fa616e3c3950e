package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.AgentCard;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The quota of a group counts all that its callers make durable: 130 KB for T1, none for T2. */
@Timeout(180)
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class GroupQuotaTest {
    private static final int LIMIT = 130 << 10;
    private static final String V1 = "A2A-Version";
    private static final String LARGE = "x".repeat(9_000);

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    private Path data = Path.of("");

    private final HttpClient http = HttpClient.newHttpClient();
    private @Nullable Hub hub;
    private String admin = "";
    private String alice = "";
    private String bob = "";

    /** A request that writes, the words of its refusal in a full group, and the request that removes its data. */
    private record Write(
            String name,
            String verb,
            String path,
            String body,
            String refusal,
            @Nullable String removal,
            String removalBody) {
        Write(String name, String path, String body, String refusal, @Nullable String removal) {
            this(name, "POST", path, body, refusal, removal, "");
        }
    }

    private record Answer(int status, String body) {
        @Nullable
        Object at(Object... path) {
            Object here = Json.read(body.getBytes(UTF_8), Object.class);
            for (Object step : path) {
                here = switch (here) {
                    case List<?> list when step instanceof Integer index && index < list.size() -> list.get(index);
                    case Map<?, ?> map -> map.get(step);
                    case null, default -> null;
                };
            }
            return here;
        }
    }

    @BeforeEach
    void start() throws Exception {
        if (kind == DatabaseKind.POSTGRESQL) {
            Database.name(data, PostgresqlServer.url());
        }
        open();
        admin = requireNonNull(hub).bootstrapKey().orElseThrow();
        alice = key("T1", "alice");
        bob = key("T2", "bob");
    }

    private void open() {
        hub = Hub.builder()
                .data(data)
                .port(0)
                .grpcOnCards(true)
                .set("group-quota", "T1=130KB")
                .set("registry-probes", "0s") // the outcome of a probe takes bytes
                .authentication(Authentication.named(List.of("required")))
                .agents(Agent.named("echo", "Returns the message")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> {
                            if (request.text().startsWith("remember")) {
                                request.memory().orElseThrow().write(LARGE);
                            }
                            if (request.text().startsWith("wait")) {
                                reply.askForInput("What else?");
                            } else {
                                reply.complete("done");
                            }
                        }))
                .start();
    }

    @AfterEach
    void stop() {
        requireNonNull(hub).close();
    }

    private String key(String group, String principal) throws Exception {
        return key(group, principal, "");
    }

    private String key(String group, String principal, String scopes) throws Exception {
        Answer answer = send(
                admin,
                "POST",
                "/admin/keys",
                "{'group':'" + group + "','principal':'" + principal + "','scopes':[" + scopes + "]}");
        return String.valueOf(answer.at("key"));
    }

    private Answer send(String key, String verb, String path, String body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(requireNonNull(hub).url() + path))
                .header("X-Api-Key", key)
                .method(
                        verb,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        if (!body.contains("'tasks/") && !body.contains("'message/")) {
            request.header(V1, "1.0");
        }
        HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
        return new Answer(answer.statusCode(), answer.body());
    }

    private Answer ok(String key, String verb, String path, String body) throws IOException, InterruptedException {
        Answer answer = send(key, verb, path, body);
        assertThat(answer.status()).as(verb + " " + path + ": " + answer.body()).isBetween(200, 202);
        assertThat(answer.body()).as(path).doesNotContain("\"error\":{");
        return answer;
    }

    private Map<?, ?> usage() throws Exception {
        List<?> groups = (List<?>)
                requireNonNull(ok(admin, "GET", "/admin/groups/usage", "").at("groups"));
        return groups.stream()
                .map(group -> (Map<?, ?>) group)
                .filter(group -> "T1".equals(group.get("group")))
                .findFirst()
                .orElseThrow();
    }

    private long used() throws Exception {
        return ((Number) requireNonNull(usage().get("bytes"))).longValue();
    }

    private static String rpc(String method, String params) {
        return "{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}";
    }

    private static String message(String id, String text) {
        return "{'message':{'messageId':'" + id + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}";
    }

    private static String update(String op, String subject, String value) {
        return "{'mutations':[{'op':'" + op + "','statement':{'subject':{'id':'ex:" + subject
                + "'},'predicate':{'id':'ex:text'},'object':{'value':'" + value + "'}}}]}";
    }

    private static String card(String name) {
        return "{'visibility':'group','card':{'name':'" + name + "','description':'" + LARGE
                + "','version':'1','supportedInterfaces':[{'url':'https://" + name
                + ".example/a2a','protocolBinding':'JSONRPC','protocolVersion':'1.0'}],'capabilities':{},"
                + "'defaultInputModes':['text/plain'],'defaultOutputModes':['text/plain'],'skills':"
                + "[{'id':'s','name':'S','description':'Does','tags':['t']}]}}";
    }

    private static String definition(String name) {
        return "{'name':'" + name + "','description':'" + LARGE
                + "','workflow':{'steps':[{'id':'s','agent':'echo','task':'x','parameters':{'text':'y'}}]}}";
    }

    private static String envelope(String caller, String id) {
        return "{'version':'1.0','messageId':'" + id + "','from':{'agentId':'" + caller
                + "','endpoint':'https://a.example/agents/x'},'to':{'agentId':'echo','endpoint':'https://b.example/agents/echo/one'},"
                + "'message':{'type':'query','mimeType':'application/json','content':{'query':'" + LARGE
                + "'}},'metadata':{}}";
    }

    /** The writes of a caller, each of which is larger than what a full group has left. */
    private static List<Write> writes(String caller, String task) {
        String hook = "https://example.com/" + "p".repeat(1_900);
        String rest = "/agents/echo/tasks/" + task + "/pushNotificationConfigs";
        String old = "{'id':'" + task + "','pushNotificationConfigId':'%s'}";
        return List.of(
                new Write(
                        "a message",
                        "/agents/echo/message:send",
                        message("m-" + caller, LARGE),
                        "507 RESOURCE_EXHAUSTED",
                        null),
                new Write(
                        "a message of 0.3",
                        "/agents/echo",
                        rpc(
                                "message/send",
                                "{'message':{'kind':'message','messageId':'old-" + caller
                                        + "','role':'user','parts':[{'kind':'text','text':'" + LARGE + "'}]}}"),
                        "507 -32603",
                        null),
                new Write(
                        "a task of the kernel",
                        "/agents/echo/kernel",
                        rpc(
                                "tasks/send",
                                "{'id':'kernel-" + caller
                                        + "','message':{'role':'user','parts':[{'type':'text','text':'" + LARGE
                                        + "'}]}}"),
                        "507 -32603",
                        null),
                new Write(
                        "a statement over REST",
                        "POST",
                        "/agents/echo/kg:update",
                        update("add", "rest", LARGE),
                        "507 RESOURCE_EXHAUSTED",
                        "/agents/echo/kg:update",
                        update("remove", "rest", LARGE)),
                new Write(
                        "a statement over JSON-RPC",
                        "POST",
                        "/agents/echo",
                        rpc("knowledge/update", update("add", "rpc", LARGE)),
                        "507 -32603",
                        "/agents/echo",
                        rpc("knowledge/update", update("remove", "rpc", LARGE))),
                new Write(
                        "an entry over REST",
                        "/registry/agents",
                        card("rest" + caller),
                        "507 RESOURCE_EXHAUSTED",
                        "DELETE /registry/agents/ID"),
                new Write(
                        "an entry over JSON-RPC",
                        "/registry",
                        rpc("registry/register", card("rpc" + caller)),
                        "507 -32603",
                        "DELETE /registry/agents/ID"),
                new Write(
                        "a definition",
                        "/one/definitions",
                        definition("d"),
                        "507 RESOURCE_EXHAUSTED",
                        "DELETE /one/definitions/d"),
                new Write(
                        "a run",
                        "/one/workflows",
                        "{'workflow':{'steps':[{'id':'s','agent':'echo','task':'x','parameters':{'text':'" + LARGE
                                + "'}}]}}",
                        "507 RESOURCE_EXHAUSTED",
                        null),
                new Write(
                        "an envelope", "/agents/echo/one", envelope(caller, "e-" + caller), "507 task_rejected", null),
                new Write(
                        "a webhook over REST",
                        rest,
                        "{'id':'w1','url':'" + hook + "'}",
                        "507 RESOURCE_EXHAUSTED",
                        "DELETE " + rest + "/w1"),
                new Write(
                        "a webhook over JSON-RPC",
                        "/agents/echo",
                        rpc(
                                "CreateTaskPushNotificationConfig",
                                "{'taskId':'" + task + "','id':'w2','url':'" + hook + "'}"),
                        "507 -32603",
                        "DELETE " + rest + "/w2"),
                new Write(
                        "a webhook of 0.3",
                        "POST",
                        "/agents/echo",
                        rpc(
                                "tasks/pushNotificationConfig/set",
                                "{'taskId':'" + task + "','pushNotificationConfig':{'id':'w3','url':'" + hook + "'}}"),
                        "507 -32603",
                        "/agents/echo",
                        rpc("tasks/pushNotificationConfig/delete", old.formatted("w3"))));
    }

    /** The failure of a large message over gRPC; null if it is taken. */
    private @Nullable Throwable overGrpc(String key) {
        try (AgentClient client = AgentClient.builder()
                .apiKey(key)
                .prefer(AgentCard.Interface.GRPC)
                .connect(requireNonNull(hub).agentUrl("echo"))) {
            return catchThrowable(() -> client.send(LARGE));
        }
    }

    private static String refusal(Answer answer) {
        String error = String.valueOf(answer.at("error", "code"));
        Object status = answer.at("error", "status");
        Object envelope = answer.at("message", "content", "code");
        return answer.status() + " " + (status != null ? status : envelope != null ? envelope : error);
    }

    private void remove(String key, Write write, Answer written) throws Exception {
        String removal = write.removal();
        if (removal != null && removal.startsWith("DELETE ")) {
            Object id = written.at("id") instanceof String own ? own : written.at("result", "id");
            ok(key, "DELETE", removal.substring(7).replace("ID", String.valueOf(id)), "");
        } else if (removal != null) {
            ok(key, "POST", removal, write.removalBody());
        }
    }

    private String waiting(String key, String id) throws Exception {
        return String.valueOf(ok(key, "POST", "/agents/echo/message:send", message(id, "wait"))
                .at("task", "id"));
    }

    /** Fills the group by statements until less than a webhook is left, and returns the requests that remove them. */
    private List<String> fill() throws Exception {
        return fill(1_000);
    }

    /** Fills the group by statements until less than {@code left} is left. */
    private List<String> fill(int left) throws Exception {
        var removals = new ArrayList<String>();
        while (LIMIT - used() > left) {
            int size = (int) Math.min(8_000, Math.max(100, LIMIT - used() - 900));
            String subject = "fill" + removals.size();
            String text = "f".repeat(size);
            ok(alice, "POST", "/agents/echo/kg:update", update("add", subject, text));
            removals.add(update("remove", subject, text));
        }
        return removals;
    }

    @Test
    @DisplayName(
            "T2: each durable write of a full group is refused in its dialect, writes nothing, and works again after a removal")
    void eachKindOfDurableWriteCounts() throws Exception {
        String task = waiting(alice, "first");
        String other = waiting(bob, "first");
        List<String> removals = fill();
        long full = used();
        assertThat(full).isBetween(LIMIT - 1_000L, (long) LIMIT);

        var refusals = new LinkedHashMap<String, String>();
        var expected = new LinkedHashMap<String, String>();
        for (Write write : writes("alice", task)) {
            Answer refused = send(alice, write.verb(), write.path(), write.body());
            refusals.put(write.name(), refusal(refused));
            expected.put(write.name(), write.refusal());
            assertThat(refused.body()).as(write.name()).contains("The data of group \\\"T1\\\" take ");
            assertThat(used()).as(write.name()).isEqualTo(full);
        }
        assertThat(refusals).isEqualTo(expected);
        assertThat(overGrpc(alice)).hasMessageContaining("The data of group \"T1\" take ");
        assertThat(used()).isEqualTo(full);
        assertThat(overGrpc(bob)).isNull();
        for (Write write : writes("bob", other)) {
            ok(bob, write.verb(), write.path(), write.body());
        }

        requireNonNull(hub).close();
        open();
        assertThat(used()).isEqualTo(full);
        assertThat(ok(alice, "GET", "/registry/agents", "").body()).doesNotContain("alice");
        assertThat(ok(alice, "GET", "/one/definitions", "").body()).doesNotContain("\"name\":\"d\"");

        for (String removal : removals) {
            ok(alice, "POST", "/agents/echo/kg:update", removal);
        }
        long base = used();
        assertThat(base).isLessThan(10_000);
        for (Write write : writes("alice", task)) {
            long before = used();
            Answer written = ok(alice, write.verb(), write.path(), write.body());
            assertThat(used()).as(write.name()).isGreaterThan(before + 1_900);
            if (write.removal() != null) {
                remove(alice, write, written);
                assertThat(used()).as(write.name() + ", removed").isBetween(before, before + 400);
            }
        }
        long last = used();
        requireNonNull(hub).close();
        open();
        assertThat(used()).isEqualTo(last);
    }

    /** Bytes of a kind of data of T1. */
    private double stored(String kind) throws Exception {
        String metrics =
                ok(key("T2", "scraper", "'metrics'"), "GET", "/metrics", "").body();
        String line = "parley_stored_bytes{group=\"T1\",kind=\"" + kind + "\"} ";
        return metrics.lines()
                .filter(each -> each.startsWith(line))
                .mapToDouble(each -> Double.parseDouble(each.substring(line.length())))
                .sum();
    }

    @Test
    @DisplayName("T2: changes of a graph and deleted entries take a share of the quota besides it, and refuse nothing")
    void recordsAsideAreRemovedEarly() throws Exception {
        String set = "{'mutations':[{'op':'replace','statement':{'subject':{'id':'ex:s'},'predicate':{'id':'ex:text'},"
                + "'object':{'value':'%s" + LARGE + "'}}}]}";
        for (int i = 0; i < 30; i++) {
            ok(alice, "POST", "/agents/echo/kg:update", set.formatted(i));
        }
        for (int i = 0; i < 12; i++) {
            Answer entry = ok(alice, "POST", "/registry/agents", card("agent" + i));
            ok(alice, "DELETE", "/registry/agents/" + entry.at("id"), "");
        }

        double deleted =
                Eventually.value("few deleted entries", () -> stored("deleted"), bytes -> bytes <= LIMIT / 4.0);
        double changes = Eventually.value("few changes", () -> stored("changes"), bytes -> bytes <= LIMIT / 2.0);
        assertThat(List.of(deleted, changes)).as("more than a record of each").allMatch(bytes -> bytes >= 9_000);
        assertThat(stored("knowledge")).isBetween(9_000.0, 12_000.0);
        assertThat(stored("registry")).isZero();
        assertThat(used()).isLessThan(12_000);
    }

    @Test
    @DisplayName("T2: other writes of a full group are refused, too, and a removal makes room")
    void otherWritesAreRefused() throws Exception {
        Answer entry = ok(alice, "POST", "/registry/agents", card("old"));
        String path = "/registry/agents/" + entry.at("id");
        ok(alice, "POST", "/agents/echo/kg:update", update("add", "first", "v"));
        List<String> removals = fill();
        long full = used();

        for (String[] write : new String[][] {
            {"PUT", path, card("old").replace("'1'", "'2'").replace("Does", "Does now")},
            {"PATCH", path, "{'metadata':{'note':'" + "n".repeat(1_500) + "'}}"},
            {"POST", path + ":review", "{'stars':5,'text':'" + "r".repeat(1_500) + "'}"},
            {"POST", "/agents/echo/kg:update", update("replace", "first", LARGE)},
        }) {
            Answer refused = send(alice, write[0], write[1], write[2]);
            assertThat(refused.body()).as(write[0] + " " + write[1]).contains("The data of group \\\"T1\\\" take ");
            assertThat(used()).as(write[0] + " " + write[1]).isEqualTo(full);
        }
        ok(alice, "POST", "/agents/echo/kg:update", removals.getFirst());
        assertThat(used()).isLessThan(full - 8_000);
        ok(alice, "POST", path + ":review", "{'stars':5,'text':'" + "r".repeat(1_500) + "'}");
        ok(alice, "DELETE", path, "");
    }

    @Test
    @DisplayName(
            "T2: a memory of a conversation that does not fit fails its task with the reason, and fits after a removal")
    void memoriesCount() throws Exception {
        List<String> removals = fill(4_000);
        long full = used();

        Answer refused = ok(alice, "POST", "/agents/echo/message:send", message("m-1", "remember"));
        assertThat(refused.at("task", "status", "state")).isEqualTo("TASK_STATE_FAILED");
        assertThat(refused.body()).contains("The data of group \\\"T1\\\" take ");
        assertThat(stored("memories")).isZero();
        assertThat(used()).isBetween(full, full + 3_000);

        ok(alice, "POST", "/agents/echo/kg:update", removals.get(0));
        ok(alice, "POST", "/agents/echo/kg:update", removals.get(1));
        Answer taken = ok(alice, "POST", "/agents/echo/message:send", message("m-2", "remember"));
        assertThat(taken.at("task", "status", "state")).isEqualTo("TASK_STATE_COMPLETED");
        assertThat(stored("memories")).isEqualTo(9_200);
        requireNonNull(hub).close();
        open();
        assertThat(stored("memories")).isEqualTo(9_200);
        ok(admin, "POST", "/admin/privacy/erase?principal=alice&group=T1", "{}");
        assertThat(stored("memories")).isZero();
    }

    @Test
    @DisplayName("T2: data that were written before they were counted are counted by the first start")
    void olderDataAreCounted() throws Exception {
        String task = waiting(alice, "first");
        for (Write write : writes("alice", task)) {
            if (!write.path().startsWith("/one/workflows")) {
                ok(alice, write.verb(), write.path(), write.body());
            }
        }
        ok(alice, "POST", "/agents/echo/message:send", message("m-1", "remember"));
        long before = used();
        double changes = stored("changes");
        requireNonNull(hub).close();

        try (Database database = Database.open(data)) {
            var unused = database.write(session -> {
                for (String table :
                        List.of("kg_statement", "kg_assertion", "kg_change", "kg_review", "registry_entry")) {
                    session.once("ALTER TABLE " + table + " DROP COLUMN bytes");
                }
                session.once("DELETE FROM stored WHERE kind <> 'tasks'");
                session.once("DROP TABLE registry_newest");
                session.once("ALTER TABLE kg_space DROP COLUMN newest");
                session.once("ALTER TABLE kg_space DROP COLUMN erasures");
                session.once("ALTER TABLE kg_space DROP COLUMN plain_ids");
                session.once("DROP INDEX kg_term_by_hash");
                session.once("ALTER TABLE kg_term DROP COLUMN twin");
                session.once("CREATE INDEX kg_term_by_hash ON kg_term (hash)");
                session.once("UPDATE module_version SET version = 3 WHERE module = 'knowledge'");
                session.once("UPDATE module_version SET version = 5 WHERE module = 'registry'");
                session.once("UPDATE module_version SET version = 1 WHERE module = 'workflows'");
                session.once("DROP TABLE memory_erasure");
                session.once("UPDATE module_version SET version = 1 WHERE module = 'memories'");
                session.once("UPDATE module_version SET version = 4 WHERE module = 'task'");
                session.once("DROP INDEX task_by_trace");
                if (kind == DatabaseKind.POSTGRESQL) {
                    session.once("ALTER TABLE segment DROP COLUMN at_ms");
                    session.once("ALTER TABLE module_version DROP COLUMN readable_from");
                    for (String column : List.of(
                            "kg_space ALTER COLUMN space",
                            "kg_term ALTER COLUMN term_no",
                            "kg_provenance ALTER COLUMN provenance",
                            "kg_audit ALTER COLUMN audit_no",
                            "registry_entry ALTER COLUMN number")) {
                        session.once("ALTER TABLE " + column + " DROP IDENTITY");
                    }
                    session.once("DROP VIEW audit_end");
                    session.once("DROP VIEW stream_newest");
                    session.once("ALTER TABLE stream ADD COLUMN group_no BIGINT NOT NULL DEFAULT 0");
                    session.once(
                            "UPDATE stream SET group_no = g.group_no, audit_no = g.audit_no, audit_hash = g.audit_hash"
                                    + " FROM (SELECT * FROM stream_group ORDER BY group_no DESC LIMIT 1) AS g");
                    session.once("DROP TABLE stream_group");
                    session.once("DROP TABLE epoch");
                    session.once("CREATE VIEW audit_end AS SELECT audit_no AS row_no, audit_hash AS hash FROM stream");
                    session.once("ALTER TABLE hub DROP COLUMN version, DROP COLUMN begun_at");
                    session.once("ALTER TABLE stream DROP COLUMN at_once");
                }
                return session;
            });
            if (kind == DatabaseKind.SQLITE) {
                // The version of the file is not a part of a transaction.
                database.write(session -> {
                    session.once("PRAGMA user_version=11");
                    return session;
                });
            }
        }
        open();

        assertThat(used()).isEqualTo(before);
        assertThat(stored("changes")).isEqualTo(changes);
    }
}

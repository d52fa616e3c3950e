package dev.parley.pipelines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.Skill;
import dev.parley.hub.Hub;
import dev.parley.pipelines.repair.RepairShop;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps and delegations as calls of skills: of MCP servers, of methods, of agents elsewhere, and of handlers. */
@Timeout(120)
final class SkillStepsTest {
    @TempDir
    static Path directory;

    private static Hub other;
    private static Hub hub;

    /** Agent with two skills that get members of data, and one that gets text. */
    static final class Workshop {
        @Skill(description = "Writes an order", tags = "order")
        Map<String, Object> order(String number, int count) {
            return Map.of("order", count + " of " + number);
        }

        @Skill(description = "Multiplies")
        Map<String, Object> price(int count, double each) {
            return Map.of("total", count * each);
        }

        @Skill(description = "Writes in upper case")
        String shout(String text) {
            return text.toUpperCase(java.util.Locale.ROOT);
        }
    }

    private static Agent workshop(String name) {
        return Agent.named(name, "Works").skills(new Workshop());
    }

    private static Agent priced(String name, String cost) {
        return Agent.named(name, "Draws")
                .skill(new AgentCard.Skill(
                        "draw", "draw", "", List.of("cost:" + cost), List.of(), List.of(), List.of(), List.of()))
                .handle((request, reply) -> reply.complete("by " + name));
    }

    @BeforeAll
    static void start() throws IOException {
        Path servers = directory.resolve("servers.json");
        Files.write(servers, Json.write(RepairShop.servers(null)));
        other = Hub.builder().inMemory().port(0).agents(workshop("far")).start();
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("mcp-servers", servers.toString())
                .set("remote", "route=" + other.agentUrl("far"))
                .webhookAllow(List.of("127.0.0.1", "localhost"))
                .agents(
                        workshop("near"),
                        priced("cheap", "0.01"),
                        priced("dear", "2.50"),
                        Agent.named("plain", "Whispers").handle((request, reply) -> reply.complete("psst")),
                        Agent.named("writer", "Writes letters")
                                .skill("letter", "Writes a letter")
                                .skill("fax", "Writes a fax")
                                .handle((request, reply) -> reply.complete(
                                        request.message().metadata().get("skillId") + ": " + request.text())))
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
        other.close();
    }

    private static Task run(String... steps) {
        String json = "{'workflow':{'steps':[" + String.join(",", steps) + "]}}";
        try (AgentClient one = AgentClient.connect(hub.url() + "/one")) {
            return (Task) one.send(
                    Message.user(Part.data(Json.read(json.replace('\'', '"').getBytes(UTF_8), Map.class))));
        }
    }

    private static Object result(Task run) {
        assertThat(run.state()).as("%s", run.status().message()).isEqualTo(TaskState.COMPLETED);
        Part part = run.artifacts().getFirst().parts().getFirst();
        return part instanceof Part.Text text ? text.text() : String.valueOf(((Part.Data) part).data());
    }

    @Test
    @DisplayName(
            "M1 a workflow calls a tool of an MCP server, a method, agents elsewhere by route and URL, and a handler")
    void allKinds() {
        Task run = run(
                "{'id':'scan','agent':'scanner','task':'scan_vehicle_for_error_codes','parameters':{'vehicle_id':'XYZ123'}}",
                "{'id':'look','agent':'manual','task':'get_repair_procedure','parameters':"
                        + "{'error_code':'${scan.data.codes[0].code}','vehicle_make':'Toyota','vehicle_model':'Camry'}}",
                "{'id':'order','agent':'near','task':'order','parameters':{'number':'${look.data.parts.0.number}','count':2}}",
                "{'id':'price','agent':'route','task':'price','parameters':{'count':2,'each':1.5}}",
                "{'id':'loud','agent':'" + other.agentUrl("far")
                        + "','task':'shout','parameters':{'text':'${order.data.order}'}}",
                "{'id':'mail','agent':'writer','task':'letter','parameters':{'text':'${loud.text}: ${price.data.total}"
                        + " $${'}}");

        assertThat(result(run)).isEqualTo("letter: 2 OF 12345: 3.0 ${");
    }

    @Test
    @DisplayName("M14 a step without parameters gets the results before it: a tool its only text, a method its text")
    void withoutParameters() {
        assertThat(result(run(
                        "{'id':'id','agent':'writer','task':'fax','parameters':{'text':'x'}}",
                        "{'id':'loud','agent':'near','task':'shout','depends':['id']}")))
                .isEqualTo("FAX: X");
        Task failed = run(
                "{'id':'id','agent':'writer','task':'fax','parameters':{'text':'x'}}",
                "{'id':'scan','agent':'scanner','task':'scan_vehicle_for_error_codes','depends':['id']}");
        assertThat(String.valueOf(failed.status().message())).contains("vehicle \"fax: x\": does not answer");
    }

    @Test
    @DisplayName("M12 ONE38 a step names a need; the run has the choice and its reasons")
    void needs() {
        Task run = run(
                "{'id':'loud','agent':{'capability':'shout'},'parameters':{'text':'${fax.text}'}}",
                "{'id':'fax','agent':{'words':'letters fax'},'task':'fax','parameters':{'text':'x'}}");

        assertThat(result(run)).isEqualTo("FAX: X");
        Map<?, ?> choice = (Map<?, ?>) requireNonNull(run.metadata().get("one/choice/fax"));
        assertThat(choice.get("agent")).isEqualTo("writer");
        assertThat(choice.get("task")).isEqualTo("fax");
        assertThat((Map<?, ?>) choice.get("reasons")).isNotEmpty();
        Map<?, ?> other = (Map<?, ?>) requireNonNull(run.metadata().get("one/choice/loud"));
        assertThat(List.of("near", "route")).contains(String.valueOf(other.get("agent")));
        assertThat((List<?>) other.get("others")).hasSize(1);

        Task cheap = run("{'id':'d','agent':{'capability':'draw'},'parameters':{'text':'x'}}");
        assertThat(result(cheap)).isEqualTo("by cheap");
        Map<?, ?> cheapest = (Map<?, ?>) requireNonNull(cheap.metadata().get("one/choice/d"));
        assertThat((Map<?, ?>) requireNonNull(cheapest.get("reasons")))
                .extracting("cost", "cheapness")
                .containsExactly(0.01, 0.99);
        assertThat(cheapest.get("others")).isEqualTo(List.of("dear"));

        assertThat(result(run("{'id':'w','agent':{'words':'whispers'},'task':'x','parameters':{'text':'y'}}")))
                .as("an agent without skills does any task, as if it was named")
                .isEqualTo("psst");

        Task unmet = run("{'id':'s','agent':{'capability':'fly'}}");
        assertThat(unmet.state()).isEqualTo(TaskState.REJECTED);
        assertThat(String.valueOf(unmet.status().message())).contains("workflow.steps[0].agent", "capability \"fly\"");
    }

    private static String delegate(String agent, String task, String parameters) throws Exception {
        String id = agent + "-" + task;
        String envelope = ("{'version':'1.0','messageId':'" + id
                        + "','from':{'agentId':'p','endpoint':''},'to':{'agentId':'"
                        + agent + "','endpoint':''},'message':{'type':'task_delegation','content':{'task':'" + task
                        + "','parameters':" + parameters + "}}}")
                .replace('\'', '"');
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.agentUrl(agent) + "/one"))
                .header("Content-Type", "application/json")
                .header("Prefer", "wait=60")
                .POST(BodyPublishers.ofString(envelope))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(request, BodyHandlers.ofString()).body();
        }
    }

    @ParameterizedTest
    @DisplayName("M1 ONE04 ONE22 a delegation is the call of a skill: of a tool, a method, and a handler")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "scanner; scan_vehicle_for_error_codes; {'vehicle_id':'XYZ123'}; P0300",
                "near; order; {'number':'7','count':3}; 3 of 7",
                "near; ORDER; {'number':'7','count':4}; 4 of 7",
                "near; shout; {'text':'hello'}; HELLO",
                "writer; fax; {'to':'someone'}; fax: someone"
            })
    void delegations(String agent, String task, String parameters, String expected) throws Exception {
        assertThat(delegate(agent, task, parameters)).contains("\"status\":\"completed\"", expected);
    }
}

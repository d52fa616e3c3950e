package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import dev.parley.dialect.Json;
import dev.parley.dialect.grpc.v1.AgentCard;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.Task;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.Part;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Extensions of agents and of a whole hub, as outsiders see them. Rows of the feature matrix are in the names. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ExtensionsTest {
    private static final String KEY = "key-of-alice-12345";
    private static final String BASE = "https://example.com/ext/base/v1";
    private static final String MORE = "https://example.com/ext/more/v1";
    private static final String WORDS = "/extensions/word-count/v1";

    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .callers(Callers.builder().apiKey("alice", KEY).build())
            .authentication("keyed", Authentication.of(Scheme.API_KEY))
            .extensions(List.of(AgentExtension.of(WORDS, "Counts words")
                    .method("words/count", (params, caller) -> Map.of("words", count(params)))
                    .specified("# Word count\n")))
            .agents(
                    Agent.named("open", "Has extensions")
                            .extension(AgentExtension.of(BASE, "data"))
                            .extension(AgentExtension.of(MORE, "more data")
                                    .needing(BASE)
                                    .method("more/named", (params, caller) -> Map.of("named", caller.extensions())))
                            .inputModes("*/*")
                            .outputModes("*/*")
                            .handle((request, reply) ->
                                    reply.complete(request.parts().toArray(new Part[0]))),
                    Agent.named("keyed", "Asks for a key")
                            .uses(SharedKnowledge.VIEW)
                            .handle((request, reply) -> reply.complete(request.text())))
            .start();
    private final Outsider outsider = new Outsider(hub.url());

    private static int count(Map<String, @Nullable Object> params) {
        if (params.get("text") instanceof String text) {
            return text.split(" ", -1).length;
        }
        throw A2AException.invalidParams("text", "missing (expected: a text)");
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private HttpResponse<String> send(String extensions) throws Exception {
        return outsider.post(
                "/agents/open/message:send",
                "{'message':{'messageId':'" + extensions.hashCode()
                        + "','role':'ROLE_USER','parts':[{'text':'hello'}]}}",
                "A2A-Version",
                "1.0",
                "A2A-Extensions",
                extensions);
    }

    @Test
    @DisplayName("GEM40: an extension is activated with those that it needs, or refused with the reason")
    void extensionsNeedOthers() throws Exception {
        HttpResponse<String> alone = send(MORE);
        HttpResponse<String> both = send(BASE + ", " + MORE);

        assertThat(alone.statusCode()).isEqualTo(400);
        assertThat(alone.body())
                .contains("The extension " + MORE + " needs the extension " + BASE)
                .contains("EXTENSION_SUPPORT_REQUIRED");
        assertThat(both.statusCode()).isEqualTo(200);
        assertThat(both.headers().firstValue("A2A-Extensions").orElse("")).contains(BASE, MORE);
    }

    @ParameterizedTest
    @CsvSource({"''", MORE, "https://example.com/ext/other/v1"})
    @DisplayName("GEM40, M10: the method of an extension is refused without the extensions that it needs")
    void methodsNeedOtherExtensions(String named) throws Exception {
        Shown refused = outsider.rpc("/agents/open", "more/named", "{}", "A2A-Version", "1.0", "A2A-Extensions", named);

        assertThat(refused.at("error", "code").value()).isEqualTo(-32008);
        assertThat(refused.at("error", "message").text())
                .contains("The extension " + MORE + " needs the extension " + BASE);
    }

    @ParameterizedTest
    @CsvSource({BASE, "'" + BASE + ", " + MORE + "'"})
    @DisplayName("GEM40, M10: the method of an extension activates it, with the extensions that it needs")
    void methodsActivateTheirExtension(String named) throws Exception {
        Shown answer =
                outsider.result("/agents/open", "more/named", "{}", "A2A-Version", "1.0", "A2A-Extensions", named);

        assertThat(answer.at("named").text()).contains(BASE, MORE);
    }

    @Test
    @DisplayName(
            "M10: methods of extensions, and those of the hub, are refused without an extension that the agent requires")
    void methodsNeedRequiredExtensions() throws Exception {
        Agent agent = Agent.named("strict", "Requires an extension")
                .extension(AgentExtension.of(new Extension(BASE, "data", true, Map.of()))
                        .method("base/hello", (params, caller) -> Map.of("hello", true)))
                .extension(AgentExtension.of(MORE, "more data")
                        .method("more/hello", (params, caller) -> Map.of("hello", true)))
                .handle((request, reply) -> reply.complete());
        try (Hub strict = Hub.builder().inMemory().port(0).agents(agent).start()) {
            var caller = new Outsider(strict.url());

            assertThat(caller.code("/agents/strict", "more/hello", "{}", "A2A-Version", "1.0"))
                    .isEqualTo(-32008);
            assertThat(caller.code("/agents/strict", "parley/authorizeTask", "{}", "A2A-Version", "1.0"))
                    .isEqualTo(-32008);
            assertThat(caller.result("/agents/strict", "base/hello", "{}", "A2A-Version", "1.0")
                            .at("hello")
                            .value())
                    .isEqualTo(true);
            assertThat(caller.result("/agents/strict", "more/hello", "{}", "A2A-Version", "1.0", "A2A-Extensions", BASE)
                            .at("hello")
                            .value())
                    .isEqualTo(true);
        }
    }

    @Test
    void anExtensionWhoseNeedsAreNotMetIsFoundAtOnce() {
        Agent agent = Agent.named("broken", "Lacks something")
                .extension(AgentExtension.of(MORE, "more data").needing(BASE))
                .handle((request, reply) -> reply.complete());

        assertThatThrownBy(() -> hub.host(agent))
                .hasMessage("agent broken: extension " + MORE + " needs " + BASE
                        + " (expected: extensions of the same agent)");
    }

    @ParameterizedTest
    @CsvSource({"words/count", "parley/authorizeTask", "knowledge/query", "knowledge/update", "knowledge/subscribe"})
    @DisplayName("GEM41: methods of extensions ask for what the agent asks for")
    void methodsAreGuarded(String method) throws Exception {
        String call = "{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':{'text':'one two'}}";

        HttpResponse<String> stranger = outsider.post("/agents/keyed", call);
        assertThat(stranger.statusCode()).isEqualTo(401);
        assertThat(stranger.headers().firstValue("WWW-Authenticate")).isPresent();
        assertThat(outsider.post("/agents/keyed", call, "X-Api-Key", "wrong-key-12345")
                        .statusCode())
                .isEqualTo(401);
        // A subscription that cannot begin has a status of its own.
        assertThat(outsider.post("/agents/keyed", call, "X-Api-Key", KEY).statusCode())
                .isIn(200, 400);
    }

    @ParameterizedTest
    @CsvSource({
        "words/count, text",
        "parley/authorizeTask, taskId credential",
        "knowledge/query, query queryLanguage variables certaintyThreshold",
        "knowledge/update, mutations taskContext",
        "knowledge/subscribe, subscriptionQuery queryLanguage variables"
    })
    @DisplayName("GEM42: whatever a method of an extension is given, it is -32602")
    void parametersAreChecked(String method, String names) throws Exception {
        var random = new Random(42);
        for (int i = 0; i < 200; i++) {
            Object params = null;
            if (i % 4 > 0) {
                var object = new LinkedHashMap<String, @Nullable Object>();
                for (String name : names.split(" ", -1)) {
                    object.put(name, wrong(random, 3));
                }
                params = object;
            } else if (i % 8 > 0) {
                params = List.of(random.nextInt());
            }
            var call = new LinkedHashMap<String, @Nullable Object>();
            call.put("jsonrpc", "2.0");
            call.put("id", i);
            call.put("method", method);
            call.put("params", params);
            String body = new String(Json.write(call), StandardCharsets.UTF_8);

            HttpResponse<String> answer = outsider.post("/agents/keyed", body, "X-Api-Key", KEY);

            assertThat(answer.statusCode()).as(body).isIn(200, 400);
            assertThat(Shown.of(answer.body()).at("error", "code").value())
                    .as(body)
                    .isEqualTo(-32602);
        }
    }

    /** Anything but a text, which is what all of these methods ask for. */
    private static @Nullable Object wrong(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 6 : 4)) {
            case 0 -> random.nextInt();
            case 1 -> random.nextBoolean();
            case 2 -> random.nextDouble() * 1e300;
            case 3 -> null;
            case 4 -> {
                var list = new ArrayList<@Nullable Object>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    list.add(wrong(random, depth - 1));
                }
                yield list;
            }
            default -> {
                var object = new LinkedHashMap<String, @Nullable Object>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    object.put("n" + i, wrong(random, depth - 1));
                }
                yield object;
            }
        };
    }

    @Test
    @DisplayName("GEM43: the specification is at the URI, and all extensions are listed")
    void extensionsAreDescribed() throws Exception {
        HttpResponse<String> specification = outsider.get(WORDS);
        Shown listed = Shown.of(outsider.get("/extensions").body()).at("extensions");

        assertThat(specification.statusCode()).isEqualTo(200);
        assertThat(specification.headers().firstValue("Content-Type")).contains("text/markdown; charset=utf-8");
        assertThat(specification.body()).isEqualTo("# Word count\n");
        assertThat(outsider.get("/extensions/unknown/v1").statusCode()).isEqualTo(404);
        assertThat(listed.size()).isEqualTo(4);
        assertThat(listed.toString())
                .contains("{uri=" + hub.url() + WORDS + ", description=Counts words, required=false, needs=[],"
                        + " methods=[words/count], agents=[open, keyed]}")
                .contains("{uri=" + MORE + ", description=more data, required=false, needs=[" + BASE + "],"
                        + " methods=[more/named], agents=[open]}")
                .contains("uri=urn:parley:hub/extensions/knowledge-graph/v1, document=" + hub.url()
                        + "/extensions/knowledge-graph/v1");
        for (int i = 0; i < 4; i++) {
            String uri = listed.at(i, "uri").text();
            if (uri.startsWith(hub.url())) {
                assertThat(outsider.get(uri.substring(hub.url().length())).statusCode())
                        .as(uri)
                        .isEqualTo(200);
            }
        }
    }

    @Test
    @DisplayName("GEM43: of an agent whose card is not shown, nothing is listed or described")
    void whatIsNotShownIsNotListed() throws Exception {
        try (Hub closed = Hub.builder()
                .inMemory()
                .port(0)
                .protectCards(true)
                .callers(Callers.builder().apiKey("alice", KEY).build())
                .authentication(Authentication.of(Scheme.API_KEY))
                .agents(Agent.named("secret", "Is nobody's business")
                        .extension(new Extension(BASE, "data", false, Map.of()))
                        .extension(AgentExtension.of(WORDS, "Counts words").specified("# Word count\n"))
                        .handle((request, reply) -> reply.complete()))
                .start()) {
            var stranger = new Outsider(closed.url());

            assertThat(stranger.get("/extensions").body()).isEqualTo("{\"extensions\":[]}");
            assertThat(stranger.get(WORDS).statusCode()).isEqualTo(404);
            assertThat(stranger.get("/extensions", "X-Api-Key", KEY).body()).contains(BASE);
            assertThat(stranger.get(WORDS, "X-Api-Key", KEY).body()).isEqualTo("# Word count\n");
        }
    }

    private static void assertIsStrict(String json, Message.Builder type) throws InvalidProtocolBufferException {
        JsonFormat.parser().merge(json, type); // refuses members and values that the schema does not have
    }

    @Test
    @DisplayName("GEM45: cards, tasks and streams of 1.0 have nothing that the schema of 1.0 does not have")
    void theCoreIsAsItIs() throws Exception {
        for (String agent : List.of("open", "keyed")) {
            String card = outsider.get("/agents/" + agent + "/.well-known/agent-card.json", "A2A-Version", "1.0")
                    .body();
            assertIsStrict(card, AgentCard.newBuilder());
        }
        String send = "{'message':{'messageId':'m%s','role':'ROLE_USER','parts':[{'text':'hello'},"
                + "{'raw':'aGVsbG8=','filename':'a.txt','mediaType':'text/plain'},{'data':{'a':[1,null,true]}},"
                + "{'url':'https://example.com/x'}],'extensions':['" + BASE + "'],'metadata':{'" + BASE
                + "':{'b':1}}}}";
        String[] headers = {"A2A-Version", "1.0", "A2A-Extensions", BASE};
        String sent = outsider.post("/agents/open/message:send", send.formatted("1"), headers)
                .body();
        assertIsStrict(sent, SendMessageResponse.newBuilder());
        String id = Shown.of(sent).at("task", "id").text();
        assertIsStrict(outsider.get("/agents/open/tasks/" + id, headers).body(), Task.newBuilder());
        List<String> events = outsider.post("/agents/open/message:stream", send.formatted("2"), headers)
                .body()
                .lines()
                .filter(line -> line.startsWith("data:"))
                .map(line -> line.substring("data:".length()))
                .toList();
        assertThat(events).hasSizeGreaterThan(2);
        for (String event : events) {
            assertIsStrict(event, StreamResponse.newBuilder());
        }
        assertThatThrownBy(() -> assertIsStrict(
                        sent.replace("TASK_STATE_COMPLETED", "TASK_STATE_DONE"), SendMessageResponse.newBuilder()))
                .isInstanceOf(InvalidProtocolBufferException.class);
    }
}

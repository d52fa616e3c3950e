package dev.parley.mesh;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope.Priority;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.retry.Backoff.Growth;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EnvelopeTest {
    private static final String DELEGATION = """
            {"version":"1.0","messageId":"m-1","correlationId":"c-1","timestamp":1767600000000,
             "from":{"agentId":"planner","endpoint":"https://a.example/agents/planner"},
             "to":{"agentId":"researcher","endpoint":"https://b.example/agents/researcher"},
             "message":{"type":"task_delegation","mimeType":"application/json","content":{"task":"research",
              "parameters":{"topic":"x"},"callback":"https://a.example/cb/1","deadline":1767600600000}},
             "metadata":{"priority":"high","timeout":300000,"retryPolicy":{"maxRetries":5,"backoff":"linear"}}}
            """;

    private static Envelope read(String json) {
        return JsonText.request(json.getBytes(UTF_8), EnvelopeModel.ENVELOPE);
    }

    @Test
    @DisplayName("ONE01 an envelope is read with all its members, and written so that it reads the same")
    void allMembers() {
        Envelope read = read(DELEGATION);

        assertThat(read.messageId()).isEqualTo("m-1");
        assertThat(read.correlationId()).isEqualTo("c-1");
        assertThat(read.timestamp()).isEqualTo(Instant.ofEpochMilli(1767600000000L));
        assertThat(read.from().agentId()).isEqualTo("planner");
        assertThat(read.to().endpoint()).isEqualTo("https://b.example/agents/researcher");
        assertThat(read.metadata().priority()).isEqualTo(Priority.HIGH);
        assertThat(read.metadata().timeout()).isEqualTo(Duration.ofMinutes(5));
        assertThat(read.metadata().retryPolicy()).isEqualTo(new RetryPolicy(5, Growth.LINEAR));
        assertThat(EnvelopeModel.content(read.message()))
                .isEqualTo(new Delegation(
                        "research",
                        Map.of("topic", "x"),
                        "https://a.example/cb/1",
                        Instant.ofEpochMilli(1767600600000L)));
        assertThat(EnvelopeModel.ENVELOPE.fromJson(EnvelopeModel.ENVELOPE.toJson(read)))
                .isEqualTo(read);
    }

    @Test
    @DisplayName(
            "M15 a bare short form is read as the message that it stands for, with an id that a repetition has too")
    void shortForms() {
        Envelope delegation = read("{\"type\":\"task_delegation\",\"from\":\"a\",\"to\":\"b\",\"task\":\"research\","
                + "\"parameters\":{\"topic\":\"x\"},\"callback\":\"https://a.example/cb\",\"correlationId\":\"c-1\"}");
        assertThat(delegation.from().agentId()).isEqualTo("a");
        assertThat(delegation.from().endpoint()).isEqualTo("https://a.example/cb");
        assertThat(delegation.to().agentId()).isEqualTo("b");
        assertThat(delegation.correlationId()).isEqualTo("c-1");
        assertThat(EnvelopeModel.content(delegation.message()))
                .isEqualTo(new Delegation("research", Map.of("topic", "x"), "https://a.example/cb", null));
        String bare = "{\"type\":\"task_delegation\",\"from\":\"a\",\"to\":\"b\",\"task\":\"research\"}";
        assertThat(EnvelopeModel.content(read(bare).message()))
                .isEqualTo(new Delegation("research", Map.of(), null, null));
        assertThat(read(bare).messageId()).isNotEqualTo(read(bare).messageId());
        String withId = bare.replace("\"task\":", "\"correlationId\":\"c\",\"task\":");
        assertThat(read(withId).messageId()).isEqualTo(read(withId).messageId());
        Envelope result = read("{\"type\":\"task_result\",\"from\":\"b\",\"to\":\"a\",\"correlationId\":\"c\","
                + "\"content\":{\"taskId\":\"t\",\"status\":\"completed\",\"result\":1}}");
        assertThat(EnvelopeModel.content(result.message()).type()).isEqualTo(MessageType.TASK_RESULT);
        assertThatThrownBy(() -> read(bare.replace("\"to\":\"b\",", "")))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.violations().getFirst().field())
                                .isEqualTo("to"));
    }

    @ParameterizedTest
    @DisplayName("ONE01 a missing member is named by its path")
    @CsvSource({
        "'\"version\":\"1.0\",', version",
        "'\"messageId\":\"m-1\",', messageId",
        "'\"agentId\":\"planner\",', from.agentId",
        "'\"type\":\"task_delegation\",', message.type",
        "',\"endpoint\":\"https://b.example/agents/researcher\"', to.endpoint"
    })
    void missing(String member, String path) {
        assertThatThrownBy(() -> read(DELEGATION.replace(member, "")))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.violations().getFirst().field())
                                .isEqualTo(path));
    }

    @ParameterizedTest
    @DisplayName("a wrong member is named by its path, with what was expected")
    @CsvSource({
        "\"1.0\", \"2.0\", version, 1.0",
        "task_delegation, task_order, message.type, task_delegation",
        "300000, 0, metadata.timeout, milliseconds",
        "300000, 1.5, metadata.timeout, milliseconds",
        "1767600000000, \"now\", timestamp, milliseconds",
        "1767600000000, 1e300, timestamp, milliseconds",
        "high, urgent, metadata.priority, critical",
        "\"maxRetries\":5, \"maxRetries\":11, metadata.retryPolicy.maxRetries, 0 to 10",
        "linear, none, metadata.retryPolicy.backoff, exponential"
    })
    void wrong(String good, String bad, String path, String expected) {
        assertThatThrownBy(() -> read(DELEGATION.replace(good, bad)))
                .isInstanceOfSatisfying(A2AException.class, refused -> {
                    assertThat(refused.violations().getFirst().field()).isEqualTo(path);
                    assertThat(refused.violations().getFirst().description()).contains(expected);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "null", "{", "{\"version\":\"1.0\",\"version\":\"1.0\"}"})
    void whatIsNoEnvelopeIsRefused(String json) {
        assertThatThrownBy(() -> read(json)).isInstanceOf(A2AException.class);
    }

    @ParameterizedTest
    @EnumSource(Growth.class)
    void waitsGrowAndAreBounded(Growth backoff) {
        var policy = new RetryPolicy(10, backoff);

        assertThat(policy.pauses().after(1, null, 0.5)).isEqualTo(Duration.ofSeconds(1));
        assertThat(policy.pauses().after(3, null, 0.5)).isEqualTo(Duration.ofSeconds(backoff == Growth.LINEAR ? 3 : 4));
        assertThat(policy.pauses().after(10, null, 0.5))
                .isEqualTo(Duration.ofSeconds(backoff == Growth.LINEAR ? 10 : 60));
        assertThat(policy.pauses().after(2, null, 0)).isEqualTo(Duration.ofMillis(1600));
        assertThat(policy.pauses().after(2, null, 1)).isEqualTo(Duration.ofMillis(2400));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "'hop':1; hop",
                "'metadata':{'prio':'high','security':{'encrypt':true},'retryPolicy':{'max':1}}; metadata.prio,"
                        + " metadata.retryPolicy.max, metadata.security.encrypt",
                "'from':{'agentId':'a','endpoint':'','x':{}}; from.x",
                "'message':{'type':'task_delegation','content':{'task':'t','parameters':{'free':1},'dead_line':1},'y':1};"
                        + " message.y, message.content.dead_line",
                "'message':{'type':'feedback','content':{'any':1}}; ``",
                "'metadata':{'priority':'high'}; ``"
            })
    @DisplayName("M9: unknown members of an envelope are ignored and told of, at each place; parameters are free")
    void unknownMembers(String members, String paths) {
        String json =
                ("{'version':'1.0','messageId':'m','to':{'agentId':'b','endpoint':''},'from':{'agentId':'a','endpoint':''},"
                                + "'message':{'type':'task_delegation','content':{'task':'t','parameters':{}}}}")
                        .replace('\'', '"');
        var document = new LinkedHashMap<Object, Object>();
        for (String text : new String[] {json, "{" + members + "}"}) {
            Map<?, ?> read = Json.read(text.replace('\'', '"').getBytes(UTF_8), Map.class);
            read.forEach(document::put);
        }

        Envelope envelope = EnvelopeModel.ENVELOPE.fromJson(document);

        assertThat(String.join(
                        ", ",
                        EnvelopeModel.unknownMembers(
                                document, envelope.message().type())))
                .isEqualTo(paths);
    }
}

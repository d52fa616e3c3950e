package dev.parley.dialect;

import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.example;
import static dev.parley.dialect.Wire.text;
import static dev.parley.dialect.Wire.tree;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.Utf8;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonTest {
    private static final Map<String, Class<?>> TYPES = Map.ofEntries(
            Map.entry("message", Message.class),
            Map.entry("artifact", Artifact.class),
            Map.entry("task", Task.class),
            Map.entry("statusUpdate", TaskStatusUpdateEvent.class),
            Map.entry("artifactUpdate", TaskArtifactUpdateEvent.class),
            Map.entry("event", TaskEvent.class),
            Map.entry("sendResult", SendResult.class),
            Map.entry("taskPage", Operation.TaskPage.class),
            Map.entry("pushConfig", PushConfig.class),
            Map.entry("pushConfigPage", Operation.PushConfigPage.class),
            Map.entry("empty", Operation.Empty.class),
            Map.entry("card", AgentCard.class));

    static List<String> examples() {
        return Wire.examples(".json").stream()
                .filter(name -> TYPES.containsKey(kind(name)))
                .toList();
    }

    private static String kind(String name) {
        return name.substring(0, name.indexOf('.'));
    }

    private static Codec<Object> codec(String name) {
        return V1Model.codec(requireNonNull(TYPES.get(kind(name))));
    }

    private static byte[] write(Codec<Object> codec, Object value) {
        return JsonText.write(new byte[0], codec, value, new byte[0]);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void whatIsReadIsWrittenAsItWas(String name) {
        Object value = JsonText.read(example(name), codec(name));

        byte[] written = write(codec(name), value);

        assertThat(tree(written)).isEqualTo(tree(example(name)));
        assertThat(JsonText.read(written, codec(name))).isEqualTo(value);
    }

    static List<String> examplesButCards() {
        return examples().stream().filter(name -> !kind(name).equals("card")).toList();
    }

    @ParameterizedTest
    @MethodSource("examplesButCards")
    void unknownMembersAndNullsAreIgnored(String name) {
        @SuppressWarnings("unchecked")
        var more = new LinkedHashMap<String, @Nullable Object>((Map<String, Object>) tree(example(name)));
        more.put("kind", "task");
        more.put("unknown", Map.of("text", List.of(1, 2)));
        more.put("metadata", more.get("metadata"));
        more.put("nothing", null);

        Object value = JsonText.read(Json.write(more), codec(name));

        assertThat(value).isEqualTo(JsonText.read(example(name), codec(name)));
    }

    @Test
    void anArrayOfWrittenEventsIsReadBack() {
        List<TaskEvent> events = Wire.examples(".json").stream()
                .filter(name -> name.startsWith("event."))
                .map(name -> Json.read(example(name), TaskEvent.class))
                .toList();
        String array = "["
                + String.join(
                        ",",
                        events.stream().map(Json::writeEvent).map(Wire::text).toList()) + "]";

        assertThat(Json.readEvents(bytes(array))).isEqualTo(events).hasSize(4);
    }

    @Test
    void eventsWrittenTogetherCarryTheBytesThatEachHasWhenWrittenAlone() {
        var events = new ArrayList<LoggedEvent>();
        for (int length : new int[] {1, 7_900, 0, 40_000, 300}) {
            var message = Message.agent(Part.text("\u00e4\"\uD83D\uDE00" + "x".repeat(length)));
            events.add(new LoggedEvent(
                    events.size() + 1,
                    new TaskStatusUpdateEvent(
                            "task", "context", new TaskStatus(TaskState.WORKING, message, Instant.EPOCH), Map.of())));
        }

        byte[] array = Json.writeEvents(events);

        assertThat(Json.readEvents(array))
                .isEqualTo(events.stream().map(LoggedEvent::event).toList());
        for (LoggedEvent event : events) {
            byte[] carried = event.encoded(missing -> {
                throw new AssertionError("not encoded");
            });
            assertThat(text(carried)).isEqualTo(text(Json.writeEvent(event.event())));
        }
        assertThat(text(Json.writeEvents(List.of()))).isEqualTo("[]");
    }

    @Test
    void protoNamesAndEnumNumbersAreUnderstood() {
        var message = Json.read(
                bytes(
                        "{\"message_id\":\"m\",\"role\":1,\"context_id\":\"c\",\"parts\":[{\"raw\":\"AA\",\"media_type\":\"a/b\"}]}"),
                Message.class);
        var status = Json.read(bytes("{\"state\":6}"), TaskStatus.class);
        var event =
                Json.read(bytes("{\"status_update\":{\"task_id\":\"t\",\"status\":{\"state\":8}}}"), TaskEvent.class);

        assertThat(message.role()).isEqualTo(Role.USER);
        assertThat(message.parts()).containsExactly(new Part.Raw(new byte[1], null, "a/b", Map.of()));
        assertThat(status.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(event)
                .isInstanceOfSatisfying(
                        TaskStatusUpdateEvent.class,
                        update -> assertThat(update.status().state()).isEqualTo(TaskState.AUTH_REQUIRED));
    }

    @ParameterizedTest
    @ValueSource(strings = {"+/8=", "+/8", "-_8=", "-_8"})
    void base64IsReadInEveryForm(String base64) {
        var part = Json.read(bytes("{\"raw\":\"" + base64 + "\"}"), Part.class);

        assertThat(part)
                .isInstanceOfSatisfying(
                        Part.Raw.class, raw -> assertThat(raw.raw()).containsExactly(0xFB, 0xFF));
        assertThat(text(Json.write(part))).isEqualTo("{\"raw\":\"+/8=\"}");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-05T09:00:00Z,            2026-01-05T09:00:00.000Z",
        "2026-01-05T09:00:00.5Z,          2026-01-05T09:00:00.500Z",
        "2026-01-05T09:00:00.123456789Z,  2026-01-05T09:00:00.123Z",
        "2026-01-05T10:30:00.000+01:30,   2026-01-05T09:00:00.000Z",
        "0001-01-01T00:00:00.000Z,        0001-01-01T00:00:00.000Z",
        "9999-12-31T23:59:59.999Z,        9999-12-31T23:59:59.999Z"
    })
    void timestampsAreWrittenInUtcWithMilliseconds(String read, String written) {
        var status = Json.read(bytes("{\"state\":1,\"timestamp\":\"" + read + "\"}"), TaskStatus.class);

        assertThat(text(Json.write(status))).contains("\"" + written + "\"");
        assertThat(status.timestamp()).isEqualTo(Instant.parse(read));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-13-05T09:00:00.000Z",
                "2026-01-05",
                "yesterday",
                "+12026-01-05T09:00:00Z",
                "0000-01-01T00:00:00.000Z"
            })
    void whatIsNoTimeIsRefused(String time) {
        assertThat(refusal("{\"state\":1,\"timestamp\":\"" + time + "\"}", TaskStatus.class))
                .isEqualTo("timestamp: \"" + time + "\" (expected: a time such as 2026-01-05T09:00:00.000Z)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}                                                        | messageId: missing (expected: a string)",
                "[]                                                        | body: an array (expected: an object)",
                "null                                                      | body: null (expected: an object)",
                "{'messageId':7}                                           | messageId: 7 (expected: a string)",
                "{'messageId':{}}                                          | messageId: an object (expected: a string)",
                "{'messageId':'','role':1,'parts':[{'text':''}]}           | messageId: must not be empty",
                "{'messageId':'m','role':'user','parts':[{'text':''}]}     | role: \"user\" (expected: ROLE_USER,"
                        + " ROLE_AGENT)",
                "{'messageId':'m','role':3,'parts':[{'text':''}]}          | role: 3 (expected: ROLE_USER, ROLE_AGENT)",
                "{'messageId':'m','role':'ROLE_UNSPECIFIED','parts':[{'text':''}]} | role: missing (expected:"
                        + " ROLE_USER, ROLE_AGENT)",
                "{'messageId':'m','role':1,'parts':[]}                     | parts: must have at least one part",
                "{'messageId':'m','role':1,'parts':'x'}                    | parts: \"x\" (expected: an array)",
                "{'messageId':'m','role':1,'parts':[{'text':''},null]}     | parts[1]: null (expected: an object)",
                "{'messageId':'m','role':1,'parts':[{'text':''},{}]}       | parts[1]: expected: exactly one of text,"
                        + " raw, url, data",
                "{'messageId':'m','role':1,'parts':[{'text':'','url':''}]} | parts[0]: expected: exactly one of text,"
                        + " raw, url, data",
                "{'messageId':'m','role':1,'parts':[{'text':true}]}        | parts[0].text: true (expected: a string)",
                "{'messageId':'m','role':1,'parts':[{'raw':'?'}]}          | parts[0].raw: \"?\" (expected: base64)",
                "{'messageId':'m','role':1,'parts':[{'data':[{'a':1e999}]}]} | parts[0].data[0].a: 1e999 (expected: a"
                        + " number in the range of a double)",
                "{'messageId':'m','role':1,'parts':[{'text':''}],'metadata':[]} | metadata: an array (expected: an"
                        + " object)",
                "{'messageId':'m','role':1,'parts':[{'text':''}],'extensions':[1]} | extensions[0]: 1 (expected: a"
                        + " string)"
            })
    void theFieldAtFaultIsNamed(String json, String said) {
        assertThat(refusal(json.replace('\'', '"'), Message.class)).startsWith(said);
    }

    @Test
    void allMissingFieldsAreNamed() {
        var refused = catchThrowableOfType(
                A2AException.class, () -> Json.read(bytes("{\"artifact\":{}}"), TaskArtifactUpdateEvent.class));
        var whole = catchThrowableOfType(A2AException.class, () -> Json.read(bytes("{}"), Message.class));

        assertThat(refused.violations())
                .extracting(A2AException.Violation::field)
                .containsExactly("artifact.artifactId", "artifact.parts");
        assertThat(whole.violations())
                .extracting(A2AException.Violation::field)
                .containsExactly("messageId", "role", "parts");
    }

    @Test
    void aStateThatIsLeftOutIsUnspecifiedAsProtoJsonHasIt() {
        assertThat(Json.read(bytes("{}"), TaskStatus.class).state()).isEqualTo(TaskState.UNSPECIFIED);
        assertThat(Json.read(bytes("{\"state\":0}"), TaskStatus.class).state()).isEqualTo(TaskState.UNSPECIFIED);
    }

    @Test
    void anEventIsOfExactlyOneKind() {
        assertThat(refusal("{}", TaskEvent.class))
                .isEqualTo("body: of no known kind (expected: exactly one of task, message, statusUpdate,"
                        + " artifactUpdate)");
        assertThat(refusal("{\"task\":{\"id\":\"t\",\"status\":{\"state\":1}},\"message\":{}}", TaskEvent.class))
                .startsWith("message: a second kind");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "{\"a\":1,}",
                "{\"a\":NaN}",
                "{\"a\":Infinity}",
                "{\"a\":01}",
                "{\"a\":+1}",
                "{'a':1}",
                "{a:1}",
                "{\"a\":1}{}",
                "{\"a\":1} x",
                "{\"a\":1}//",
                "{\"a\":\"\t\"}",
                "{\"a\":\"\\x\"}",
                "{\"a\":1,\"a\":2}",
                "{\"a\":{\"b\":null,\"b\":null}}",
                "nul",
                "\uFEFF{\"a\":1} "
            })
    void whatIsNoStrictJsonIsRefused(String json) {
        assertThatThrownBy(() -> Json.read(bytes(json), Map.class))
                .isInstanceOfSatisfying(
                        A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.PARSE_ERROR));
    }

    @Test
    void aKeyInBothSpellingsIsADuplicate() {
        assertThatThrownBy(() -> Json.read(bytes("{\"messageId\":\"a\",\"message_id\":\"b\"}"), Message.class))
                .hasMessage("Invalid parameters: message_id: given twice (expected: once, as messageId or message_id)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":1",
                "{\"a\":[1,{\"b\":",
                "{\"a\":\"x",
                "{\"a\":NaN}",
                "{\"a\":-Infinity}",
                "{\"a\":+1}",
                "{\"a\":.5}",
                "{\"a\":1.}",
                "{\"a\":01}",
                "{/* */\"a\":1}",
                "{# \n\"a\":1}",
                "{'a':1}",
                "{a:1}",
                "{\"a\":1,}",
                "[1,,2]",
                "{\"a\":\"\t\"}",
                "{\"a\":\"\\x\"}",
                "{\"a\":1,\"a\":2}",
                "{\"a\":1]",
                "nul"
            })
    @DisplayName("D11: an error of JSON says what is wrong and where, in no words of the library")
    void errorsHaveNoNamesOfTheLibrary(String json) {
        assertThatThrownBy(() -> JsonText.request(bytes(json), Codecs.FREE))
                .hasMessageStartingWith("Invalid JSON payload: ")
                .hasMessageMatching("(?s).*line \\d+, column:? \\d+\\)")
                .message()
                .doesNotContainIgnoringCase("source:")
                .doesNotContainIgnoringCase("feature")
                .doesNotContain("`", "enable", "Exception", "()", "  ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\\ud800",
                "\\udc00",
                "x\\ud83dx",
                "\\ud83d\\n",
                "\\ud83d\\ud83d",
                "\\ude00\\ud83d",
                "\\\\\\ud800"
            })
    void halfASurrogatePairIsRefusedInRequests(String text) {
        byte[] json = bytes("{\"a\":\"" + text + "\"}");
        byte[] name = bytes("{\"" + text + "\":1}");

        assertThatThrownBy(() -> JsonText.request(json, Codecs.STRUCT::read)).hasMessageContaining("surrogate");
        assertThatThrownBy(() -> JsonText.request(name, Codecs.STRUCT::read)).hasMessageContaining("surrogate");
    }

    @Test
    void wholeSurrogatePairsAndEscapedBackslashesAreTaken() {
        byte[] json = bytes("{\"a\":\"\\ud83d\\ude00 \\\\ud800 \\u00e9 \\\\\"}");

        assertThat(JsonText.request(json, Codecs.STRUCT::read)).containsEntry("a", "\ud83d\ude00 \\ud800 \u00e9 \\");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"C0 80", "ED A0 80", "F5 80 80 80", "E2 82", "80", "FF", "E0 80 AF", "F0 80 80 80", "F4 90 80 80"
            })
    void whatIsNoUtf8IsRefused(String hex) {
        var json = new ByteArrayOutputStream();
        json.writeBytes(bytes("{\"a\":\"######"));
        json.writeBytes(HexFormat.ofDelimiter(" ").parseHex(hex));
        json.writeBytes(bytes("\"}"));

        assertThatThrownBy(() -> Json.read(json.toByteArray(), Map.class))
                .hasMessage("Invalid JSON payload: not UTF-8");
        assertThat(Utf8.isValid(bytes("aé€😀 aaaaaaaaaaaaaaa é€😀"))).isTrue();
    }

    @Test
    void utf16IsNotGuessed() {
        assertThatThrownBy(() -> Json.read("{}".getBytes(java.nio.charset.StandardCharsets.UTF_16LE), Map.class))
                .isInstanceOf(A2AException.class);
    }

    @Test
    void whatCannotBeWrittenIsSaid() {
        assertThatThrownBy(() -> Json.write(Map.of("a", new StringBuilder())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.StringBuilder");

        for (Number number : List.of(BigInteger.TEN.pow(400), new BigDecimal("1e400"))) {
            assertThatThrownBy(() -> Json.write(number)).isInstanceOf(IllegalArgumentException.class);
        }

        Object deep = 1;
        for (int i = 0; i < 1000; i++) {
            deep = List.of(deep);
        }
        Object tooDeep = deep;
        assertThatThrownBy(() -> Json.write(tooDeep)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void strayValuesDoNotBreakTheWriting() {
        var message = Message.agent(
                Part.data(Map.of("a", Double.NaN)),
                Part.text("lone \uD800 surrogate"),
                Part.data(List.of(1L, 2f, (short) 3)));

        var read = Json.read(Json.write(message), Message.class);

        assertThat(read.parts().get(0)).isEqualTo(Part.data(Map.of("a", "NaN")));
        assertThat(read.parts().get(1)).isEqualTo(Part.text("lone \uD800 surrogate"));
        assertThat(read.parts().get(2)).isEqualTo(Part.data(List.of(1, 2.0, 3)));
    }

    @Test
    void whatIsReadCanBeWritten() {
        String digits = "9".repeat(308);

        assertThat(text(Json.write(Json.read(bytes("{\"data\":" + digits + "}"), Part.class))))
                .isEqualTo("{\"data\":" + digits + "}");
        assertThat(refusal("{\"data\":" + digits + "00}", Part.class)).startsWith("data: 9999");
    }

    @Test
    void charactersAreWrittenAsTheyAre() {
        assertThat(text(Json.write(Part.text("😀 grüße /\"\\\n")))).isEqualTo("{\"text\":\"😀 grüße /\\\"\\\\\\n\"}");
    }

    @Test
    void valuesOfTheModelMayStandAmongMaps() {
        assertThat(text(Json.write(Map.of("parts", List.of(Part.text("a"), Part.link("b", null, null))))))
                .isEqualTo("{\"parts\":[{\"text\":\"a\"},{\"url\":\"b\"}]}");
    }

    private static String refusal(String json, Class<?> type) {
        var refused = catchThrowableOfType(A2AException.class, () -> Json.read(bytes(json), type));
        assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS);
        var first = refused.violations().getFirst();
        return first.field() + ": " + first.description();
    }

    @Test
    @DisplayName("S54: names whose hashes collide spoil nothing for those who come next")
    void collidingNamesSpoilNothing() {
        // All of them have the hash of one another, for "Aa" has that of "BB".
        Stream<String> names = Stream.of("");
        for (int i = 0; i < 16; i++) {
            names = names.flatMap(name -> Stream.of(name + "Aa", name + "BB"));
        }
        byte[] attack = bytes(names.map("\"%s\":1"::formatted).collect(joining(",", "{", "}")));
        // Hashes have a seed, so it may be read or refused.
        var refusal = catchThrowableOfType(A2AException.class, () -> Json.read(attack, Map.class));
        assertThat(refusal == null || refusal.error() == A2AError.PARSE_ERROR).isTrue();

        for (int i = 0; i < 2_000; i++) {
            byte[] harmless = bytes("{\"name-%d-x\":{\"operator\":1,\"other%d\":2}}".formatted(i, i));
            assertThat(Json.read(harmless, Map.class).size()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'text':'a','raw':null,'url':null,'data':null} | {'text':'a'}",
                "{'url':'https://a.example','data':null}         | {'url':'https://a.example'}",
                "{'data':null}                                   | {'data':null}"
            })
    void aPartWithNullForItsUnsetMembersIsRead(String json, String part) {
        assertThat(text(Json.write(Json.read(bytes(json.replace('\'', '"')), Part.class))))
                .isEqualTo(part.replace('\'', '"'));
    }

    @Test
    void aPartOfDataAndTextIsRefused() {
        assertThat(refusal("{\"data\":1,\"text\":\"a\"}", Part.class)).contains("exactly one of");
    }
}

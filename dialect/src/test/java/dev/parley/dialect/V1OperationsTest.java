package dev.parley.dialect;

import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.example;
import static dev.parley.dialect.Wire.tree;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.Operation;
import dev.parley.protocol.json.JsonText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class V1OperationsTest {
    static List<String> requests() {
        return Wire.examples(".request.json");
    }

    private static WireOperation operation(String name) {
        return requireNonNull(
                V1Operations.TABLE.named(Character.toUpperCase(name.charAt(0)) + name.substring(1, name.indexOf('.'))));
    }

    @ParameterizedTest
    @MethodSource("requests")
    void whatIsReadIsWrittenAsItWas(String name) {
        WireOperation operation = operation(name);

        Operation read = JsonText.read(example(name), operation.request());

        byte[] written = JsonText.write(new byte[0], operation.request(), read, new byte[0]);
        assertThat(read).isInstanceOf(operation.type());
        assertThat(tree(written)).isEqualTo(tree(example(name)));
    }

    @ParameterizedTest
    @MethodSource("requests")
    void unknownMembersAreIgnored(String name) {
        WireOperation operation = operation(name);
        @SuppressWarnings("unchecked")
        var more = new LinkedHashMap<String, @Nullable Object>((Map<String, Object>) tree(example(name)));
        more.put("unknown", List.of(Map.of("id", 1)));
        more.putIfAbsent("tenant", null);

        Operation read = JsonText.read(Json.write(more), operation.request());

        assertThat(read).isEqualTo(JsonText.read(example(name), operation.request()));
    }

    @Test
    void everyOperationHasAnExample() {
        assertThat(requests().stream().map(name -> operation(name).method()).distinct())
                .containsExactlyInAnyOrderElementsOf(V1Operations.TABLE.all().stream()
                        .map(WireOperation::method)
                        .toList());
        assertThat(V1Operations.TABLE.all()).hasSize(11);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'blocking':false}                             | true",
                "{'blocking':true}                              | false",
                "{}                                             | false",
                "{'returnImmediately':true,'blocking':true}     | true",
                "{'returnImmediately':false,'blocking':false}   | false"
            })
    void blockingOfReleaseCandidatesIsTheOppositeOfReturnImmediately(String json, boolean immediately) {
        var configuration = JsonText.read(bytes(json.replace('\'', '"')), V1Model.CONFIGURATION);

        assertThat(configuration.returnImmediately()).isEqualTo(immediately);
    }

    @Test
    void theWebhookMayHaveItsNameOfReleaseCandidates() {
        var configuration = JsonText.read(
                bytes("{\"pushNotificationConfig\":{\"url\":\"https://h.example\"}}"), V1Model.CONFIGURATION);

        assertThat(requireNonNull(configuration.pushConfig()).url()).isEqualTo("https://h.example");
        assertThat(requireNonNull(V1Operations.TABLE.named("ListTaskPushNotificationConfig"))
                        .method())
                .isEqualTo("ListTaskPushNotificationConfigs");
    }

    @Test
    void anUnspecifiedStatusFiltersNothing() {
        var list = (Operation.ListTasks) JsonText.read(
                bytes("{\"status\":\"TASK_STATE_UNSPECIFIED\"}"),
                operation("listTasks.x").request());

        assertThat(list.status()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "getTask   | {'id':'t','historyLength':-1}    | historyLength: -1 (expected: >= 0)",
                "getTask   | {'id':'t','historyLength':'x'}   | historyLength: \"x\" (expected: a whole number of 32"
                        + " bits)",
                "getTask   | {'id':'t','historyLength':1.5}   | historyLength: 1.5 (expected: a whole number of 32"
                        + " bits)",
                "getTask   | {'id':'t','historyLength':3000000000} | historyLength: 3000000000 (expected: a whole"
                        + " number of 32 bits)",
                "getTask   | {'id':''}                        | id: must not be empty",
                "getTask   | {}                               | id: missing (expected: a string)",
                "listTasks | {'pageSize':0}                   | pageSize: 0 (expected: 1 to 100)",
                "listTasks | {'pageSize':101}                 | pageSize: 101 (expected: 1 to 100)",
                "listTasks | {'status':'working'}             | status: \"working\" (expected: TASK_STATE_UNSPECIFIED,"
                        + " TASK_STATE_SUBMITTED",
                "listTasks | {'includeArtifacts':'yes'}       | includeArtifacts: \"yes\" (expected: true or false)",
                "sendMessage | {'message':{'messageId':'m','role':1,'parts':[{'text':1}]}} | message.parts[0].text: 1"
                        + " (expected: a string)",
                "sendMessage | {'message':{'messageId':'m','role':1}} | message.parts: missing (expected: an array)",
                "sendMessage | {'message':{'messageId':'m','role':1,'parts':[{}]}} | message.parts[0]: expected:"
                        + " exactly one of",
                "sendMessage | {'message':{'messageId':'','role':1,'parts':[{'text':''}]}} | message.messageId: must"
                        + " not be empty",
                "createTaskPushNotificationConfig | {'url':'https://h'} | taskId: must not be empty",
                "createTaskPushNotificationConfig | {'taskId':'t','url':''} | url: must not be empty"
            })
    void theFieldAtFaultIsNamed(String operation, String json, String said) {
        assertThatThrownBy(() -> JsonText.read(
                        bytes(json.replace('\'', '"')),
                        operation(operation + ".").request()))
                .hasMessageStartingWith("Invalid parameters: " + said);
    }

    @Test
    void wholeNumbersMayBeWrittenAsProtoJsonAllows() {
        for (String number : List.of("5", "5.0", "5e0", "\"5\"")) {
            var get = (Operation.GetTask) JsonText.read(
                    bytes("{\"id\":\"t\",\"historyLength\":" + number + "}"),
                    operation("getTask.").request());

            assertThat(get.historyLength()).isEqualTo(5);
        }
    }
}

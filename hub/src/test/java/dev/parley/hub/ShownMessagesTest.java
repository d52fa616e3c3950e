package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Frame;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import dev.parley.testkit.Eventually;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that callers have been shown are in the history, and errors are in their words, in every dialect. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ShownMessagesTest {
    private static final String V1 = "'message':{'messageId':'%s','role':'ROLE_USER','parts':[{'text':'hello'}]%s}";
    private static final String KIND =
            "'message':{'kind':'message','messageId':'%s','role':'user','parts':[{'kind':'text','text':'hello'}]%s}";
    private static final String TYPE = "'message':{'role':'user','parts':[{'type':'text','text':'hello'}]}";
    private static final String VAULT = "'message':{'role':'user','parts':[{'type':'text','content':'hello'}]}";

    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .agents(
                    Agent.named("notes", "Reports").handle((request, reply) -> {
                        reply.working("one");
                        reply.progress(50, "two");
                        reply.complete("done");
                    }),
                    Agent.named("asks", "Asks")
                            .handle((request, reply) -> reply.askForInput(request.isFollowUp() ? "and?" : "what?")))
            .start();
    private final Outsider outsider = new Outsider(hub.url());

    @AfterAll
    void stop() {
        hub.close();
    }

    private static List<String> texts(Shown messages, String text) {
        return IntStream.range(0, messages.size())
                .mapToObj(i -> messages.at(i, "parts", 0, text).text())
                .toList();
    }

    @Test
    @DisplayName("D2: each progress text of a task is in its history, in every dialect")
    void progressTextsAreInTheHistory() throws Exception {
        String id = outsider.result(
                        "/agents/notes", "SendMessage", "{" + V1.formatted("m-notes", "") + "}", "A2A-Version", "1.0")
                .at("task", "id")
                .text();

        Shown newest = outsider.result("/agents/notes", "GetTask", "{'id':'" + id + "'}", "A2A-Version", "1.0");
        Shown older = outsider.result("/agents/notes", "tasks/get", "{'id':'" + id + "'}", "A2A-Version", "0.3");
        Shown first = outsider.result(
                "/agents/notes", "tasks/get", "{'id':'" + id + "','historyLength':9}", "A2A-Version", "0.1");
        Shown kernel = outsider.result("/agents/notes/kernel", "tasks/get", "{'id':'" + id + "','history_length':9}");
        Shown vault = outsider.result("/agents/notes/agentvault", "tasks/get", "{'id':'" + id + "'}");

        for (Shown task : List.of(newest, older, first, kernel)) {
            assertThat(texts(task.at("history"), "text")).containsExactly("hello", "one", "two");
        }
        assertThat(texts(vault.at("messages"), "content")).containsExactly("hello", "one", "two");
    }

    @Test
    @DisplayName("D2: the messages that a stream of AgentVault shows are those of the task")
    void aStreamOfAgentVaultShowsTheHistory() throws Exception {
        String id = outsider.result("/agents/notes/agentvault", "tasks/send", "{" + VAULT + "}")
                .at("id")
                .text();

        List<Frame> frames;
        try (Frames stream =
                outsider.stream("/agents/notes/agentvault", "tasks/sendSubscribe", "{'id':'" + id + "'}")) {
            frames = stream.all();
        }

        Shown task = outsider.result("/agents/notes/agentvault", "tasks/get", "{'id':'" + id + "'}");
        assertThat(frames.stream()
                        .filter(frame -> "task_message".equals(frame.event()))
                        .map(frame -> frame.at("message", "parts", 0, "content").text())
                        .filter(text -> !text.equals("hello")))
                .containsExactly("one", "two");
        assertThat(texts(task.at("messages"), "content")).containsExactly("hello", "one", "two");
    }

    @ParameterizedTest
    @CsvSource({"1.0, SendStreamingMessage, GetTask", "0.3, message/stream, tasks/get"})
    @DisplayName("K11: the first event of a follow-up has no history before it, and the task has all of it")
    void theFirstEventOfAFollowUpHasNoQuestion(String version, String method, String get) throws Exception {
        String message = version.equals("1.0") ? V1 : KIND;
        String send = version.equals("1.0") ? "SendMessage" : "message/send";
        Shown asked = outsider.result(
                "/agents/asks", send, "{" + message.formatted("q-" + version, "") + "}", "A2A-Version", version);
        String id = (version.equals("1.0") ? asked.at("task") : asked).at("id").text();

        Frame first;
        try (Frames stream = outsider.stream(
                "/agents/asks",
                method,
                "{" + message.formatted("a-" + version, ",'taskId':'" + id + "'") + "}",
                "A2A-Version",
                version)) {
            first = stream.next();
        }

        assertThat(first).isNotNull();
        Shown task = version.equals("1.0") ? first.at("result", "task") : first.at("result");
        assertThat(task.at("id").text()).isEqualTo(id);
        assertThat(texts(task.at("history"), "text")).doesNotContain("what?").startsWith("hello");
        Shown read = outsider.result("/agents/asks", get, "{'id':'" + id + "'}", "A2A-Version", version);
        assertThat(texts(read.at("history"), "text")).startsWith("hello", "what?", "hello");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/kernel", "/agentvault"})
    @DisplayName("D11: an error of JSON is told in no words of the library")
    void errorsOfJsonAreTold(String path) throws Exception {
        String answer = outsider.post("/agents/notes" + path, "{'jsonrpc':'2.0','id':1,'method':'tasks/get'")
                .body();

        assertThat(answer).contains("-32700", "line 1").doesNotContain("Source", "Feature", "REDACTED");
    }

    @ParameterizedTest
    @CsvSource({"/kernel, -32602", "'', -32602"})
    @DisplayName("D11: a member in both spellings is told as such")
    void aMemberInBothSpellingsIsTold(String path, int code) throws Exception {
        Shown answer = outsider.rpc(
                "/agents/notes" + path, "tasks/send", "{" + TYPE + ",'historyLength':1,'history_length':2}");

        assertThat(answer.at("error", "code").value()).isEqualTo(code);
        assertThat(answer.at("error", "message").text())
                .contains("history_length: given twice (expected: once, as historyLength or history_length)");
    }

    @Test
    @DisplayName("D11: errors name fields as the dialect of the caller does")
    void errorsNameFieldsAsTheDialectDoes() throws Exception {
        String id = outsider.result("/agents/notes/agentvault", "tasks/send", "{" + VAULT + "}")
                .at("id")
                .text();
        Eventually.value(
                "the end of the task",
                () -> outsider.result("/agents/notes", "GetTask", "{'id':'" + id + "'}", "A2A-Version", "1.0")
                        .at("status", "state")
                        .text(),
                "TASK_STATE_COMPLETED"::equals);
        String tooLong = "x".repeat(2_000);

        Shown ended = outsider.rpc("/agents/notes/agentvault", "tasks/send", "{'id':'" + id + "'," + VAULT + "}");
        Shown vault = outsider.rpc("/agents/notes/agentvault", "tasks/send", "{'id':'" + tooLong + "'," + VAULT + "}");
        Shown kernel =
                outsider.rpc("/agents/notes/kernel", "tasks/send", "{'session_id':'" + tooLong + "'," + TYPE + "}");
        Shown first = outsider.rpc("/agents/notes", "tasks/send", "{'sessionId':'" + tooLong + "'," + TYPE + "}");
        Shown negative = outsider.rpc("/agents/notes/kernel", "tasks/send", "{'history_length':-1," + TYPE + "}");

        assertThat(ended.at("error", "message").text()).contains("without id").doesNotContain("taskId");
        assertThat(vault.at("error", "message").text()).contains("id: ").doesNotContain("taskId");
        assertThat(kernel.at("error", "message").text()).contains(" session_id: ");
        assertThat(first.at("error", "message").text()).contains(" sessionId: ");
        assertThat(negative.at("error", "message").text())
                .contains("history_length")
                .doesNotContain("historyLength");
    }
}

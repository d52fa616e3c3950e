package dev.parley.dialect;

import static dev.parley.dialect.Exchange.frames;
import static dev.parley.dialect.Exchange.whole;
import static dev.parley.dialect.Wire.text;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.vault.FileLinks;
import dev.parley.dialect.vault.VaultCard;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Hmac;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is particular about AgentVault: ids for answers, streams that attach, named events, addresses for bytes. */
final class VaultDialectTest {
    private static final String SEND = "{'message':{'role':'user','parts':[{'type':'text','content':'hi'}]}}";
    private static final Instant AT = Instant.parse("2026-01-05T09:00:00Z");

    private final Exchange exchange = new Exchange().inEveryDialect();

    private static Task task(TaskState state, @Nullable Message said, List<Artifact> artifacts, Message... history) {
        return new Task("t-9", "c-4", new TaskStatus(state, said, AT), artifacts, List.of(history), Map.of());
    }

    private static TaskEvent moved(TaskState state, @Nullable String said) {
        Message message = said == null ? null : Message.agent(Part.text(said));
        return new TaskStatusUpdateEvent("t-9", "c-4", new TaskStatus(state, message, AT), Map.of());
    }

    private static Artifact artifact(Part... parts) {
        return new Artifact("a-1", "report", null, List.of(parts), Map.of(), List.of());
    }

    private WireAnswer call(String method, String params) {
        exchange.with("Content-Type", "application/json");
        String body = "{'jsonrpc':'2.0','id':'req-1','method':'" + method + "','params':" + params + "}";
        return exchange.send("POST", "/agentvault", Wire.bytes(body.replace('\'', '"')));
    }

    /** Names and data of the frames of a stream of these events. */
    private List<Map.Entry<String, Tree>> told(TaskEvent... events) throws InterruptedException {
        var logged = new ArrayList<LoggedEvent>();
        for (TaskEvent event : events) {
            logged.add(new LoggedEvent(logged.size() + 1, event));
        }
        exchange.endpoint.events = logged;
        var told = new ArrayList<Map.Entry<String, Tree>>();
        for (String frame : frames(call("tasks/sendSubscribe", "{'id':'t-9'}")).split("\n\n", -1)) {
            if (!frame.isEmpty()) {
                String[] lines = frame.split("\n", -1);
                assertThat(lines).hasSize(2);
                told.add(Map.entry(
                        lines[0].substring("event: ".length()), Tree.of(lines[1].substring("data: ".length()))));
            }
        }
        return told;
    }

    private static List<String> names(List<Map.Entry<String, Tree>> told) {
        return told.stream().map(Map.Entry::getKey).toList();
    }

    @ParameterizedTest
    @CsvSource({
        "http://127.0.0.1:7420, localhost:8080,      http://localhost:8080",
        "http://127.0.0.1:7420, 127.0.0.1:7420,      http://localhost:7420",
        "http://127.0.0.1:7420, localhost,           http://localhost",
        "http://localhost:7420, '[::1]:7421',        http://localhost:7421",
        "http://127.0.0.1:7420, evil.example:7420,   http://localhost:7420",
        "http://127.0.0.1:7420, localhost.evil:7420, http://localhost:7420",
        "http://127.0.0.1:7420, ,                    http://localhost:7420",
        "https://a.example,     localhost:7420,      https://a.example",
        "https://a.example,     evil.example,        https://a.example",
        "http://10.0.0.1:7420,  evil.example,        http://10.0.0.1:7420"
    })
    void aCardShowsTheLocalPortThatWasCalledAndNoHostThatACallerInvents(String served, String host, String shown) {
        var card = new AgentCard.Interface(served + "/agents/a", AgentCard.Interface.JSONRPC, null, "1.0");

        assertThat(VaultCard.url(cardAt(card), host)).isEqualTo(shown + "/agents/a/agentvault");
    }

    private static AgentCard cardAt(AgentCard.Interface at) {
        return new AgentCard(
                "a",
                "an agent",
                List.of(at),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, false, List.of(), null),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null);
    }

    @Test
    void aSendIsAnsweredAtOnceAndWithTheIdAlone() {
        exchange.endpoint.answering(task(TaskState.SUBMITTED, null, List.of()));

        assertThat(text(whole(call("tasks/send", SEND)).body()))
                .isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":\"req-1\",\"result\":{\"id\":\"t-9\"}}");
        assertThat(exchange.endpoint.asked)
                .isInstanceOfSatisfying(
                        Operation.SendMessage.class,
                        send -> assertThat(send.configuration().returnImmediately())
                                .isTrue());
        assertThat(requireNonNull(exchange.endpoint.context).knowsOnlyTasks()).isTrue();
    }

    @Test
    void aStreamBeginsWithTheStateAndWhatWasBefore() throws InterruptedException {
        var told = told(
                task(
                        TaskState.WORKING,
                        Message.agent(Part.text("half")),
                        List.of(artifact(Part.text("a"))),
                        Message.user(Part.text("hi"))),
                moved(TaskState.COMPLETED, null));

        assertThat(names(told))
                .containsExactly("task_status", "task_message", "task_message", "task_artifact", "task_status");
        assertThat(told.getFirst().getValue().at("state").text()).isEqualTo("WORKING");
        assertThat(told.get(1).getValue().at("message", "role").text()).isEqualTo("user");
        assertThat(told.get(2).getValue().at("message", "role").text()).isEqualTo("assistant");
        assertThat(told.getLast().getValue().at("state").text()).isEqualTo("COMPLETED");
    }

    @Test
    void ofAnEndedTaskTheEndComesLast() throws InterruptedException {
        var told = told(task(TaskState.COMPLETED, null, List.of(artifact(Part.text("a")))));

        assertThat(names(told)).containsExactly("task_artifact", "task_status");
    }

    @Test
    void whatIsSaidComesAsAMessageAndInTheStatus() throws InterruptedException {
        var told = told(moved(TaskState.WORKING, "half"));

        assertThat(names(told)).containsExactly("task_message", "task_status");
        assertThat(told.getFirst()
                        .getValue()
                        .at("message", "parts", 0, "content")
                        .text())
                .isEqualTo("half");
        assertThat(told.getLast().getValue().at("message").text()).isEqualTo("half");
        assertThat(told.getLast().getValue().at("timestamp").text()).isEqualTo("2026-01-05T09:00:00.000Z");
    }

    @ParameterizedTest
    @CsvSource({
        "COMPLETED,      'SUBMITTED,WORKING,COMPLETED'",
        "FAILED,         'SUBMITTED,WORKING,FAILED'",
        "REJECTED,       'SUBMITTED,WORKING,FAILED'",
        "INPUT_REQUIRED, 'SUBMITTED,WORKING,INPUT_REQUIRED'",
        "AUTH_REQUIRED,  'SUBMITTED,WORKING,INPUT_REQUIRED'",
        "CANCELED,       'SUBMITTED,CANCELED'",
        "WORKING,        'SUBMITTED,WORKING'"
    })
    void fromSubmittedTheWayLeadsThroughWork(TaskState state, String states) throws InterruptedException {
        var told = told(task(TaskState.SUBMITTED, null, List.of()), moved(state, null));

        assertThat(String.join(
                        ",",
                        told.stream()
                                .map(one -> one.getValue().at("state").text())
                                .toList()))
                .isEqualTo(states);
    }

    @Test
    void aTaskThatGoesOnAndWaitsForItsAgentIsAtWork() throws InterruptedException {
        var told = told(task(TaskState.INPUT_REQUIRED, null, List.of()), moved(TaskState.SUBMITTED, null));

        assertThat(told.getLast().getValue().at("state").text()).isEqualTo("WORKING");
    }

    @ParameterizedTest
    @EnumSource(TaskState.class)
    void everyStateIsOneThatClientsKnow(TaskState state) {
        exchange.endpoint.answering(task(state, null, List.of()));

        assertThat(Tree.of(whole(call("tasks/get", "{'id':'t-9'}")))
                        .at("result", "state")
                        .text())
                .isIn("SUBMITTED", "WORKING", "INPUT_REQUIRED", "COMPLETED", "FAILED", "CANCELED");
    }

    @Test
    void anArtifactOfSeveralPartsBecomesSeveral() throws InterruptedException {
        var told = told(new TaskArtifactUpdateEvent(
                "t-9",
                "c-4",
                artifact(Part.text("a"), new Part.Data(List.of(1), null, null, Map.of())),
                true,
                false,
                Map.of()));

        assertThat(names(told)).containsExactly("task_artifact", "task_artifact");
        assertThat(told.getFirst().getValue().at("artifact", "id").text()).isEqualTo("a-1");
        assertThat(told.getLast().getValue().at("artifact", "id").text()).isEqualTo("a-1.2");
        assertThat(told.getFirst()
                        .getValue()
                        .at("artifact", "metadata", "append")
                        .value())
                .isEqualTo(true);
        assertThat(told.getLast().getValue().at("artifact", "content", "value").value())
                .isEqualTo(List.of(1));
    }

    @Test
    void linesInTextStayOneLineOnTheWire() throws InterruptedException {
        assertThat(told(moved(TaskState.WORKING, "one\ntwo\r\nthree"))).hasSize(2);
    }

    @Test
    void aClientThatReadsOnlyStreamsIsRefusedInOne() {
        exchange.endpoint.failing(A2AException.of(A2AError.TASK_NOT_FOUND));

        exchange.with("Accept", "text/event-stream");
        var answer = whole(call("tasks/sendSubscribe", "{'id':'t-9'}"));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers()).containsEntry("Content-Type", "text/event-stream");
        assertThat(text(answer.body())).startsWith("event: error\ndata: {\"code\":-32001,");
    }

    @Test
    void aBrokenStreamEndsWithAnErrorThatEitherKindOfClientReads() {
        var events = (WireAnswer.Events) call("tasks/sendSubscribe", "{'id':'t-9'}");

        String frame = text(events.failure().apply(A2AException.of(A2AError.INTERNAL, "gone")));

        assertThat(frame).startsWith("event: error\ndata: {").endsWith("}\n\n");
        Tree data = Tree.of(frame.substring(frame.indexOf('{')).strip());
        assertThat(data.at("code").value()).isEqualTo(-32603);
        assertThat(data.at("error").text()).isEqualTo("stream_error");
        assertThat(data.at("message").text()).isEqualTo("gone");
    }

    @ParameterizedTest
    @CsvSource({"user, USER", "assistant, AGENT", "system, USER", "tool, USER"})
    void everyRoleComesBackAsItWent(String role, Role known) {
        exchange.endpoint.answers = call -> task(
                TaskState.COMPLETED,
                null,
                List.of(),
                call instanceof Operation.SendMessage send ? send.message() : Message.user(Part.text("")));
        call("tasks/send", SEND.replace("'user'", "'" + role + "'"));
        Message heard = ((Operation.SendMessage) requireNonNull(exchange.endpoint.asked)).message();
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(), heard));

        var shown = Tree.of(whole(call("tasks/get", "{'id':'t-9'}")));

        assertThat(heard.role()).isEqualTo(known);
        assertThat(shown.at("result", "messages", 0, "role").text()).isEqualTo(role);
    }

    @Test
    void bytesStandBehindAnAddressThatIsSigned() {
        Part.Raw file = new Part.Raw(new byte[] {1, 2, 3}, "a b.png", "image/png", Map.of());
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(artifact(file))));
        Tree shown = Tree.of(whole(call("tasks/get", "{'id':'t-9'}"))).at("result", "artifacts", 0);

        String url = shown.at("url").text();

        assertThat(shown.at("content").isAbsent()).isTrue();
        assertThat(url)
                .startsWith("https://agents.example.com/analyst/agentvault/files/t-9/a-1/0?")
                .contains("expires=", "signature=");
    }

    @ParameterizedTest
    @CsvSource({
        "../../etc/passwd, passwd",
        "'..\\..\\x.png', x.png",
        "-rf,              rf",
        ".bashrc,          bashrc",
        "'a\"; b.png',     a%3B%20b.png",
        "'a\r\nX: y.png',  aX%20y.png",
        "'\u202Egnp.exe',  gnp.exe",
        "'\uD800.png',     png",
    })
    void namesOfFilesAreHarmlessInTheHeader(String name, String shown) {
        var dialects = new Dialects(DialectSettings.DEFAULTS);
        Part.Raw file = new Part.Raw(new byte[] {1}, name, "image/png", Map.of());
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(artifact(file))));
        var agent = new ServedAgent(
                "a", exchange.endpoint, Json.read(Wire.example("card.full.json"), AgentCard.class), Dialects.NAMES);
        exchange.with("Content-Type", "application/json");
        var get = exchange.request(
                "POST",
                "/agentvault",
                Wire.bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"t-9\"}}"));
        String url = Tree.of(whole(dialects.answer(get, agent, CallContext.anonymous())))
                .at("result", "artifacts", 0, "url")
                .text();

        var served = whole(dialects.answer(
                exchange.request("GET", url.substring(url.indexOf("/agentvault/")), new byte[0]),
                agent,
                CallContext.anonymous()));

        assertThat(served.headers()).containsEntry("Content-Disposition", "attachment; filename*=UTF-8''" + shown);
    }

    @Test
    void filesAreServedWhileTheirAddressIsGood() {
        var dialects = new Dialects(DialectSettings.DEFAULTS);
        Part.Raw file = new Part.Raw(new byte[] {1, 2, 3}, "a b.png", "image/png", Map.of());
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(artifact(file, Part.text("no file")))));
        var agent = new ServedAgent(
                "a", exchange.endpoint, Json.read(Wire.example("card.full.json"), AgentCard.class), Dialects.NAMES);
        exchange.with("Content-Type", "application/json");
        var get = exchange.request(
                "POST",
                "/agentvault",
                Wire.bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"t-9\"}}"));
        var caller = CallContext.anonymous();
        String url = Tree.of(whole(dialects.answer(get, agent, caller)))
                .at("result", "artifacts", 0, "url")
                .text();
        String target = url.substring(url.indexOf("/agentvault/"));

        var served = whole(dialects.answer(exchange.request("GET", target, new byte[0]), agent, caller));

        assertThat(served.status()).isEqualTo(200);
        assertThat(served.body()).containsExactly(1, 2, 3);
        assertThat(served.headers())
                .containsEntry("Content-Type", "image/png")
                .containsEntry("X-Content-Type-Options", "nosniff")
                .containsEntry("Content-Disposition", "attachment; filename*=UTF-8''a%20b.png");
        for (String forged : List.of(
                target.replace("/0?", "/1?"),
                target.replace("t-9", "t-8"),
                target.replace("owner=anonymous", "owner=mallory"),
                target.replaceFirst("expires=\\d", "expires=9"),
                target.replaceFirst("signature=", "signature=0"),
                target.substring(0, target.indexOf('?')))) {
            assertThat(whole(dialects.answer(exchange.request("GET", forged, new byte[0]), agent, caller))
                            .status())
                    .as(forged)
                    .isEqualTo(403);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "text/javascript,           application/octet-stream",
        "Text/JavaScript,           application/octet-stream",
        "text/javascript1.5,        application/octet-stream",
        "application/javascript,    application/octet-stream",
        "application/x-javascript,  application/octet-stream",
        "application/ecmascript,    application/octet-stream",
        "text/jscript,              application/octet-stream",
        "text/livescript,           application/octet-stream",
        "no type,                   application/octet-stream",
        "application/postscript,    application/postscript",
        "application/json,          application/json",
        "text/html,                 text/html",
        "image/png,                 image/png"
    })
    void filesOfAgentsAreNoScriptsOfPages(String type, String shown) {
        Part.Raw file = new Part.Raw(new byte[] {1}, "a", type, Map.of());
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(artifact(file))));
        var agent = new ServedAgent(
                "a", exchange.endpoint, Json.read(Wire.example("card.full.json"), AgentCard.class), Dialects.NAMES);
        var links = new FileLinks(Hmac.key(new byte[32]), (group, name) -> true, InstantSource.fixed(Instant.EPOCH));

        String url = links.of("", CallContext.anonymous(), "a", "t-9", "a-1", 0);

        assertThat(links.answer(exchange.request("GET", url, new byte[0]), agent)
                        .headers())
                .containsEntry("Content-Type", shown)
                .containsEntry("X-Content-Type-Options", "nosniff");
    }

    @Test
    void anAddressThatIsGoodForTooLongIsRefusedEvenIfItIsSigned() {
        var key = Hmac.key(new byte[32]);
        Part.Raw file = new Part.Raw(new byte[] {1, 2, 3}, "a.png", "image/png", Map.of());
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(artifact(file))));
        var agent = new ServedAgent(
                "a", exchange.endpoint, Json.read(Wire.example("card.full.json"), AgentCard.class), Dialects.NAMES);
        var caller = CallContext.anonymous();
        var links = new FileLinks(key, (group, name) -> true, InstantSource.fixed(Instant.EPOCH));
        var later = new FileLinks(
                key, (group, name) -> true, InstantSource.fixed(Instant.EPOCH.plus(Duration.ofDays(365))));

        String good = links.of("", caller, "a", "t-9", "a-1", 0);
        String forged = later.of("", caller, "a", "t-9", "a-1", 0);

        assertThat(links.answer(exchange.request("GET", good, new byte[0]), agent)
                        .status())
                .isEqualTo(200);
        assertThatThrownBy(() -> links.answer(exchange.request("GET", forged, new byte[0]), agent))
                .isInstanceOf(A2AException.class);
    }

    @Test
    void anAddressEndsWithTheRightOfTheCallerForWhomItWasMade() {
        var key = Hmac.key(new byte[32]);
        var shutOut = new HashSet<String>();
        Part.Raw file = new Part.Raw(new byte[] {1, 2, 3}, "a.png", "image/png", Map.of());
        exchange.endpoint.answering(task(TaskState.COMPLETED, null, List.of(artifact(file))));
        var agent = new ServedAgent(
                "a", exchange.endpoint, Json.read(Wire.example("card.full.json"), AgentCard.class), Dialects.NAMES);
        var caller =
                CallContext.of("alice", new CallContext.Scope("T1", "alice")).sharing();
        var links = new FileLinks(
                key, (group, name) -> !shutOut.contains(group + "/" + name), InstantSource.fixed(Instant.EPOCH));
        String target = links.of("", caller, "a", "t-9", "a-1", 0);

        assertThat(links.answer(exchange.request("GET", target, new byte[0]), agent)
                        .status())
                .isEqualTo(200);
        shutOut.add("T1/alice");

        assertThatThrownBy(() -> links.answer(exchange.request("GET", target, new byte[0]), agent))
                .isInstanceOf(A2AException.class);
        assertThatThrownBy(() -> links.answer(
                        exchange.request("GET", target.replace("caller=alice", "caller=bob"), new byte[0]), agent))
                .isInstanceOf(A2AException.class);
    }

    @Test
    void aWebhookIsToldOfQuestionsAndEndsOnly() {
        var config = new PushConfig(null, "p", "t-9", "https://h.example", null, null);
        for (TaskState state : TaskState.values()) {
            var notification = Notifications.of(
                    "agentvault",
                    config,
                    null,
                    new LoggedEvent(2, moved(state, "so")),
                    () -> task(state, Message.agent(Part.text("so")), List.of()));

            if (state.isTerminal() || state == TaskState.INPUT_REQUIRED) {
                assertThat(requireNonNull(notification).headers()).containsEntry("X-AgentVault-Event", "task_status");
                assertThat(Tree.of(text(notification.body())).at("message").text())
                        .isEqualTo("so");
            } else {
                assertThat(notification).isNull();
            }
        }
    }
}

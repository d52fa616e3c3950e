package dev.parley.gateway.upstream;

import static dev.parley.gateway.upstream.ScriptedReplica.MESSAGE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.gateway.hub.Admin;
import dev.parley.gateway.upstream.ScriptedReplica.Script;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A remote agent that breaks HTTP, through a hub: the call ends with an error in the dialect of its caller, the connection is given up, the
 * next call and another route work.
 */
@Timeout(60)
@Tag("heavy")
final class HostileUpstreamTest {
    private static final byte[] FILLER = "x".repeat(64 * 1024).getBytes(UTF_8);
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    private static final String TASK =
            "{\"jsonrpc\":\"2.0\",\"result\":" + ScriptedReplica.task("t", "TASK_STATE_WORKING") + "}";

    private static Hub hub;
    private static Admin admin;
    private static ScriptedReplica well;

    private ScriptedReplica hostile;
    /** Bytes of the last script until its connection was given up. */
    private volatile CompletableFuture<Long> givenUp = new CompletableFuture<>();

    @BeforeAll
    static void start() throws Exception {
        hub = Hub.builder().inMemory().port(0).drain(Duration.ZERO).start();
        admin = Admin.of(hub);
        well = ScriptedReplica.answering();
        admin.add("well", well.url(), Map.of());
    }

    @AfterAll
    static void stop() {
        hub.close();
        well.close();
    }

    @BeforeEach
    void begin() throws Exception {
        hostile = ScriptedReplica.answering();
    }

    @AfterEach
    void end() throws Exception {
        admin.ask("DELETE", "/hostile", null);
        hostile.close();
    }

    private void route(String... settings) throws Exception {
        var all = new ArrayList<>(List.of("retries=0", "failures=100", "resumes=0"));
        all.addAll(List.of(settings));
        admin.add("hostile", hostile.url(), Map.of("set", all));
    }

    /** Some bytes, written until the reader gives up. */
    @FunctionalInterface
    private interface Endless {
        /** Returns the number of bytes. */
        int write(OutputStream out) throws IOException;
    }

    private static int write(OutputStream out, byte[] bytes) throws IOException {
        out.write(bytes);
        return bytes.length;
    }

    private static int write(OutputStream out, String text) throws IOException {
        return write(out, text.getBytes(UTF_8));
    }

    private Script endless(String head, Endless more) {
        givenUp = new CompletableFuture<>();
        CompletableFuture<Long> end = givenUp;
        return (body, out, in) -> {
            long bytes = 0;
            try {
                bytes += write(out, head);
                while (true) {
                    bytes += more.write(out);
                }
            } catch (IOException closed) {
                end.complete(bytes);
                throw closed;
            }
        };
    }

    private Script whole(String answer) {
        return (body, out, in) -> write(out, answer);
    }

    private static AgentClient client(String route, String version, String... bindings) {
        return AgentClient.builder()
                .version(version)
                .prefer(bindings)
                .retries(0)
                .reconnects(0)
                .connect(hub.agentUrl(route));
    }

    private static void requireWell(String route) {
        try (AgentClient client = client(route, "1.0")) {
            assertThat(((Message) client.send("hello")).text()).isEqualTo("hi");
        }
    }

    private static A2AException refusal(Runnable call) {
        return requireNonNull(catchThrowableOfType(A2AException.class, call::run));
    }

    /** The answer to a message in three dialects. */
    private void refused(Script script, String text) {
        refused(script, text, "1.0", "JSONRPC");
        refused(script, text, "1.0", "HTTP+JSON");
        refused(script, text, "0.3", "JSONRPC");
    }

    private void refused(Script script, String text, String version, String binding) {
        hostile.script(script);
        try (AgentClient client = client("hostile", version, binding)) {
            A2AException refusal = refusal(() -> client.send("hello"));

            assertThat(refusal.error()).as(refusal.getMessage()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
            assertThat(refusal.getMessage()).contains(text).doesNotContain("127.0.0.1");
        }
        hostile.script((body, out, in) -> ScriptedReplica.result(out, MESSAGE));
        requireWell("hostile");
    }

    /** Requires that the gateway has given the connection up before it read more than that. */
    private void requireGivenUp(long most) throws Exception {
        assertThat(givenUp.get(30, TimeUnit.SECONDS)).isLessThan(most);
    }

    @Test
    void headersWithoutEndAreCut() throws Exception {
        route();
        refused(endless(OK, out -> write(out, "X-More: and more\r\n")), "broke");
        requireGivenUp(32 << 20);
        refused(endless(OK + "X-Long: ", out -> write(out, FILLER)), "broke", "1.0", "JSONRPC");
        requireGivenUp(32 << 20);
    }

    @Test
    void bodiesWithoutEndAreCut() throws Exception {
        route();
        Endless chunk = out -> write(out, "10000\r\n") + write(out, FILLER) + write(out, "\r\n");
        refused(endless(OK + "Transfer-Encoding: chunked\r\n\r\n", chunk), "too large", "1.0", "JSONRPC");
        requireGivenUp(128 << 20);
        refused(
                endless(OK + "Content-Length: 10737418240\r\n\r\n", out -> write(out, FILLER)),
                "too large",
                "0.3",
                "JSONRPC");
        requireGivenUp(128 << 20);
    }

    @Test
    void cardsWithoutEndAreCut() throws Exception {
        route();
        Endless chunk = out -> write(out, "10000\r\n") + write(out, FILLER) + write(out, "\r\n");
        for (Script card : List.of(
                endless(OK + "Transfer-Encoding: chunked\r\n\r\n", chunk),
                endless(OK + "Content-Length: 10737418240\r\n\r\n", out -> write(out, FILLER)))) {
            hostile.card(card);
            HttpResponse<byte[]> refreshed = admin.ask("POST", "/hostile/refresh", null);

            assertThat(refreshed.statusCode()).isEqualTo(503);
            assertThat(new String(refreshed.body(), UTF_8)).contains("larger than 1048576 bytes");
        }
        requireGivenUp(32 << 20);
        requireWell("hostile");
    }

    @Test
    void floodsOfInterimAnswersEndAtOnceAndDripsWithTheTimeLimit() throws Exception {
        route("total-timeout=5s");
        for (String interim : List.of("100 Continue", "103 Early Hints\r\nLink: </x>")) {
            refused(endless("", out -> write(out, "HTTP/1.1 " + interim + "\r\n\r\n")), "broke", "1.0", "JSONRPC");
            requireGivenUp(Long.MAX_VALUE);
        }
        assertThat(hostile.calls).as("with the calls after them").hasValue(4);
        admin.ask("DELETE", "/hostile", null);
        route("total-timeout=1s");

        Script drip = endless(OK + "Content-Length: 10737418240\r\n\r\n", out -> write(out, " "));
        var dripping = new CompletableFuture<String>();
        hostile.script((body, out, in) -> {
            dripping.complete("begun");
            drip.on(body, out, in);
        });
        try (AgentClient client = client("hostile", "1.0")) {
            CompletableFuture<A2AException> slow = CompletableFuture.supplyAsync(
                    () -> refusal(() -> client.send("hello")), Thread::startVirtualThread);
            assertThat(dripping.get(30, TimeUnit.SECONDS)).isEqualTo("begun");
            requireWell("well");
            assertThat(slow.get(30, TimeUnit.SECONDS).error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
            requireGivenUp(Long.MAX_VALUE);
        }
    }

    @Test
    void lengthsThatLieCostNoMoreThanTheNextCallOfTheirConnection() throws Exception {
        route();
        refused(whole(OK + "Content-Length: 1000\r\n\r\n" + TASK), "broke");

        hostile.script(whole(OK + "Content-Length: 20\r\n\r\n" + TASK));
        try (AgentClient client = client("hostile", "1.0")) {
            assertThat(refusal(() -> client.send("hello")).error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
            hostile.script((body, out, in) -> ScriptedReplica.result(out, MESSAGE));
            try {
                assertThat(client.send("into the rest, if the connection is used again"))
                        .isInstanceOf(Message.class);
            } catch (A2AException lost) {
                assertThat(lost.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
            }
        }
        requireWell("hostile");
    }

    @Test
    void ambiguousAndCompressedAnswersAreRefused() throws Exception {
        route();
        String twice = TASK.substring(0, TASK.length() - 1) + ",\"result\":" + MESSAGE + "}";
        refused(whole(OK + "Connection: close\r\nContent-Length: " + twice.length() + "\r\n\r\n" + twice), "");

        var bomb = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(bomb)) {
            for (int i = 0; i < 1600; i++) {
                gzip.write(FILLER); // 100 MiB in 100 KiB
            }
        }
        refused(
                (body, out, in) -> {
                    write(
                            out,
                            OK + "Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: " + bomb.size()
                                    + "\r\n\r\n");
                    bomb.writeTo(out);
                },
                "",
                "1.0",
                "JSONRPC");
        assertThat(hostile.heads)
                .noneMatch(head -> head.toLowerCase(Locale.ROOT).contains("accept-encoding"));
    }

    @Test
    void aConnectionThatIsClosedInsteadOfAnAnswerIsNotUsedTwiceForAMessage() throws Exception {
        admin.add("hostile", hostile.url(), Map.of("set", List.of("retries=3", "failures=100")));
        hostile.script((body, out, in) -> {
            write(out, OK + "Content-Length: " + TASK.length() + "\r\n\r\n" + TASK);
            hostile.next(in); // and closes the connection
        });
        try (AgentClient client = client("hostile", "1.0")) {
            assertThat(client.send("one")).isInstanceOf(Task.class);
            A2AException lost = refusal(() -> client.send("two"));

            assertThat(lost.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
            assertThat(lost.getMessage()).contains("whether the agent acted is unknown");
            assertThat(hostile.calls).hasValue(2);
        }
        hostile.script((body, out, in) -> ScriptedReplica.result(out, MESSAGE));
        requireWell("hostile");
    }

    private A2AException broken() {
        try (AgentClient client = client("hostile", "1.0")) {
            return refusal(() -> {
                try (var events = client.stream("hello")) {
                    while (events.hasNext()) {
                        assertThat(events.next()).isNotNull();
                    }
                }
            });
        }
    }

    private Script streamed(String begin, Endless more) {
        Script rest = endless(begin, more);
        return (body, out, in) -> {
            if (!body.contains("SendStreamingMessage")) {
                ScriptedReplica.error(out, "400 Bad Request", "");
                return;
            }
            ScriptedReplica.stream(out);
            ScriptedReplica.event(out, ScriptedReplica.task("t", "TASK_STATE_WORKING"));
            rest.on(body, out, in);
        };
    }

    @Test
    void halfAnEventAndSilenceEndWithTheIdleLimit() throws Exception {
        route("idle-timeout=1s");
        hostile.script((body, out, in) -> {
            ScriptedReplica.stream(out);
            ScriptedReplica.event(out, ScriptedReplica.task("t", "TASK_STATE_WORKING"));
            write(out, "data: {\"jsonrpc\":\"2.0\"");
            try {
                assertThat(in.read()).isNegative(); // until the gateway gives up
            } finally {
                givenUp.complete(0L);
            }
        });

        A2AException silent = broken();

        assertThat(silent.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(silent.getMessage()).contains("idle timeout").doesNotContain("127.0.0.1");
        requireGivenUp(1);
        requireWell("well");
    }

    @Test
    void anEventWithoutEndIsCut() throws Exception {
        route();
        hostile.script(streamed("data: \"", out -> write(out, FILLER)));

        A2AException large = broken();

        assertThat(large.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(large.getMessage()).contains("too large");
        requireGivenUp(50 << 20);
        hostile.script((body, out, in) -> ScriptedReplica.result(out, MESSAGE));
        requireWell("hostile");
    }

    @Test
    void aFloodOfCommentsEndsWithTheTotalLimit() throws Exception {
        route("total-timeout=1s");
        hostile.script(streamed("", out -> write(out, ":\n\n".repeat(1000))));

        A2AException flooded = broken();

        assertThat(flooded.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(flooded.getMessage()).contains("total timeout");
        requireGivenUp(Long.MAX_VALUE);
        requireWell("well");
    }
}

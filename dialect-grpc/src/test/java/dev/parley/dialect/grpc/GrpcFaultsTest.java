package dev.parley.dialect.grpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.dialect.grpc.RawPeer.Call;
import dev.parley.dialect.grpc.RawPeer.Script;
import dev.parley.dialect.grpc.v1.Artifact;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.Task;
import dev.parley.dialect.grpc.v1.TaskState;
import dev.parley.dialect.grpc.v1.TaskStatus;
import dev.parley.dialect.spi.Transport;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each fault of an agent over gRPC at each phase: the call ends with an error of the fault, before its time limit, the next one gets its own
 * answer, and no thread is left.
 */
@Timeout(60)
@Tag("heavy")
class GrpcFaultsTest {
    /** Far more than a call of a machine under load takes. */
    private static final Duration SOON = Duration.ofSeconds(5);

    /** Time limit of a call, which no fault may wait for. */
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** Code of gRPC for the end of a time limit, here of the agent's own. */
    private static final int DEADLINE_EXCEEDED = 4;

    /** Code of HTTP/2 (RFC 9113, section 7) of a stream that the server has not begun to process. */
    private static final int REFUSED_STREAM = 7;

    enum Phase {
        SEND,
        GET,
        STREAM,
        SUBSCRIBE
    }

    @AfterEach
    void noThreadIsLeft() {
        Eventually.value("no threads of closed connections", GrpcFaultsTest::threads, List::isEmpty);
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("grpc") || name.startsWith("OkHttp"))
                .toList();
    }

    private static Transport.Remote remote(RawPeer peer) {
        return new GrpcTransport()
                .to(
                        new AgentCard.Interface(peer.authority(), AgentCard.Interface.GRPC, null, "1.0"),
                        new Transport.Settings(
                                peer.authority(),
                                false,
                                null,
                                1024 * 1024,
                                SOON,
                                Duration.ofMinutes(5),
                                SOON.multipliedBy(4),
                                List.of(),
                                null));
    }

    private static CallContext within(Duration limit) {
        return CallContext.anonymous().withDeadline(Instant.now().plus(limit));
    }

    private static void call(Transport.Remote remote, Phase phase, Duration limit) throws InterruptedException {
        Message message = Message.user(dev.parley.protocol.Part.text("go"));
        switch (phase) {
            case SEND -> remote.call(SendMessage.of(message), within(limit), Map.of());
            case GET -> remote.call(GetTask.of("t1"), within(limit), Map.of());
            case STREAM -> all(remote.watch(SendStreamingMessage.of(message), within(limit), Map.of()));
            case SUBSCRIBE -> all(remote.watch(SubscribeToTask.of("t1"), within(limit), Map.of()));
        }
    }

    private static void all(Feed<LoggedEvent> events) throws InterruptedException {
        try (events) {
            List<LoggedEvent> next = List.of();
            while (next != null) {
                next = events.next(SOON);
            }
        }
    }

    private static Task task(String text) {
        return Task.newBuilder()
                .setId("t1")
                .setContextId("c1")
                .setStatus(TaskStatus.newBuilder().setState(TaskState.TASK_STATE_COMPLETED))
                .addArtifacts(Artifact.newBuilder()
                        .setArtifactId("a")
                        .addParts(Part.newBuilder().setText(text)))
                .build();
    }

    private static byte[] message(Phase phase, String text) {
        return switch (phase) {
            case SEND ->
                SendMessageResponse.newBuilder().setTask(task(text)).build().toByteArray();
            case GET -> task(text).toByteArray();
            case STREAM, SUBSCRIBE ->
                StreamResponse.newBuilder().setTask(task(text)).build().toByteArray();
        };
    }

    private static void healthy(Call call, Phase phase, String text) throws IOException {
        call.begin();
        call.data(false, RawPeer.framed(message(phase, text)));
        call.end("0", "");
    }

    private static Map<String, Script> faults(Phase phase) {
        var faults = new LinkedHashMap<String, Script>();
        for (int code = 0; code <= 13; code++) {
            int error = code;
            faults.put("reset " + code, call -> call.reset(error));
            faults.put("reset after the headers " + code, call -> {
                call.begin();
                call.reset(error);
            });
            faults.put("leaves " + code, call -> {
                call.goAway(0, error);
                call.cut();
            });
        }
        for (int status : List.of(400, 401, 403, 404, 405, 413, 429, 500, 502, 503, 504)) {
            faults.put("HTML with status " + status, call -> {
                call.headers(false, Map.of(":status", String.valueOf(status), "content-type", "text/html"));
                call.data(true, "<html><title>Sign in</title></html>");
            });
            faults.put("status " + status, call -> call.headers(true, Map.of(":status", String.valueOf(status))));
        }
        for (String status : List.of(
                "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "99", "-1",
                "abc", "")) {
            faults.put(
                    "code " + status + " alone",
                    call -> call.headers(
                            true, Map.of(":status", "200", "content-type", "application/grpc", "grpc-status", status)));
            faults.put("code " + status, call -> {
                call.begin();
                call.end(status, "for%20a reason%");
            });
        }
        byte[] whole = RawPeer.framed(message(phase, "x"));
        for (int cut : List.of(1, 3, 4, 5, 9, whole.length - 1)) {
            if (cut != 5 || phase == Phase.SEND || phase == Phase.GET) { // a stream without messages to the library
                faults.put("message cut at " + cut + ", with trailers", call -> {
                    call.begin();
                    call.data(false, Arrays.copyOf(whole, cut));
                    call.end("0", "");
                });
            }
            faults.put("message cut at " + cut, call -> {
                call.begin();
                call.data(false, Arrays.copyOf(whole, cut));
                call.cut();
            });
        }
        faults.put("no trailers", call -> {
            call.begin();
            call.data(true, whole);
        });
        faults.put("no status in the trailers", call -> {
            call.begin();
            call.data(false, whole);
            call.headers(true, Map.of("x", "y"));
        });
        faults.put("HTML with status 200", call -> {
            call.headers(false, Map.of(":status", "200", "content-type", "text/html"));
            call.data(true, "<html><title>Sign in</title></html>");
        });
        faults.put("JSON with status 200", call -> {
            call.headers(false, Map.of(":status", "200", "content-type", "application/json"));
            call.data(true, "{\"id\":\"t1\"}");
        });
        faults.put("no content type", call -> {
            call.headers(false, Map.of(":status", "200"));
            call.data(true, whole);
        });
        faults.put("no protobuf", call -> {
            call.begin();
            call.data(false, RawPeer.framed(new byte[] {(byte) 0xff, (byte) 0xff, 1}));
            call.end("0", "");
        });
        faults.put("text for protobuf", call -> {
            call.begin();
            call.data(false, RawPeer.framed("{\"task\":{}}".getBytes(UTF_8)));
            call.end("0", "");
        });
        faults.put("compressed without a method", call -> {
            call.begin();
            byte[] marked = whole.clone();
            marked[0] = 1;
            call.data(false, marked);
            call.end("0", "");
        });
        faults.put("an unknown mark", call -> {
            call.begin();
            byte[] marked = whole.clone();
            marked[0] = 7;
            call.data(false, marked);
            call.end("0", "");
        });
        faults.put("a length beyond the limit", call -> {
            call.begin();
            call.data(false, new byte[] {0, 127, -1, -1, -1, 1});
        });
        faults.put("a negative length", call -> {
            call.begin();
            call.data(false, new byte[] {0, -1, -1, -1, -1, 1});
        });
        faults.put("no answer", Call::cut);
        faults.put("headers and no more", call -> {
            call.begin();
            call.cut();
        });
        faults.put("garbage", call -> {
            call.socket().getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
            call.cut();
        });
        faults.put("a frame of an impossible length", call -> {
            call.socket().getOutputStream().write(new byte[] {-1, -1, -1, 0, 0, 0, 0, 0, 1});
            call.cut();
        });
        if (phase == Phase.SEND || phase == Phase.GET) {
            faults.put("no message", call -> {
                call.begin();
                call.end("0", "");
            });
            faults.put("a message too many", call -> {
                call.begin();
                call.data(false, whole);
                call.data(false, whole);
                call.end("0", "");
            });
        }
        return faults;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("each fault ends the call with an error, and only that call")
    void aFaultEndsItsCallOnly(Phase phase) throws Exception {
        var unexpected = new ArrayList<String>();
        var faults = faults(phase);
        try (var peer = new RawPeer(call -> healthy(call, phase, "x"));
                Transport.Remote remote = remote(peer)) {
            for (Map.Entry<String, Script> fault : faults.entrySet()) {
                peer.script = fault.getValue();
                Throwable failure = catchThrowable(() -> call(remote, phase, LIMIT));
                peer.script = call -> healthy(call, phase, "x");
                Throwable after = catchThrowable(() -> call(remote, phase, LIMIT));
                String problem =
                        after != null ? "the next call fails, too: " + after : problem(fault.getKey(), failure);
                if (problem != null) {
                    unexpected.add(fault.getKey() + ": " + problem);
                }
            }
        }
        assertThat(unexpected).isEmpty();
    }

    private static @Nullable String problem(String fault, @Nullable Throwable failure) {
        if (failure == null) {
            return "no error";
        }
        boolean isDeadline = fault.startsWith("code " + DEADLINE_EXCEEDED);
        if (failure instanceof Broken broken && (broken.kind() == Broken.Kind.TIMED_OUT) != isDeadline) {
            return "an end by the time limit";
        }
        boolean isKnown = failure instanceof A2AException || failure instanceof Broken;
        return !isKnown || String.valueOf(failure.getMessage()).isBlank() || failure.getMessage() == null
                ? "an error that says nothing: " + failure
                : null;
    }

    @ParameterizedTest
    @EnumSource
    void aSilentAgentEndsTheCallAtItsTimeLimit(Phase phase) throws Exception {
        List<Script> silent = List.of(call -> {}, Call::begin, call -> {
            call.begin();
            call.data(false, new byte[] {0, 0, 0});
        });
        try (var peer = new RawPeer(call -> healthy(call, phase, "x"));
                Transport.Remote remote = remote(peer)) {
            call(remote, phase, SOON);
            for (Script script : silent) {
                peer.script = script;
                long begin = System.nanoTime();

                Throwable failure = catchThrowable(() -> call(remote, phase, Duration.ofMillis(300)));

                assertThat(failure)
                        .isInstanceOfSatisfying(
                                Broken.class, late -> assertThat(late.kind()).isEqualTo(Broken.Kind.TIMED_OUT));
                assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(SOON);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"message too many", "reset", "garbage in the message"})
    @DisplayName("T4: a fault of one caller's call reaches no other caller on the connection")
    void noAnswerReachesAnotherCaller(String fault) throws Exception {
        var problem = new AtomicReference<@Nullable String>();
        try (var peer = new RawPeer(call -> {
                    // Each caller names its task, and gets that name back.
                    String asked = new String(call.message(), UTF_8);
                    String name = asked.contains("bad") ? "bad" : "good";
                    byte[] answer = RawPeer.framed(
                            task(name).toBuilder().setId(name).build().toByteArray());
                    call.begin();
                    if (name.equals("bad")) {
                        switch (fault) {
                            case "reset" -> {
                                call.reset(2);
                                return;
                            }
                            case "garbage in the message" -> call.data(false, new byte[] {0, 0, 0, 0, 2, -1, -1});
                            default -> call.data(false, answer);
                        }
                    }
                    call.data(false, answer);
                    call.end("0", "");
                });
                Transport.Remote remote = remote(peer)) {
            var begun = new CountDownLatch(1);
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (String name : List.of("bad", "good")) {
                    threads.execute(() -> {
                        begun.countDown();
                        for (int i = 0; i < 50; i++) {
                            Throwable failure = catchThrowable(
                                    () -> assertThat(remote.call(GetTask.of(name), within(SOON), Map.of())
                                                    .id())
                                            .isEqualTo(name));
                            if ((failure == null) != name.equals("good")) {
                                problem.set(name + ": " + failure);
                            }
                        }
                    });
                }
                begun.await();
            }
        }
        assertThat(problem.get()).isNull();
    }

    @Test
    void anAgentThatEndsTheConnectionGracefullyIsReachedAgain() throws Exception {
        try (var peer = new RawPeer(call -> {
                    healthy(call, Phase.GET, "x");
                    call.goAway(call.stream(), 0);
                });
                Transport.Remote remote = remote(peer)) {
            for (int i = 0; i < 5; i++) {
                call(remote, Phase.GET, SOON);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatCrossesTheEndOfItsConnectionIsRepeatedOnTheNextOne(Phase phase) throws Exception {
        var first = new AtomicReference<@Nullable Call>();
        try (var peer = new RawPeer(call -> {
                    Call before = first.get();
                    if (before == null) {
                        first.set(call);
                        healthy(call, phase, "x");
                    } else if (before.socket().equals(call.socket())) {
                        call.goAway(before.stream(), 0);
                    } else {
                        healthy(call, phase, "x");
                    }
                });
                Transport.Remote remote = remote(peer)) {
            call(remote, phase, SOON);

            call(remote, phase, SOON);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatAnAgentRefusesBeforeItLooksIsRepeatedOnce(Phase phase) throws Exception {
        var refused = new AtomicInteger();
        try (var peer = new RawPeer(call -> {
                    if (refused.incrementAndGet() == 1) {
                        call.reset(REFUSED_STREAM);
                    } else {
                        healthy(call, phase, "x");
                    }
                });
                Transport.Remote remote = remote(peer)) {
            call(remote, phase, SOON);

            assertThat(refused).hasValue(2);
            peer.script = call -> {
                refused.incrementAndGet();
                call.reset(REFUSED_STREAM);
            };
            assertThat(catchThrowable(() -> call(remote, phase, SOON))).isInstanceOf(Broken.class);
            assertThat(refused).hasValue(4);
        }
    }
}

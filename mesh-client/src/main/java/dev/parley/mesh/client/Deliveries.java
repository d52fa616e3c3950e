package dev.parley.mesh.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.RetryPolicy;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Requests to the endpoint of a receiver, repeated as a policy says. Safe for any thread. */
final class Deliveries {
    private static final Set<Problem> MENDABLE = Set.of(Problem.UNREACHABLE, Problem.LOST, Problem.TIMED_OUT);
    private static final int TOO_MANY = 429;
    private static final int SERVER_ERROR = 500;
    /** The storage of the group is full, and stays so until data are removed. */
    private static final int STORAGE_FULL = 507;

    private static final String STATUS = "status";
    /** Answers to callers that are not allowed, whatever they send. */
    private static final Set<Object> BARRED = Set.of(401, 403, 407);

    /** Limit of the excerpt of an answer that is not a message. */
    private static final int SHOWN = 200;

    private final AgentClient agent;
    private final String endpoint;
    private final MessageSecurity messages;
    private final CountDownLatch closed = new CountDownLatch(1);

    Deliveries(AgentClient agent, String endpoint, MessageSecurity messages) {
        this.agent = agent;
        this.endpoint = endpoint;
        this.messages = messages;
    }

    /** Sends a message, with the same id in each attempt, and returns the answer. */
    MessageSecurity.Received post(Envelope message, RetryPolicy policy, Duration timeout) {
        var headers = new HashMap<>(message.headers());
        headers.put("Content-Type", Envelope.JSON);
        headers.put("Accept", Envelope.JSON);
        return repeated(() -> new HttpCall("POST", endpoint, headers, messages.written(message)), policy, timeout);
    }

    /** Reads a task, waiting for its end. */
    MessageSecurity.Received task(String taskId, Duration wait, RetryPolicy policy, Duration timeout) {
        Map<String, String> headers = Map.of(
                "Accept", Envelope.JSON, "X-A2A-Version", Envelope.VERSION, "Prefer", "wait=" + wait.toSeconds());
        var call = new HttpCall("GET", endpoint + "/tasks/" + taskId, headers, new byte[0]);
        return repeated(() -> call, policy, wait.plus(timeout));
    }

    private MessageSecurity.Received repeated(Supplier<HttpCall> call, RetryPolicy policy, Duration timeout) {
        for (int retry = 1; ; retry++) {
            Duration wanted = null;
            try {
                HttpCall.Answer answer = agent.exchange(call.get(), timeout);
                MessageSecurity.Received received = received(answer);
                OneException refusal = refusal(answer.status(), received);
                if (refusal == null && received != null) {
                    return received;
                }
                refusal = refusal == null ? noMessage(answer) : refusal;
                if (!isMendable(answer.status(), refusal) || retry > policy.maxRetries()) {
                    throw refusal;
                }
                wanted = answer.retryAfter();
            } catch (ClientException failed) {
                if (!MENDABLE.contains(failed.problem()) || retry > policy.maxRetries()) {
                    throw failed;
                }
            }
            pause(policy.pauses().after(retry, wanted));
        }
    }

    private static boolean isMendable(int status, OneException refusal) {
        return isMendable(status) || refusal.isRetryable();
    }

    private static boolean isMendable(int status) {
        return status == TOO_MANY || status >= SERVER_ERROR && status != STORAGE_FULL;
    }

    private MessageSecurity.@Nullable Received received(HttpCall.Answer answer) {
        if (answer.status() < 300 && isMessage(answer.body())) {
            return messages.read(answer.body(), false);
        }
        try {
            return messages.read(answer.body(), false);
        } catch (OneException other) {
            return null; // an error of another server, such as a proxy
        }
    }

    /** Whether this is a message of the mesh, though it may be malformed. */
    private static boolean isMessage(byte[] body) {
        try {
            Map<?, ?> members = Json.read(body, Map.class);
            return members.containsKey("message") && !members.containsKey("jsonrpc");
        } catch (A2AException noJson) {
            return false;
        }
    }

    private static @Nullable OneException refusal(int status, MessageSecurity.@Nullable Received answer) {
        return switch (answer == null ? null : answer.content()) {
            case Failure failure -> OneException.of(failure);
            case Rejection rejection when status >= 300 -> OneException.of(rejection);
            case null, default -> null;
        };
    }

    /** The refusal that an answer is that has no message: {@code {code, message}}, as some servers write it, or any text. */
    private static OneException noMessage(HttpCall.Answer answer) {
        boolean retryable = isMendable(answer.status());
        var details = new LinkedHashMap<String, @Nullable Object>();
        details.put(STATUS, answer.status());
        try {
            Map<?, ?> members = Json.read(answer.body(), Map.class);
            if (members.get("code") instanceof String code && members.get("message") instanceof String message) {
                return new OneException(code, message, details, Boolean.TRUE.equals(members.get("retryable")));
            }
        } catch (A2AException noJson) {
            // Shown as text.
        }
        String text = new String(answer.body(), 0, Math.min(SHOWN, answer.body().length), UTF_8).strip();
        MeshError code = retryable ? MeshError.INTERNAL_ERROR : MeshError.INVALID_MESSAGE;
        return new OneException(
                code.word(),
                "HTTP status " + answer.status() + (text.isEmpty() ? "" : ": " + text),
                details,
                retryable);
    }

    /** Whether a refusal tells that there is no endpoint of the mesh: the answer is not a message, or there is no such agent. */
    static boolean isFromOutside(OneException refused) {
        return !refused.isRetryable()
                && (refused.details().containsKey(STATUS)
                                && !BARRED.contains(refused.details().get(STATUS))
                        || refused.code().equals(MeshError.AGENT_NOT_FOUND.word()));
    }

    void pause(Duration wait) {
        try {
            if (!closed.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting to repeat a message", stopped);
        }
        throw new ClientException(Problem.CLOSED, "the client has been closed");
    }

    void close() {
        closed.countDown();
    }
}

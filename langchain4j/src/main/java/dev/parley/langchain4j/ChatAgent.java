package dev.parley.langchain4j;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.langchain4j.service.TokenStream;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.CallContext;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Handler of an agent that passes the text of each message to a service of LangChain4j. Each message is a task, which the answer
 * completes; the tasks of a context share the memory of the service, and run one after the other. A message without text is rejected.
 *
 * <p>If the service throws, the task fails with a reference to the log. Cancellation and the time limit of the agent interrupt the
 * thread of the service, and stop a stream at its next token.
 */
public final class ChatAgent implements AgentHandler {
    private static final int DIGEST_BYTES = 16;
    private static final ThreadLocal<HostedCall> CURRENT = new ThreadLocal<>();

    /** Method of a service that returns the whole answer. */
    @FunctionalInterface
    public interface Answering {
        /**
         * Returns the answer; null if there is none.
         *
         * @param memoryId id of the conversation, for {@code @MemoryId}; see {@link ChatAgent#memoryId}
         * @throws Exception any, which fails the task
         */
        @Nullable
        String answer(String memoryId, String text) throws Exception;
    }

    /** Method of a service that returns the answer as a stream. */
    @FunctionalInterface
    public interface Streaming {
        /**
         * Returns the stream, not yet started.
         *
         * @param memoryId id of the conversation, for {@code @MemoryId}; see {@link ChatAgent#memoryId}
         * @throws Exception any, which fails the task
         */
        TokenStream stream(String memoryId, String text) throws Exception;
    }

    private final AgentHandler service;
    /** Requests by their memory, which is not safe for several at once. */
    private final ConcurrentHashMap<String, Turn> turns = new ConcurrentHashMap<>();

    /** @param users requests that have the lock or wait for it */
    private record Turn(ReentrantLock lock, int users) {
        Turn(int users) {
            this(new ReentrantLock(), users);
        }

        Turn with(int more) {
            return new Turn(lock, users + more);
        }
    }

    private ChatAgent(AgentHandler service) {
        this.service = service;
    }

    /** An agent whose answers are one artifact each, sent when it is complete. */
    public static ChatAgent answering(Answering service) {
        requireNonNull(service, "service");
        return new ChatAgent((request, reply) -> {
            String answer = service.answer(memoryId(request), request.text());
            if (request.isCanceled()) {
                return;
            }
            if (answer == null || answer.isEmpty()) {
                reply.complete();
            } else {
                reply.complete(answer);
            }
        });
    }

    /** An agent whose answers are artifacts that grow with each token. */
    public static ChatAgent streaming(Streaming service) {
        requireNonNull(service, "service");
        return new ChatAgent((request, reply) ->
                new TokenForwarding(request, reply).run(service.stream(memoryId(request), request.text())));
    }

    @Override
    public void handle(Request request, Reply reply) throws Exception {
        if (request.text().isBlank()) {
            reply.reject("The message has no text (expected: a part with text)");
            return;
        }
        String memory = memoryId(request);
        Turn turn = requireNonNull(turns.compute(memory, (id, there) -> there == null ? new Turn(1) : there.with(1)));
        try {
            turn.lock.lockInterruptibly();
            try {
                answer(request, reply);
            } finally {
                turn.lock.unlock();
            }
        } finally {
            turns.computeIfPresent(memory, (id, there) -> there.users == 1 ? null : there.with(-1));
        }
    }

    private void answer(Request request, Reply reply) throws Exception {
        HostedCall before = CURRENT.get();
        var call = new HostedCall(request);
        CURRENT.set(call);
        try {
            service.handle(request, reply);
        } finally {
            call.end();
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
        }
    }

    /**
     * Returns the id of the conversation of a request: its contextId, on a hub with authentication behind a digest of its caller.
     * Callers choose contextIds, and one may choose that of another.
     */
    public static String memoryId(Request request) {
        CallContext.Scope scope = request.context().scope();
        return scope.equals(CallContext.anonymous().scope())
                ? request.contextId()
                : digest(scope.group() + "\0" + scope.owner()) + "." + request.contextId();
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return HexFormat.of().formatHex(hash, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The call that the calling thread handles. */
    static Optional<HostedCall> current() {
        return Optional.ofNullable(CURRENT.get());
    }
}

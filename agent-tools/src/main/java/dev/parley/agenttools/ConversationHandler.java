package dev.parley.agenttools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

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
 * Handler of an agent that passes the text of each message to a model. The messages of a conversation run one after the other, as they
 * share a memory; a message without text is rejected. The end of a task interrupts the calls of tools that the model makes on its behalf.
 */
public final class ConversationHandler implements AgentHandler {
    private static final int DIGEST_BYTES = 16;
    private static final ThreadLocal<HostedCall> CURRENT = new ThreadLocal<>();

    /** Service that returns whole answers. */
    @FunctionalInterface
    public interface Answering {
        /**
         * Returns the answer; null if there is none.
         *
         * @throws Exception any, which fails the task
         */
        @Nullable
        String answer(Request request) throws Exception;
    }

    private final AgentHandler service;
    /** Requests by their conversation, whose memory is not safe for several at once. */
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

    private ConversationHandler(AgentHandler service) {
        this.service = service;
    }

    /** Handler of requests with a text, one at a time of each conversation. */
    public static ConversationHandler of(AgentHandler service) {
        return new ConversationHandler(requireNonNull(service, "service"));
    }

    /** Handler whose answers are one artifact each, sent when it is complete. */
    public static ConversationHandler answering(Answering service) {
        requireNonNull(service, "service");
        return new ConversationHandler((request, reply) -> {
            String answer;
            try {
                answer = service.answer(request);
            } catch (Exception failed) {
                if (request.isCanceled()) {
                    return; // the cancellation has ended a call of the model or of a tool
                }
                throw failed;
            }
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

    @Override
    public void handle(Request request, Reply reply) throws Exception {
        if (request.text().isBlank()) {
            reply.reject("The message has no text (expected: a part with text)");
            return;
        }
        String id = conversationId(request);
        Turn turn = requireNonNull(turns.compute(id, (key, there) -> there == null ? new Turn(1) : there.with(1)));
        try {
            turn.lock.lockInterruptibly();
            try {
                answer(request, reply);
            } finally {
                turn.lock.unlock();
            }
        } finally {
            turns.computeIfPresent(id, (key, there) -> there.users == 1 ? null : there.with(-1));
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
     * Returns the id of the conversation of a request: its contextId, on a hub with authentication after a digest of its caller.
     * Callers choose contextIds, and one may choose that of another.
     */
    public static String conversationId(Request request) {
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

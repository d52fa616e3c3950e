package dev.parley.mesh.client;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.Envelope.Reply;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Query;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.RetryPolicy;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Part;
import dev.parley.protocol.retry.Backoff;
import dev.parley.trust.cards.ContentKeys;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Sends messages of one agent to another. Safe for any thread; calls block.
 *
 * <p>Calls throw {@link OneException} if the receiver refuses the message, and {@link ClientException} if there is no answer.
 */
public final class OneClient implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration WAIT = Duration.ofSeconds(20);
    /** Pauses before a task is read again of a receiver that does not wait for its end. */
    private static final Backoff READS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));
    /** Time until a task that needs its sender is read again, unless this client answers it. */
    private static final Duration ANSWER_WAIT = Duration.ofSeconds(10);

    private final OneIdentity own;
    private final AgentClient agent;
    private final Party receiver;
    private final Deliveries deliveries;
    private final @Nullable OneListener listener;
    private final @Nullable ContentKeys encryption;
    private final Set<Following> open = ConcurrentHashMap.newKeySet();
    private final PlainAgent plain;
    /** Whether the agent takes messages of the mesh; null if its card does not say so, and none was sent yet. */
    private volatile @Nullable Boolean isInMesh;

    private OneClient(
            OneIdentity own,
            AgentClient agent,
            Party receiver,
            @Nullable OneListener listener,
            @Nullable ContentKeys encryption) {
        this.own = own;
        this.agent = agent;
        this.receiver = receiver;
        this.listener = listener;
        this.encryption = encryption;
        this.deliveries = new Deliveries(agent, receiver.endpoint(), new MessageSecurity(own, InstantSource.system()));
        this.plain = new PlainAgent(agent, deliveries);
        this.isInMesh = MeshProtocol.PROTOCOL
                        .in(agent.card().capabilities().extensions())
                        .isPresent()
                ? true
                : null;
    }

    /**
     * Sends to the agent of a client of A2A, with the credentials of that client, which this closes. The endpoint is the address of
     * the agent followed by {@value MeshProtocol#SUFFIX}. To an agent that has no such endpoint, delegations and queries are sent as
     * messages of A2A; their tasks are followed, and canceled when their time is over.
     */
    public static OneClient connect(OneIdentity own, AgentClient agent) {
        String url = agent.card().supportedInterfaces().stream()
                .map(AgentCard.Interface::url)
                .filter(address -> address.contains("://"))
                .findFirst()
                .orElse(agent.address().url())
                .replaceFirst("/+$", "");
        String endpoint = url.endsWith(MeshProtocol.SUFFIX) ? url : url + MeshProtocol.SUFFIX;
        return new OneClient(own, agent, Party.of(agent.card().name(), endpoint), null, null);
    }

    /** Receives messages about delegations at a listener of the same agent, instead of reading their tasks. */
    public OneClient listening(OneListener listener) {
        return new OneClient(own, agent, receiver, listener, encryption);
    }

    /**
     * Encrypts content by the public key of the receiver. Callbacks to the listener are encrypted for this agent, if it has a key; else
     * its tasks are read.
     */
    public OneClient encrypting(ContentKeys receiverKeys) {
        return new OneClient(own, agent, receiver, listener, receiverKeys);
    }

    /** The receiver. */
    public Party receiver() {
        return receiver;
    }

    /**
     * Delegates a task, and returns when the receiver has accepted it.
     *
     * @throws OneException {@code capability_mismatch}, without sending anything, if no skill on the card of the receiver fits
     */
    public Delegated send(TaskDelegation delegation) {
        requireSkill(delegation.task());
        String correlationId =
                delegation.correlationId() == null ? UUID.randomUUID().toString() : delegation.correlationId();
        ContentKeys decryption = own.decryption();
        boolean isOpen = encryption == null;
        OneListener called = delegation.callback() == null && (isOpen || decryption != null) ? listener : null;
        Reply reply =
                called == null || isOpen || decryption == null ? null : new Reply(called.url(), decryption.publicKey());
        var following = new Following(correlationId, () -> ended(correlationId));
        if (called != null) {
            called.subscribe(correlationId, receiver, following::take);
        }
        open.add(following);
        Sent sent;
        try {
            sent = delivered(
                    delegation.content(called == null || reply != null ? null : called.url()),
                    correlationId,
                    delegation.handling(reply),
                    delegation.retryPolicy());
            MeshContent answer = sent.answer();
            switch (answer) {
                case Acceptance accepted -> following.accepted(accepted);
                case Result result -> { // the task has ended already
                    following.accepted(new Acceptance(result.taskId(), null, List.of()));
                    following.take(result);
                }
                case Rejection rejection -> throw OneException.of(rejection);
                default -> throw unexpected(answer, "task_acceptance");
            }
        } catch (RuntimeException failed) {
            following.fail(failed);
            throw failed;
        }
        if (sent.isPlain() && !following.isEnded()) {
            Thread.ofVirtual().name("one-task-" + following.taskId()).start(() -> follow(following, sent.end()));
        } else if (called == null && !following.isEnded()) {
            Thread.ofVirtual().name("one-task-" + following.taskId()).start(() -> read(following, delegation));
        }
        return following;
    }

    private void requireSkill(String task) {
        if (Delegations.skill(agent.card(), task).isEmpty()) {
            throw OneException.of(
                    MeshError.CAPABILITY_MISMATCH,
                    "task \"" + task + "\": no skill of " + receiver.agentId() + " (expected: one of "
                            + agent.card().skills().stream()
                                    .map(AgentCard.Skill::id)
                                    .toList() + ")");
        }
    }

    private void follow(Following following, @Nullable Instant end) {
        try {
            plain.follow(following, end);
        } catch (RuntimeException failed) {
            following.fail(failed);
        } catch (InterruptedException stopped) { // threads of this class are not interrupted
            following.close();
        }
    }

    /** Reads the task until it ends. Each request waits at the receiver, so this does not poll. */
    private void read(Following following, TaskDelegation delegation) {
        MeshContent last = null;
        int idle = 0;
        try {
            while (!following.isEnded()) {
                long began = System.nanoTime();
                MeshContent now = deliveries
                        .task(following.taskId(), WAIT, delegation.retryPolicy(), TIMEOUT)
                        .content();
                if (!now.equals(last)) {
                    following.take(now);
                }
                idle = now.equals(last) ? idle + 1 : 0;
                last = now;
                if (now instanceof Status status && status.state() != null) {
                    following.awaitAnswer(ANSWER_WAIT);
                } else if (idle > 0 && System.nanoTime() - began < READS.first().toNanos()) {
                    deliveries.pause(READS.after(idle, null)); // the receiver does not wait
                }
            }
        } catch (RuntimeException failed) {
            following.fail(failed);
        } catch (InterruptedException stopped) { // threads of this class are not interrupted
            following.close();
        }
    }

    /** Asks for an answer at once. */
    public Response query(String query, Map<String, ? extends @Nullable Object> parameters) {
        MeshContent answer = send(new Query(query, new LinkedHashMap<>(parameters), null));
        if (answer instanceof Response response) {
            return response;
        }
        throw unexpected(answer, "response");
    }

    /** Answers the question of a task that waits for its sender, and returns the answer of the receiver. */
    public MeshContent respond(Delegated delegated, @Nullable Object answer) {
        MeshContent accepted = deliver(
                new Response(answer, null, delegated.taskId()),
                delegated.correlationId(),
                Handling.DEFAULT,
                RetryPolicy.DEFAULT);
        if (delegated instanceof Following following) {
            following.answered();
        }
        return accepted;
    }

    /** Sends any other content, and returns the answer. */
    public MeshContent send(MeshContent content) {
        return deliver(content, UUID.randomUUID().toString(), Handling.DEFAULT, RetryPolicy.DEFAULT);
    }

    private MeshContent deliver(MeshContent content, String correlationId, Handling handling, RetryPolicy policy) {
        return delivered(content, correlationId, handling, policy).answer();
    }

    /**
     * An answer.
     *
     * @param isPlain whether it is one of A2A
     * @param end of the time of a task of A2A; null for none
     */
    private record Sent(
            MeshContent answer, boolean isPlain, @Nullable Instant end) {}

    private Sent delivered(MeshContent content, String correlationId, Handling handling, RetryPolicy policy) {
        var open = new Envelope(
                UUID.randomUUID().toString(),
                correlationId,
                null,
                own.party(),
                receiver,
                EnvelopeModel.body(content),
                handling);
        // Once for all attempts, as each encryption has another result.
        Envelope message = encryption == null ? open : open.encrypted(encryption::encrypt);
        if (!Boolean.FALSE.equals(isInMesh)) {
            try {
                MeshContent answer = deliveries.post(message, policy, TIMEOUT).content();
                isInMesh = true;
                return new Sent(answer, false, null);
            } catch (OneException refused) {
                if (isInMesh != null || encryption != null || !Deliveries.isFromOutside(refused)) {
                    throw refused;
                }
                isInMesh = false;
            }
        }
        return toPlain(open, content, policy);
    }

    private Sent toPlain(Envelope envelope, MeshContent content, RetryPolicy policy) {
        if (encryption != null) {
            throw outside("encrypted messages");
        }
        return switch (content) {
            case Delegation delegation
            when delegation.callback() != null && !isOwn(delegation.callback()) -> throw outside("callbacks");
            case Delegation delegation -> {
                PlainAgent.Begun begun = plain.delegate(envelope, delegation, policy);
                yield new Sent(begun.answer(), true, begun.end());
            }
            case Query query when query.taskId() == null -> new Sent(plain.query(envelope, query, policy), true, null);
            case Response response
            when response.taskId() != null ->
                new Sent(
                        plain.respond(
                                response.taskId(),
                                response.result() instanceof String text
                                        ? Part.text(text)
                                        : Part.data(response.result())),
                        true,
                        null);
            default -> throw outside("messages of the type " + content.type().word());
        };
    }

    private boolean isOwn(String callback) {
        return listener != null && callback.equals(listener.url());
    }

    private OneException outside(String problem) {
        return OneException.of(
                MeshError.INVALID_MESSAGE,
                "agent \"" + receiver.agentId() + "\": no " + problem
                        + ", as it is not an agent of the mesh (expected: an agent"
                        + " of the mesh, or a route of a hub to this one)");
    }

    private static OneException unexpected(MeshContent answer, String expected) {
        return OneException.of(
                MeshError.INVALID_MESSAGE, "answer: " + answer.type().word() + " (expected: " + expected + ")");
    }

    private void ended(String correlationId) {
        if (listener != null) {
            listener.unsubscribe(correlationId);
        }
        open.removeIf(Following::isEnded);
    }

    /** Closes the client of A2A and all delegations, whose tasks go on. */
    @Override
    public void close() {
        deliveries.close();
        open.forEach(Following::close);
        agent.close();
    }
}

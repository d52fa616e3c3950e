package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.extension.HubParts;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Notice;
import dev.parley.mesh.MeshContent.Query;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MeshProtocol.ReadTask;
import dev.parley.mesh.MeshProtocol.RegisterCallback;
import dev.parley.mesh.MeshProtocol.SendEnvelope;
import dev.parley.mesh.MessageType;
import dev.parley.mesh.Reports;
import dev.parley.mesh.hub.MessageAnswers.Answer;
import dev.parley.mesh.hub.MessageAnswers.Key;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Ids;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditEntry;
import dev.parley.trust.cards.ContentKeys;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Receives the messages for one agent. Safe for any thread. */
final class Receiver {
    private static final int NO_HISTORY = 0;

    private final Services mesh;
    private final MessageHandlers handlers;
    private final String hubUrl;
    private final String agent;
    private final String url;

    /** Messages that are being handled: repetitions wait for them. */
    private final ConcurrentMap<Key, CompletableFuture<Reply>> current = new ConcurrentHashMap<>();

    /** An answer, and its content unless it has to be read from the task. */
    private record Reply(Answer answer, @Nullable MeshContent content) {}

    /** The parts of the mesh that all receivers share. */
    record Services(
            HubParts hub,
            MessageAnswers answers,
            MessageSignatures signatures,
            Durations durations,
            Deadlines deadlines,
            MessageCounts messages,
            MessageLog log) {}

    /** @param url address of the agent, which ends with its name */
    Receiver(Services mesh, MessageHandlers handlers, String hubUrl, String url) {
        this.mesh = mesh;
        this.handlers = handlers;
        this.hubUrl = hubUrl;
        this.url = url;
        this.agent = url.substring(url.lastIndexOf('/') + 1);
    }

    private AgentEndpoint endpoint() {
        return mesh.hub().agents().within(agent);
    }

    private AgentCard card(CallContext caller) {
        AgentCard card = mesh.hub().agents().cards(caller).get(agent);
        if (card == null) {
            throw A2AException.of(MeshError.AGENT_NOT_FOUND, "agent \"" + agent + "\": unknown");
        }
        return card;
    }

    // ---- Operations

    Envelope send(SendEnvelope send, CallContext caller) {
        try {
            if (send.problem() != null) {
                throw send.problem();
            }
            return admitted(send, caller);
        } catch (A2AException refused) {
            mesh.log().refused(agent, send.envelope(), refused, inside(caller));
            throw refused;
        }
    }

    private Envelope admitted(SendEnvelope send, CallContext caller) {
        Envelope envelope = send.envelope();
        requireParties(envelope, caller);
        mesh.signatures().verify(envelope, hubUrl, caller.scope().group());
        CallContext context = inside(caller).withTasksOnly();
        var key = Key.of(envelope, context);
        String fingerprint = MessageAnswers.fingerprint(envelope);
        Optional<Answer> known = mesh.answers().find(key);
        if (known.isPresent()) {
            requireSame(known.get(), fingerprint, envelope);
            return answer(envelope, new Reply(known.get(), null), context);
        }
        var mine = new CompletableFuture<Reply>();
        CompletableFuture<Reply> first = current.putIfAbsent(key, mine);
        if (first != null) {
            Reply reply = join(first);
            requireSame(reply.answer(), fingerprint, envelope);
            return answer(envelope, reply, context);
        }
        try {
            Optional<Answer> ofOtherHub = mesh.answers().claims().claim(key);
            if (ofOtherHub.isPresent()) {
                requireSame(ofOtherHub.get(), fingerprint, envelope);
                var reply = new Reply(ofOtherHub.get(), null);
                mine.complete(reply);
                return answer(envelope, reply, context);
            }
            return handleClaimed(send, key, fingerprint, context, mine);
        } catch (Throwable refused) {
            mine.completeExceptionally(refused);
            throw refused;
        } finally {
            current.remove(key, mine);
        }
    }

    /** Handles a message that this hub has claimed. */
    private Envelope handleClaimed(
            SendEnvelope send, Key key, String fingerprint, CallContext context, CompletableFuture<Reply> mine) {
        Envelope envelope = send.envelope();
        try {
            Reply handled = handle(send, fingerprint, context);
            Envelope answer = answer(envelope, handled, context);
            AuditEntry event =
                    Events.row(agent, envelope, answer, handled.answer().taskId(), context);
            Answer kept = mesh.answers().keep(key, handled.answer(), event);
            boolean isFirst = kept.equals(handled.answer());
            Reply reply = isFirst ? handled : new Reply(kept, null);
            requireSame(kept, fingerprint, envelope);
            mine.complete(reply);
            mesh.messages().received(agent, envelope.message().type());
            mesh.messages().sent(agent, kept.type());
            return isFirst ? answer : answer(envelope, reply, context);
        } catch (Throwable refused) {
            mesh.answers().claims().release(key);
            throw refused;
        }
    }

    private static Reply join(CompletableFuture<Reply> first) {
        try {
            return first.join();
        } catch (CompletionException refused) {
            throw refused.getCause() instanceof A2AException same ? same : refused;
        }
    }

    private static void requireSame(Answer known, String fingerprint, Envelope envelope) {
        if (!known.fingerprint().equals(fingerprint)) {
            throw MeshErrors.invalid(
                    "messageId", '"' + envelope.messageId() + "\": used for another message (expected: a new id)");
        }
    }

    /** The caller as it calls the agent itself: the call of the mesh is no further agent on the way. */
    private static CallContext inside(CallContext caller) {
        List<String> agents = caller.chain().agents();
        CallChain before = agents.isEmpty() ? CallChain.NONE : new CallChain(agents.subList(0, agents.size() - 1));
        return caller.withDialect(MeshProtocol.DIALECT, false).through(before);
    }

    Envelope read(ReadTask read, CallContext caller) {
        CallContext context = inside(caller);
        Task task = settled(task(read.taskId(), context), read.patience(), context);
        EnvelopeMembers terms = EnvelopeMembers.of(task);
        return envelope(
                "one-"
                        + Sha256.hex(task.id() + "\n" + task.status().timestamp())
                                .substring(0, 32),
                terms.correlationId() == null ? task.contextId() : terms.correlationId(),
                Party.of(caller.caller(), ""),
                Reports.of(task, 0),
                Instant.now());
    }

    Map<String, Object> register(RegisterCallback register, CallContext caller) {
        PushConfig config = Callbacks.config(url, register.taskId(), register.agentId(), register.callback());
        var unused = aboutCallback(
                "callback", () -> endpoint().call(new Operation.CreatePushConfig(null, config), inside(caller)));
        return Map.of("taskId", register.taskId(), "agentId", register.agentId(), "callback", register.callback());
    }

    // ---- Checks

    private void requireParties(Envelope envelope, CallContext caller) {
        String receiver = envelope.to().agentId();
        if (!receiver.equals(agent)) {
            throw A2AException.of(
                    MeshError.AGENT_NOT_FOUND,
                    "to.agentId: \"" + receiver + "\" (expected: \"" + agent + "\", the agent at this address)");
        }
        boolean isKnown = !caller.caller().equals(CallContext.anonymous().caller());
        if (isKnown && !envelope.from().agentId().equals(caller.caller())) {
            throw MeshErrors.invalid(
                    "from.agentId",
                    '"' + envelope.from().agentId() + "\" (expected: \"" + caller.caller()
                            + "\", the name of the authenticated principal)");
        }
        String address = envelope.to().endpoint();
        boolean isSigned = envelope.metadata().signature() != null;
        if (isSigned && !address.equals(url) && !address.equals(url + MeshProtocol.SUFFIX)) {
            throw MeshErrors.invalid(
                    "to.endpoint",
                    "the message was signed for another address (expected: \"" + url + MeshProtocol.SUFFIX + "\")");
        }
        Received.requireShort("messageId", envelope.messageId());
        Received.requireShort("correlationId", envelope.correlationId());
        Received.requireShort("from.agentId", envelope.from().agentId());
    }

    // ---- Handling by type

    private Reply handle(SendEnvelope send, String fingerprint, CallContext context) {
        Envelope envelope = withCorrelation(send.envelope());
        if (envelope.message().type() == MessageType.COORDINATION) {
            return coordinate(envelope, fingerprint, context);
        }
        return switch (Received.content(envelope)) {
            case Delegation delegation -> delegate(envelope, delegation, send.patience(), fingerprint, context);
            case Query query
            when envelope.metadata().encrypted() -> encrypted(envelope, query, send.patience(), fingerprint, context);
            case Query query -> query(envelope, query, fingerprint, context);
            case Response response
            when response.taskId() != null -> respond(envelope, response, response.taskId(), fingerprint, context);
            case Notice notice -> {
                Received.requireShort(notice);
                yield received(envelope, notice, fingerprint, context);
            }
            case MeshContent other -> received(envelope, other, fingerprint, context);
        };
    }

    private Reply received(Envelope envelope, MeshContent content, String fingerprint, CallContext context) {
        handlers.handle(agent, envelope, content, context);
        var reply = new Response(Map.of("received", true), null, null);
        return new Reply(new Answer(fingerprint, now(), MessageType.RESPONSE, null, null), reply);
    }

    /** Begins a run of a workflow. */
    private Reply coordinate(Envelope envelope, String fingerprint, CallContext context) {
        if (!(envelope.message().content() instanceof Map<?, ?> document)) {
            throw MeshErrors.invalid("message.content", "no object (expected: a coordination document)");
        }
        var message = new Message(
                envelope.messageId(),
                Role.USER,
                List.of(Part.data(document)),
                Delegations.context(context.scope().group(), requireNonNull(envelope.correlationId())),
                null,
                Map.of(),
                List.of(),
                List.of());
        Task run = begin(mesh.hub().agents().endpoint(MeshProtocol.VIEWS_AGENT), message, null, true, context);
        if (run.state() == TaskState.REJECTED) {
            Message said = run.status().message();
            throw MeshErrors.invalid("message.content", said == null ? "no workflow" : said.text());
        }
        var answer = new Answer(fingerprint, now(), MessageType.TASK_ACCEPTANCE, run.id(), null);
        return new Reply(answer, new Acceptance(run.id(), null, List.of(), run.id()));
    }

    /** A message without a correlation id gets one that follows from its id, so that a repetition gets the same. */
    private static Envelope withCorrelation(Envelope sent) {
        return sent.correlationId() != null
                ? sent
                : new Envelope(
                        sent.messageId(),
                        correlationId(sent),
                        sent.timestamp(),
                        sent.from(),
                        sent.to(),
                        sent.message(),
                        sent.metadata());
    }

    private static String correlationId(Envelope sent) {
        return sent.correlationId() != null
                ? sent.correlationId()
                : "one-"
                        + Sha256.hex(sent.from().agentId() + "\n" + sent.messageId())
                                .substring(0, 32);
    }

    private Reply delegate(
            Envelope envelope, Delegation delegation, Duration wait, String fingerprint, CallContext context) {
        AgentCard card = card(context);
        Skill skill = Delegations.skill(card, delegation.task())
                .orElseThrow(() -> A2AException.of(
                        MeshError.CAPABILITY_MISMATCH,
                        "agent \"" + agent + "\": no skill for the task \"" + delegation.task() + '"',
                        Map.of(
                                "task",
                                delegation.task(),
                                "skills",
                                String.join(
                                        " ",
                                        card.skills().stream().map(Skill::id).toList()))));
        if (delegation.deadline() != null && !delegation.deadline().isAfter(Instant.now())) {
            throw A2AException.of(MeshError.TIMEOUT, "deadline " + delegation.deadline() + ": has passed");
        }
        Message message = Delegations.message(
                envelope, delegation, card, skill, context.scope().group());
        String callback = delegation.callback();
        PushConfig webhook = callback == null
                ? null
                : Callbacks.config(url, null, envelope.from().agentId(), callback);
        limit(envelope, delegation.deadline(), message, context);
        Duration median = median(skill, card);
        Task begun = aboutCallback("message.content.callback", () -> begin(message, webhook, true, context));
        Instant estimate = median == null ? null : begun(begun).plus(median);
        return accepted(settled(begun, wait, context), wait, estimate, delegation, fingerprint, context);
    }

    /** Median duration of tasks of a skill; null before the first of them. */
    private @Nullable Duration median(Skill skill, AgentCard card) {
        Duration median = mesh.durations().median(agent, skill.id()).orElse(null);
        return median == null && card.skills().size() == 1
                ? mesh.durations().median(agent, "").orElse(null)
                : median;
    }

    private static Instant begun(Task task) {
        Instant begun = Ids.madeAt(task.id());
        return begun == null ? now() : begun;
    }

    /** Limits the time of the task that a message begins; the earlier of timeout and deadline counts. */
    private void limit(Envelope envelope, @Nullable Instant deadline, Message message, CallContext context) {
        Duration timeout = envelope.metadata().timeout();
        Instant due = timeout == null ? deadline : Instant.now().plus(timeout);
        if (due != null) {
            Instant earlier = deadline != null && deadline.isBefore(due) ? deadline : due;
            mesh.deadlines().set(earlier, agent, Key.of(envelope, context), message, context);
        }
    }

    /** Hands encrypted content to the agent, whose skill the hub cannot know. Its callback is encrypted, too, so there may be another one. */
    private Reply encrypted(Envelope envelope, Query content, Duration wait, String fingerprint, CallContext context) {
        if (!takes(card(context), Envelope.ENCRYPTED)) {
            throw A2AException.of(
                    MeshError.CAPABILITY_MISMATCH,
                    "agent \"" + agent + "\": takes no encrypted content (expected: the input mode "
                            + Envelope.ENCRYPTED + ")");
        }
        boolean isQuery = envelope.message().type() == MessageType.QUERY;
        Envelope.Reply reply = envelope.metadata().reply();
        PushConfig webhook = reply == null
                ? null
                : Callbacks.config(url, null, envelope.from().agentId(), reply.callback());
        Message message = Delegations.encrypted(
                reply == null ? envelope : envelope.replying(new Envelope.Reply(reply.callback(), publicKey(reply))),
                content.query(),
                context.scope().group());
        limit(envelope, null, message, context);
        Task begun = aboutCallback("metadata.security.callback", () -> begin(message, webhook, !isQuery, context));
        return isQuery
                ? answered(begun, content, fingerprint, context)
                : accepted(settled(begun, wait, context), wait, null, content, fingerprint, context);
    }

    /** The key of a sender, without private and unknown members. */
    private static Map<String, @Nullable Object> publicKey(Envelope.Reply reply) {
        try {
            return ContentKeys.of(new String(Json.write(reply.key()), UTF_8)).publicKey();
        } catch (IllegalArgumentException wrong) {
            throw MeshErrors.invalid("metadata.security.key", String.valueOf(wrong.getMessage()));
        }
    }

    private static boolean takes(AgentCard card, String mediaType) {
        return Stream.concat(
                        card.defaultInputModes().stream(),
                        card.skills().stream().flatMap(skill -> skill.inputModes().stream()))
                .anyMatch(mode -> mode.equals(mediaType) || mode.equals("*/*"));
    }

    private Reply accepted(
            Task task,
            Duration wait,
            @Nullable Instant estimate,
            MeshContent sent,
            String fingerprint,
            CallContext context) {
        MessageType type = task.state().isTerminal() && (!wait.isZero() || task.state() == TaskState.REJECTED)
                ? Reports.of(task, NO_HISTORY).type()
                : MessageType.TASK_ACCEPTANCE;
        var answer = new Answer(fingerprint, now(), type, task.id(), estimate);
        return new Reply(answer, content(answer, task, sent, context));
    }

    private Reply query(Envelope envelope, Query query, String fingerprint, CallContext context) {
        if (query.taskId() != null) {
            var answer = new Answer(fingerprint, now(), MessageType.RESPONSE, query.taskId(), null);
            return new Reply(answer, content(answer, task(query.taskId(), context), query, context));
        }
        Message message = Delegations.message(
                envelope, query, card(context), context.scope().group());
        limit(envelope, null, message, context);
        return answered(begin(message, null, false, context), query, fingerprint, context);
    }

    private Reply answered(Task task, Query query, String fingerprint, CallContext context) {
        if (!task.state().isSettled() || task.metadata().containsKey(Delegations.END)) {
            throw A2AException.of(MeshError.TIMEOUT, "The agent has not answered in time", Map.of("taskId", task.id()));
        }
        var answer = new Answer(fingerprint, now(), MessageType.RESPONSE, task.id(), null);
        return new Reply(answer, content(answer, task, query, context));
    }

    /** Goes on with a task that waits for its sender. */
    private Reply respond(
            Envelope envelope, Response response, String taskId, String fingerprint, CallContext context) {
        Object result = response.result();
        Part part = response.error() != null
                ? Part.text(response.error().message())
                : result instanceof String text ? Part.text(text) : Part.data(result);
        Task asking = task(taskId, context);
        Object skill = asking.history().isEmpty()
                ? null
                : asking.history().getFirst().metadata().get(Delegations.SKILL);
        Map<String, @Nullable Object> metadata = skill == null ? Map.of() : Map.of(Delegations.SKILL, skill);
        var message = new Message(
                envelope.messageId(), Role.USER, List.of(part), null, taskId, metadata, List.of(), List.of());
        Task task = begin(message, null, true, context);
        var answer = new Answer(fingerprint, now(), MessageType.TASK_ACCEPTANCE, task.id(), null);
        return new Reply(answer, content(answer, task, response, context));
    }

    /** A call whose problems with the URL of a webhook are told at the member that has it. */
    private static <T> T aboutCallback(String path, Supplier<T> call) {
        try {
            return call.get();
        } catch (A2AException wrong) {
            throw wrong.violations().stream().anyMatch(each -> isUrl(each.field()))
                    ? wrong.inWords(field -> isUrl(field) ? path : field, text -> text)
                    : wrong;
        }
    }

    private static boolean isUrl(String field) {
        return field.equals("url") || field.endsWith(".url");
    }

    private Task begin(Message message, @Nullable PushConfig webhook, boolean immediately, CallContext context) {
        return begin(endpoint(), message, webhook, immediately, context);
    }

    private static Task begin(
            AgentEndpoint endpoint,
            Message message,
            @Nullable PushConfig webhook,
            boolean immediately,
            CallContext context) {
        var configuration = new Operation.SendConfiguration(List.of(), webhook, null, immediately);
        SendResult result = endpoint.call(new Operation.SendMessage(null, message, configuration, Map.of()), context);
        if (result instanceof Task task) {
            return task;
        }
        throw new IllegalStateException("a message without a task, for a caller of tasks only");
    }

    /** The task when it has ended or needs its sender, or as it is after a wait. */
    private Task settled(Task begun, Duration wait, CallContext context) {
        if (wait.isZero() || begun.state().isSettled()) {
            return begun;
        }
        long end = System.nanoTime() + wait.toNanos();
        try (Feed<LoggedEvent> events =
                endpoint().watch(new Operation.SubscribeToTask(null, begun.id(), 0L), context)) {
            Task task = null;
            for (long left = wait.toNanos(); left > 0; left = end - System.nanoTime()) {
                List<LoggedEvent> next = events.next(Duration.ofNanos(left));
                if (next == null) {
                    break;
                }
                for (LoggedEvent event : next) {
                    task = event.event().applyTo(task);
                    if (task.state().isSettled()) {
                        return task(begun.id(), context);
                    }
                }
            }
            return task(begun.id(), context);
        } catch (A2AException refused) {
            if (refused.error() == A2AError.UNSUPPORTED_OPERATION) { // the task has ended meanwhile
                return task(begun.id(), context);
            }
            throw refused;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return begun;
        }
    }

    private Task task(String id, CallContext context) {
        return endpoint().call(Operation.GetTask.of(id), context);
    }

    // ---- Answers

    private MeshContent content(Answer answer, Task task, MeshContent sent, CallContext context) {
        return switch (answer.type()) {
            case TASK_ACCEPTANCE -> new Acceptance(task.id(), answer.estimate(), capabilities(sent, context));
            case RESPONSE -> Reports.response(task);
            default -> Reports.of(task, NO_HISTORY);
        };
    }

    private List<String> capabilities(MeshContent sent, CallContext context) {
        AgentCard card = card(context);
        return sent instanceof Delegation delegation
                ? Delegations.skill(card, delegation.task()).map(Skill::id).stream()
                        .toList()
                : List.of();
    }

    private Envelope answer(Envelope sent, Reply reply, CallContext context) {
        Answer answer = reply.answer();
        MeshContent content = reply.content();
        if (content == null) {
            String taskId = answer.taskId();
            content = taskId == null
                    ? new Response(Map.of("received", true), null, null)
                    : sent.message().type() == MessageType.COORDINATION
                            ? new Acceptance(taskId, null, List.of(), taskId)
                            : content(answer, task(taskId, context), Received.content(sent), context);
        }
        String id = "one-"
                + Sha256.hex(sent.from().agentId() + "\n" + sent.messageId() + "\nanswer")
                        .substring(0, 32);
        return envelope(id, correlationId(sent), sent.from(), content, answer.at());
    }

    private Envelope envelope(String id, @Nullable String correlationId, Party to, MeshContent content, Instant at) {
        return mesh.signatures()
                .signed(new Envelope(
                        id,
                        correlationId,
                        at,
                        Party.of(agent, url + MeshProtocol.SUFFIX),
                        Party.of(to.agentId(), to.endpoint()),
                        EnvelopeModel.body(requireNonNull(content)),
                        Handling.DEFAULT));
    }

    /** To the millisecond, as the database keeps it. */
    private static Instant now() {
        return Instant.ofEpochMilli(System.currentTimeMillis());
    }
}

package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.MeshViews.EntityType;
import dev.parley.mesh.MeshViews.EventType;
import dev.parley.mesh.MeshViews.EventView;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditNews;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.BoundedNotes;
import dev.parley.store.audit.Filter;
import dev.parley.store.spi.AuditNumbers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Events of the mesh: readings of the audit. A row of the audit stands for up to {@value #OF_ROW} events, whose numbers follow from its
 * own. Safe for any thread.
 */
final class Events {

    /** Action of the audit rows of messages. */
    static final String MESSAGE = "one.message";

    /** The same of callbacks, of refused messages, and of messages of A2A that are answered without a task. */
    static final String CALLBACK = "one.callback";

    static final String REFUSED = "one.refused";
    static final String ANSWERED = "a2a.answered";

    /** Bytes of the content of a {@linkplain #isNotice notice}. */
    static final int LONGEST_CONTENT = 16 * 1024;

    private static final int OF_ROW = EventPlace.OF_ROW;
    private static final String CONTENT = "content";
    private static final String MESSAGE_ID = "messageId";

    /** Type of messages of A2A, which have none. */
    private static final String A2A_MESSAGE = "message";

    /** Contexts of {@link dev.parley.mesh.Delegations#context}. */
    private static final Pattern CONTEXT = Pattern.compile("one-[0-9a-f]{32}");

    /** Names of the events elsewhere, and in general. */
    private static final Map<EventType, List<String>> OTHER_NAMES = Map.of(
            EventType.A2A_MESSAGE_RECEIVED, List.of("communication_event", "agent_message_received"),
            EventType.A2A_MESSAGE_SENT, List.of("communication_event", "agent_message_sent"),
            EventType.A2A_TASK_DELEGATED, List.of("task_event", "task_delegated"),
            EventType.A2A_TASK_COMPLETED, List.of("task_event", "task_completed"));

    /**
     * An event.
     *
     * @param agent the agent of the hub that is concerned
     * @param actor the agent that acts
     * @param other the other side of the agent
     */
    record Event(
            long number,
            String group,
            Instant at,
            EventType type,
            String agent,
            String actor,
            String other,
            Map<String, Object> metadata) {
        @Nullable
        String metadata(String name) {
            return metadata.get(name) instanceof String text ? text : null;
        }

        EventView view(@Nullable String cursor) {
            return new EventView(number, group, type, agent, EntityType.AGENT, actor, other, at, metadata, cursor);
        }
    }

    /**
     * Events of some rows.
     *
     * @param first place before them, with all chains that they are of
     * @param last place after which the next ones are read
     */
    record Page(List<Event> events, EventPlace first, EventPlace last, boolean isLast) {}

    private final AuditTrail audit;

    Events(AuditTrail audit) {
        this.audit = audit;
    }

    /** True for a message whose content is part of its event. */
    static boolean isNotice(Envelope envelope) {
        MessageType type = envelope.message().type();
        return type == MessageType.CONFLICT || type == MessageType.FEEDBACK;
    }

    /** The row of a message that an agent has answered. */
    static AuditEntry row(
            String agent, Envelope envelope, Envelope answer, @Nullable String taskId, CallContext caller) {
        var detail = new TreeMap<String, Object>();
        detail.put("agent", agent);
        detail.put("sourceAgentId", envelope.from().agentId());
        detail.put("messageId", envelope.messageId());
        detail.put("correlationId", requireNonNullElse(answer.correlationId(), ""));
        detail.put("messageType", envelope.message().type().word());
        detail.put("answerId", answer.messageId());
        if (isNotice(envelope)) { // as a text, of which a hash stays after an erasure
            detail.put(CONTENT, new String(Json.write(envelope.message().content()), UTF_8));
        }
        return new AuditEntry(
                caller.scope().group(),
                caller.caller(),
                MESSAGE,
                requireNonNullElse(taskId, agent),
                "",
                answer.message().type().word(),
                caller.address(),
                requireNonNullElse(caller.traceparent(), ""),
                detail);
    }

    /** The next events of a group after a place, of at most so many rows; there may be none, and more after them. */
    Page next(String group, EventPlace after, int rows) {
        AuditNews news = audit.since(new Filter(group, null, null, null, null, null), after.rows(), rows);
        var events = new ArrayList<Event>();
        for (AuditRow row : news.rows()) {
            for (Event event : of(row)) {
                if (!after.includes(event.number())) {
                    events.add(event);
                }
            }
        }
        EventPlace last = after.upTo(EventPlace.of(news.next()));
        return new Page(events, after.beginning(last), last, news.isLast());
    }

    /** A place after which only events of rows to come are. */
    EventPlace newest() {
        return EventPlace.of(audit.now());
    }

    /**
     * Whether a row was written before another one of the same task. Hubs that work at the same time have chains of their own; their rows
     * are in the order of their times.
     */
    private static boolean isBefore(AuditRow one, AuditRow other) {
        boolean isOneChain = AuditNumbers.chain(one.number()) == AuditNumbers.chain(other.number());
        int order = isOneChain ? 0 : one.at().compareTo(other.at());
        return order == 0 ? one.number() < other.number() : order < 0;
    }

    private List<Event> of(AuditRow row) {
        AuditEntry entry = row.entry();
        return switch (entry.action()) {
            case MESSAGE -> ofMessage(row);
            case CALLBACK -> List.of(ofCallback(row));
            case REFUSED -> ofRefused(row);
            case ANSWERED -> ofAnswered(row);
            case "call.denied" -> ofDenied(row);
            case "task.created" -> ofCreation(row);
            case "task.continued" -> ofContinued(row, text(entry, MESSAGE_ID));
            case "task.moved", "task.canceled" -> ofMove(row);
            default -> List.of();
        };
    }

    private static Event ofCallback(AuditRow row) {
        AuditEntry entry = row.entry();
        String agent = text(entry, "agent");
        String receiver = entry.subject().substring(entry.subject().indexOf('/') + 1);
        Map<String, Object> metadata = metadata(entry, entry.outcome(), text(entry, MESSAGE_ID));
        return event(row, 2, EventType.A2A_MESSAGE_SENT, agent, agent, receiver, metadata);
    }

    /** A message and the error that it got. */
    private static List<Event> ofRefused(AuditRow row) {
        AuditEntry entry = row.entry();
        String agent = text(entry, "agent");
        String from = text(entry, "sourceAgentId");
        Map<String, Object> metadata = metadata(entry, text(entry, "messageType"), text(entry, MESSAGE_ID));
        metadata.put("refused", entry.outcome());
        putLeft(entry, metadata);
        Map<String, Object> error =
                metadata(entry, MessageType.ERROR.word(), text(entry, MESSAGE_ID) + "/" + row.number());
        error.put("code", entry.outcome());
        return List.of(
                event(row, 0, EventType.A2A_MESSAGE_RECEIVED, agent, from, from, metadata),
                event(row, 2, EventType.A2A_MESSAGE_SENT, agent, agent, from, error));
    }

    /** A message that authorization refuses: its content was not read. */
    private static List<Event> ofDenied(AuditRow row) {
        AuditEntry entry = row.entry();
        String operation = text(entry, "operation");
        if (!operation.equals("one/send") && !operation.startsWith("Send")) {
            return List.of();
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(MESSAGE_ID, "");
        metadata.put("messageType", A2A_MESSAGE);
        metadata.put("correlationId", "");
        metadata.put("protocol", operation.equals("one/send") ? "one" : "a2a");
        metadata.put("refused", text(entry, "reason"));
        putLeft(entry, metadata);
        return List.of(event(
                row, 0, EventType.A2A_MESSAGE_RECEIVED, text(entry, "agent"), entry.actor(), entry.actor(), metadata));
    }

    private static void putLeft(AuditEntry entry, Map<String, Object> metadata) {
        Object left = entry.detail().get(BoundedNotes.LEFT);
        if (left != null) {
            metadata.put(BoundedNotes.LEFT, left);
        }
    }

    private static List<Event> ofAnswered(AuditRow row) {
        AuditEntry entry = row.entry();
        String agent = text(entry, "agent");
        Map<String, Object> received = ofA2a(entry, text(entry, "contextId"), A2A_MESSAGE, text(entry, MESSAGE_ID));
        putLeft(entry, received);
        Map<String, Object> sent =
                ofA2a(entry, text(entry, "contextId"), A2A_MESSAGE, text(entry, MESSAGE_ID) + "/" + row.number());
        return List.of(
                event(row, 0, EventType.A2A_MESSAGE_RECEIVED, agent, entry.actor(), entry.actor(), received),
                event(row, 2, EventType.A2A_MESSAGE_SENT, agent, agent, entry.actor(), sent));
    }

    /** A message of a caller to a task that has begun; none if it came in an envelope, which has a row of its own. */
    private List<Event> ofContinued(AuditRow row, String messageId) {
        List<AuditRow> all = rowsOf(row.entry());
        boolean isOfEnvelope = all.stream()
                .anyMatch(each ->
                        isMessage(each) && text(each.entry(), MESSAGE_ID).equals(messageId));
        if (isOfEnvelope) {
            return List.of();
        }
        AuditEntry created = first(all, "task.created", row.entry());
        String caller = caller(row.entry());
        Map<String, Object> metadata = ofA2a(row.entry(), text(created, "contextId"), A2A_MESSAGE, messageId);
        return List.of(event(row, 0, EventType.A2A_MESSAGE_RECEIVED, text(created, "agent"), caller, caller, metadata));
    }

    /** The caller of an entry: its actor, or the subject of an agent that acts for it. */
    private static String caller(AuditEntry entry) {
        return entry.subject().isEmpty()
                ? entry.actor()
                : entry.subject().substring(entry.subject().indexOf('/') + 1);
    }

    private List<Event> ofMove(AuditRow row) {
        AuditEntry entry = row.entry();
        var events = new ArrayList<Event>();
        String received = text(entry, MESSAGE_ID);
        if (!received.isEmpty()) {
            events.addAll(ofContinued(row, received));
        }
        TaskState state = TaskState.valueOf(entry.outcome());
        if (state.isTerminal()) {
            events.addAll(ofEnd(row));
        } else if (state.isInterrupted()) {
            AuditEntry created = first(rowsOf(entry), "task.created", entry);
            if (!isOfEnvelope(created)) {
                events.add(sent(row, created, MessageType.STATUS_UPDATE));
            }
        }
        return events;
    }

    /** The answer of an agent to a caller of A2A. */
    private static Event sent(AuditRow row, AuditEntry created, MessageType type) {
        AuditEntry entry = row.entry();
        String own = text(entry, "answerId");
        String id = own.isEmpty() ? entry.target() + "/" + row.number() : own;
        String agent = text(created, "agent");
        Map<String, Object> metadata = ofA2a(entry, text(created, "contextId"), type.word(), id);
        return event(row, 2, EventType.A2A_MESSAGE_SENT, agent, agent, created.actor(), metadata);
    }

    private static boolean isEnd(AuditEntry entry) {
        return List.of("task.created", "task.moved", "task.canceled").contains(entry.action())
                && TaskState.valueOf(entry.outcome()).isTerminal();
    }

    /** True for a task whose message came in an envelope, which has a row of its own. */
    private static boolean isOfEnvelope(AuditEntry entry) {
        return CONTEXT.matcher(text(entry, "contextId")).matches();
    }

    private List<Event> ofMessage(AuditRow row) {
        AuditEntry entry = row.entry();
        String agent = text(entry, "agent");
        String from = text(entry, "sourceAgentId");
        String type = text(entry, "messageType");
        Map<String, Object> metadata = metadata(entry, type, text(entry, "messageId"));
        String content = text(entry, CONTENT);
        if (!content.isEmpty()) {
            metadata.put(CONTENT, content.startsWith("{") ? Json.read(content.getBytes(UTF_8), Map.class) : content);
        }
        boolean isTask = !entry.target().equals(agent);
        var events = new ArrayList<Event>();
        events.add(event(row, 0, EventType.A2A_MESSAGE_RECEIVED, agent, from, from, metadata));
        if (isTask && type.equals(MessageType.TASK_DELEGATION.word())) {
            events.add(event(row, 1, EventType.A2A_TASK_DELEGATED, agent, from, from, metadata));
        } else if (!isTask && type.equals(MessageType.TASK_RESULT.word())) {
            events.add(event(row, 1, EventType.A2A_TASK_COMPLETED, agent, from, from, metadata));
        }
        events.add(event(
                row,
                2,
                EventType.A2A_MESSAGE_SENT,
                agent,
                agent,
                from,
                metadata(entry, entry.outcome(), text(entry, "answerId"))));
        if (isTask) {
            events.addAll(ofEarlyEnd(row));
        }
        return events;
    }

    private static Map<String, Object> metadata(AuditEntry entry, String type, String messageId) {
        var metadata = new LinkedHashMap<String, Object>();
        metadata.put("messageId", messageId);
        metadata.put("messageType", type);
        metadata.put("correlationId", text(entry, "correlationId"));
        metadata.put("protocol", "one");
        if (!entry.target().equals(text(entry, "agent"))) {
            metadata.put("taskId", entry.target());
        }
        return metadata;
    }

    /** A task that may have ended at once. */
    private List<Event> ofCreation(AuditRow row) {
        AuditEntry entry = row.entry();
        var events = new ArrayList<Event>();
        if (!isOfEnvelope(entry)) {
            String agent = text(entry, "agent");
            Map<String, Object> metadata = ofA2a(entry, text(entry, "contextId"), A2A_MESSAGE, text(entry, MESSAGE_ID));
            events.add(event(row, 0, EventType.A2A_MESSAGE_RECEIVED, agent, entry.actor(), entry.actor(), metadata));
            events.add(event(row, 1, EventType.A2A_TASK_DELEGATED, agent, entry.actor(), entry.actor(), metadata));
            if (TaskState.valueOf(entry.outcome()).isInterrupted()) {
                events.add(sent(row, entry, MessageType.STATUS_UPDATE));
            }
        }
        if (isEnd(entry)) {
            events.addAll(ofEnd(row));
        }
        return events;
    }

    private static Map<String, Object> ofA2a(AuditEntry entry, String contextId, String type, String messageId) {
        var metadata = new LinkedHashMap<String, Object>();
        metadata.put(MESSAGE_ID, messageId);
        metadata.put("messageType", type);
        metadata.put("correlationId", contextId);
        metadata.put("protocol", "a2a");
        if (!entry.target().equals(text(entry, "agent"))) {
            metadata.put("taskId", entry.target());
        }
        Object agents = entry.detail().get("agents");
        if (agents instanceof List<?> chain && !chain.isEmpty()) { // the agent that calls on behalf of the actor
            String url = String.valueOf(chain.getLast());
            metadata.put("via", url.substring(url.lastIndexOf('/') + 1));
        }
        return metadata;
    }

    /** The end of a task. For one of an envelope it stands after the message, whose row may come later than that of the end. */
    private List<Event> ofEnd(AuditRow row) {
        AuditEntry entry = row.entry();
        List<AuditRow> all = rowsOf(entry);
        AuditEntry created = first(all, "task.created", entry);
        String agent = text(created, "agent");
        if (isOfEnvelope(created)) {
            return all.stream()
                    .filter(each -> isMessage(each) && isBefore(each, row))
                    .limit(1)
                    .map(message -> end(row, message, entry.outcome()))
                    .toList();
        }
        Event sent = sent(row, created, MessageType.TASK_RESULT);
        var metadata = new LinkedHashMap<>(sent.metadata());
        metadata.put("status", entry.outcome().toLowerCase(Locale.ROOT));
        return List.of(sent, event(row, 3, EventType.A2A_TASK_COMPLETED, agent, agent, created.actor(), metadata));
    }

    /** The end of a task before its first message was recorded. */
    private List<Event> ofEarlyEnd(AuditRow message) {
        List<AuditRow> all = rowsOf(message.entry());
        boolean isFirst = all.stream().noneMatch(each -> isMessage(each) && isBefore(each, message));
        return all.stream()
                .filter(each -> isFirst && isBefore(each, message) && isEnd(each.entry()))
                .limit(1)
                .map(each -> end(message, message, each.entry().outcome()))
                .toList();
    }

    private static Event end(AuditRow row, AuditRow message, String outcome) {
        AuditEntry entry = message.entry();
        Map<String, Object> metadata = metadata(entry, MessageType.TASK_RESULT.word(), text(entry, "messageId"));
        metadata.put("status", outcome.toLowerCase(Locale.ROOT));
        String agent = text(entry, "agent");
        return event(row, 3, EventType.A2A_TASK_COMPLETED, agent, agent, text(entry, "sourceAgentId"), metadata);
    }

    private static boolean isMessage(AuditRow row) {
        return row.entry().action().equals(MESSAGE);
    }

    private List<AuditRow> rowsOf(AuditEntry entry) {
        return audit.rows(new Filter(entry.group(), null, null, entry.target(), null, null), 0, 100);
    }

    private static AuditEntry first(List<AuditRow> rows, String action, AuditEntry otherwise) {
        return rows.stream()
                .map(AuditRow::entry)
                .filter(entry -> entry.action().equals(action))
                .findFirst()
                .orElse(otherwise);
    }

    private static Event event(
            AuditRow row,
            int place,
            EventType type,
            String agent,
            String actor,
            String other,
            Map<String, Object> metadata) {
        var all = new LinkedHashMap<>(metadata);
        List<String> names = OTHER_NAMES.getOrDefault(type, List.of("", ""));
        all.put("ontologyType", names.getFirst());
        all.put("alias", names.getLast());
        return new Event(row.number() * OF_ROW + place, row.entry().group(), row.at(), type, agent, actor, other, all);
    }

    private static String text(AuditEntry entry, String name) {
        Object value = entry.detail().get(name);
        return value == null ? "" : value.toString();
    }
}

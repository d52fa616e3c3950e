package dev.parley.mesh;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.DOUBLE;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.protocol.json.Codecs.WORDS;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DescribedCodecs;
import dev.parley.protocol.json.NumberOrText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.WordCodecs;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Views of a group's mesh: its agents, connections and events. The agent {@code one} answers them. */
public final class MeshViews {
    /** Largest page of events and connections. */
    public static final int MAX_PAGE = 1_000;

    private static final long DEFAULT_PAGE = 100;

    private MeshViews() {}

    /**
     * Which agents are meant, each condition null for all.
     *
     * @param capability id, tag or name of a skill
     * @param tag of a skill
     * @param words of the description
     */
    public record Wanted(
            @Nullable String capability,
            @Nullable String tag,
            @Nullable String words) {}

    /**
     * Which events are meant, each condition null for all.
     *
     * @param type of the event, of its message, or one of its names elsewhere
     * @param agentId an agent that takes part
     */
    public record EventFilter(
            @Nullable String type,
            @Nullable String agentId,
            @Nullable String correlationId,
            @Nullable String taskId,
            @Nullable Instant since) {}

    /** Kind of an entity. */
    public enum EntityType {
        AGENT,
        TASK
    }

    /** Kind of a connection. */
    public enum ConnectionType {
        COMMUNICATES_WITH,
        DELEGATED_TO
    }

    /** Kind of an event. */
    public enum EventType {
        A2A_MESSAGE_RECEIVED,
        A2A_MESSAGE_SENT,
        A2A_TASK_DELEGATED,
        A2A_TASK_COMPLETED;

        /** The word on the wire. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Term of the ontology for an entity or a connection. */
    public enum OntologyType {
        EXTERNAL_AGENT,
        TASK,
        COMMUNICATED,
        DELEGATED
    }

    /** Status of a delegated task: accepted, then that of its end. */
    public enum DelegationStatus {
        ACCEPTED,
        COMPLETED,
        FAILED,
        CANCELED,
        REJECTED
    }

    /** Lists agents or tasks of the group as entities; of one agent unless null. */
    public record ListEntities(
            EntityType type, Wanted wanted, @Nullable String agentId, long pageSize)
            implements Operation.ExtensionCall<Entities> {
        @Override
        public String name() {
            return "one/entities";
        }
    }

    /**
     * Lists who communicates with and delegates to whom; of one agent unless null.
     *
     * @param types empty for a word that is not a type: such a list is empty
     */
    public record ListConnections(
            Set<ConnectionType> types, @Nullable String agentId, long pageSize)
            implements Operation.ExtensionCall<Connections> {
        @Override
        public String name() {
            return "one/connections";
        }
    }

    /**
     * Lists events, the oldest first.
     *
     * @param after number of the last event that is not wanted any more, or {@link EventPage#next} of the page before
     */
    public record ListEvents(EventFilter filter, String after, long pageSize)
            implements Operation.ExtensionCall<EventPage> {
        @Override
        public String name() {
            return "one/events";
        }
    }

    /** Ranks agents for a task. */
    public record RankAgents(Wanted wanted) implements Operation.ExtensionCall<Ranking> {
        @Override
        public String name() {
            return "one/agents";
        }
    }

    /**
     * Watches events.
     *
     * @param after number, or cursor, of the last event that the caller has; 0 for none; null for new ones only
     */
    public record WatchEvents(EventFilter filter, @Nullable String after)
            implements Operation.ExtensionWatch<EventView> {
        @Override
        public String name() {
            return "one/events/watch";
        }
    }

    /**
     * An agent or a task.
     *
     * @param agent null for a task
     * @param task null for an agent
     */
    public record Entity(
            String entityId,
            String groupId,
            EntityType type,
            OntologyType ontologyType,
            @Nullable AgentFacts agent,
            @Nullable TaskFacts task,
            Map<String, String> metadata) {}

    /** An agent as an entity; {@code endpoint} is empty if it has no address. */
    public record AgentFacts(
            String name, String description, String endpoint, List<String> capabilities, List<String> tags) {}

    /** A task that one agent delegated to another. */
    public record TaskFacts(
            DelegationStatus status,
            String agentId,
            String delegatedBy,
            String correlationId,
            Instant createdAt,
            Instant updatedAt) {}

    /** A page of entities; {@code partial} if it lacks recent events. */
    public record Entities(List<Entity> entities, boolean partial) {}

    /**
     * Messages of two agents, or a delegation.
     *
     * @param count of the messages; null for a delegation
     * @param status of the task; null for messages, as the ids of the task and of the correlation are
     */
    public record Connection(
            String groupId,
            ConnectionType type,
            OntologyType ontologyType,
            String fromEntityId,
            String toEntityId,
            @Nullable Long count,
            @Nullable DelegationStatus status,
            @Nullable String taskId,
            @Nullable String correlationId,
            Instant firstAt,
            Instant lastAt,
            Map<String, String> metadata) {}

    /** Connections, the newest delegations first; {@code partial} as in {@link Entities}. */
    public record Connections(List<Connection> connections, boolean partial) {}

    /**
     * An agent with its score and the parts of the score, each from 0 to 1.
     *
     * @param endpoint empty if it has no address
     */
    public record RankedAgent(
            String agentId,
            String endpoint,
            List<String> capabilities,
            List<String> tags,
            double score,
            Reasons reasons) {}

    /**
     * Parts of a score.
     *
     * @param tasks how many have ended
     * @param latencyMillis median; null if unknown
     * @param cost that a tag of the agent names; null for none
     */
    public record Reasons(
            double match,
            double trust,
            double successRate,
            long tasks,
            double speed,
            @Nullable Long latencyMillis,
            double idleness,
            long openTasks,
            double cheapness,
            @Nullable Double cost) {
        /** The parts by their names, without those that are unknown. */
        public Map<String, @Nullable Object> members() {
            var members = new LinkedHashMap<String, @Nullable Object>();
            if (REASONS.toJson(this) instanceof Map<?, ?> parts) {
                parts.forEach((part, value) -> members.put(String.valueOf(part), value));
            }
            return members;
        }
    }

    /** Agents, the best first; {@code partial} as in {@link Entities}. */
    public record Ranking(List<RankedAgent> agents, boolean partial) {}

    /**
     * An event.
     *
     * @param entityId agent of the hub that is concerned
     * @param actorId agent that acts
     * @param targetId other side of the agent
     * @param cursor place of a streamed event, if several hubs write events at once; null otherwise
     */
    public record EventView(
            long number,
            String groupId,
            EventType type,
            String entityId,
            EntityType actorType,
            String actorId,
            String targetId,
            Instant timestamp,
            Map<String, Object> metadata,
            @Nullable String cursor) {}

    /**
     * A page of events.
     *
     * @param next place after which the next page begins: a number, or numbers with dots between if several hubs write events at once
     */
    public record EventPage(List<EventView> events, String next, boolean more) {}

    /** Ids of events; others are not of this server, and stand for all events. */
    private static final Pattern PLACE = Pattern.compile("\\d{1,18}(\\.\\d{1,18})*");

    private static final Codec<Instant> MILLIS = Codecs.via(COUNT, Instant::ofEpochMilli, Instant::toEpochMilli);

    private static final Codec<EntityType> ENTITY_TYPE = Codecs.words(EntityType.class);
    private static final Codec<ConnectionType> CONNECTION_TYPE = Wire.words(ConnectionType.class);
    private static final Codec<OntologyType> ONTOLOGY_TYPE = Wire.words(OntologyType.class);
    private static final Codec<DelegationStatus> STATUS = Wire.words(DelegationStatus.class);

    /** The type of wanted entities; a blank one is as good as absent. */
    private static final Codec<EntityType> KIND = WordCodecs.reading(ENTITY_TYPE, word -> switch (word) {
        case String blank when blank.isBlank() -> null;
        case "agent" -> EntityType.AGENT;
        case "task" -> EntityType.TASK;
        default -> throw InvalidField.of("", '"' + word + "\" (expected: agent, task)");
    });

    /** A word that is not a type of connections. */
    private static final String NO_TYPE = "none";

    /** The types of wanted connections: one, or none; all are as good as absent. */
    private static final Codec<Set<ConnectionType>> TYPES = DescribedCodecs.like(
            CONNECTION_TYPE,
            Codecs.via(
                    TEXT,
                    MeshViews::types,
                    types -> types.isEmpty()
                            ? NO_TYPE
                            : CONNECTION_TYPE.format(types.iterator().next())));

    private static @Nullable Set<ConnectionType> types(String word) {
        return switch (word) {
            case String blank when blank.isBlank() -> null;
            case "communicates_with" -> Set.of(ConnectionType.COMMUNICATES_WITH);
            case "delegated_to" -> Set.of(ConnectionType.DELEGATED_TO);
            default -> Set.of();
        };
    }

    private static final Codec<Map<String, String>> METADATA = Codecs.map(TEXT);

    private static <V> Function<Entity, @Nullable V> ofAgent(Function<AgentFacts, V> member) {
        return entity -> {
            AgentFacts agent = entity.agent();
            return agent == null ? null : member.apply(agent);
        };
    }

    private static <V> Function<Entity, @Nullable V> ofTask(Function<TaskFacts, V> member) {
        return entity -> {
            TaskFacts task = entity.task();
            return task == null ? null : member.apply(task);
        };
    }

    private static final Codec<Entity> ENTITY = ObjectCodec.<Entity>of()
            .required("entityId", TEXT, Entity::entityId)
            .required("groupId", TEXT, Entity::groupId)
            .required("type", ENTITY_TYPE, Entity::type)
            .required("ontologyType", ONTOLOGY_TYPE, Entity::ontologyType)
            .optional("name", TEXT, ofAgent(AgentFacts::name))
            .optional("description", TEXT, ofAgent(AgentFacts::description))
            .optional("endpoint", TEXT, ofAgent(AgentFacts::endpoint))
            .optional("capabilities", TEXTS, ofAgent(AgentFacts::capabilities))
            .optional("tags", TEXTS, ofAgent(AgentFacts::tags))
            .optional("status", STATUS, ofTask(TaskFacts::status))
            .optional("agentId", TEXT, ofTask(TaskFacts::agentId))
            .optional("delegatedBy", TEXT, ofTask(TaskFacts::delegatedBy))
            .optional("correlationId", TEXT, ofTask(TaskFacts::correlationId))
            .optional("createdAt", MILLIS, ofTask(TaskFacts::createdAt))
            .optional("updatedAt", MILLIS, ofTask(TaskFacts::updatedAt))
            .required("metadata", METADATA, Entity::metadata)
            .as(MeshViews::entity);

    private static Entity entity(ObjectCodec.Values v) {
        String id = v.next();
        String group = v.next();
        EntityType type = v.next();
        OntologyType ontologyType = v.next();
        var agent = new AgentFacts(v.next(), v.next(), v.next(), v.next(), v.next());
        var task = new TaskFacts(v.next(), v.next(), v.next(), v.next(), v.next(), v.next());
        boolean isAgent = type == EntityType.AGENT;
        return new Entity(id, group, type, ontologyType, isAgent ? agent : null, isAgent ? null : task, v.next());
    }

    private static final Codec<Connection> CONNECTION = ObjectCodec.<Connection>of()
            .required("groupId", TEXT, Connection::groupId)
            .required("type", CONNECTION_TYPE, Connection::type)
            .required("ontologyType", ONTOLOGY_TYPE, Connection::ontologyType)
            .required("fromEntityId", TEXT, Connection::fromEntityId)
            .required("toEntityId", TEXT, Connection::toEntityId)
            .optional("count", COUNT, Connection::count)
            .optional("status", STATUS, Connection::status)
            .optional("taskId", TEXT, Connection::taskId)
            .optional("correlationId", TEXT, Connection::correlationId)
            .required("firstAt", MILLIS, Connection::firstAt)
            .required("lastAt", MILLIS, Connection::lastAt)
            .required("metadata", METADATA, Connection::metadata)
            .as(v -> new Connection(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next(), v.next()));

    private static final Codec<Reasons> REASONS = ObjectCodec.<Reasons>of()
            .required("match", DOUBLE, Reasons::match)
            .required("trust", DOUBLE, Reasons::trust)
            .required("successRate", DOUBLE, Reasons::successRate)
            .required("tasks", COUNT, Reasons::tasks)
            .required("speed", DOUBLE, Reasons::speed)
            .optional("latencyMillis", COUNT, Reasons::latencyMillis)
            .required("idleness", DOUBLE, Reasons::idleness)
            .required("openTasks", COUNT, Reasons::openTasks)
            .required("cheapness", DOUBLE, Reasons::cheapness)
            .optional("cost", DOUBLE, Reasons::cost)
            .as(v -> new Reasons(
                    v.<Double>next(),
                    v.<Double>next(),
                    v.<Double>next(),
                    v.<Long>next(),
                    v.<Double>next(),
                    v.next(),
                    v.<Double>next(),
                    v.<Long>next(),
                    v.<Double>next(),
                    v.next()));

    private static final Codec<RankedAgent> RANKED = ObjectCodec.<RankedAgent>of()
            .required("agentId", TEXT, RankedAgent::agentId)
            .required("endpoint", TEXT, RankedAgent::endpoint)
            .required("capabilities", TEXTS, RankedAgent::capabilities)
            .required("tags", TEXTS, RankedAgent::tags)
            .required("score", DOUBLE, RankedAgent::score)
            .required("reasons", REASONS, RankedAgent::reasons)
            .as(v -> new RankedAgent(v.next(), v.next(), v.next(), v.next(), v.<Double>next(), v.next()));

    private static final Codec<EventView> EVENT = ObjectCodec.<EventView>of()
            .required("number", COUNT, EventView::number)
            .required("groupId", TEXT, EventView::groupId)
            .required("type", Wire.words(EventType.class), EventView::type)
            .required("entityId", TEXT, EventView::entityId)
            .required("actorType", ENTITY_TYPE, EventView::actorType)
            .required("actorId", TEXT, EventView::actorId)
            .required("targetId", TEXT, EventView::targetId)
            .required("timestamp", MILLIS, EventView::timestamp)
            .required("metadata", EventMetadata.CODEC, EventView::metadata)
            .optional("cursor", WORDS, EventView::cursor)
            .as(v -> new EventView(
                    v.<Long>next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next()));

    private static final Codec<Entities> ENTITIES = ObjectCodec.<Entities>of()
            .required("entities", Codecs.list(ENTITY), Entities::entities)
            .optional("partial", BOOLEAN, false, Entities::partial)
            .as(v -> new Entities(v.next(), v.next()));

    private static final Codec<Connections> CONNECTIONS = ObjectCodec.<Connections>of()
            .required("connections", Codecs.list(CONNECTION), Connections::connections)
            .optional("partial", BOOLEAN, false, Connections::partial)
            .as(v -> new Connections(v.next(), v.next()));

    private static final Codec<EventPage> EVENTS = ObjectCodec.<EventPage>of()
            .required("events", Codecs.list(EVENT), EventPage::events)
            .required("next", NumberOrText.CODEC, EventPage::next)
            .required("more", BOOLEAN, EventPage::more)
            .as(v -> new EventPage(v.next(), v.next(), v.<Boolean>next()));

    private static final Codec<Ranking> RANKING = ObjectCodec.<Ranking>of()
            .required("agents", Codecs.list(RANKED), Ranking::agents)
            .optional("partial", BOOLEAN, false, Ranking::partial)
            .as(v -> new Ranking(v.next(), v.next()));

    private static <T> ObjectCodec.Builder<T> wanted(ObjectCodec.Builder<T> shape, Function<T, Wanted> wanted) {
        return shape.optional("capability", WORDS, of -> wanted.apply(of).capability())
                .help("TASK", "Id, tag or name of a skill of the agent.")
                .optional("tag", WORDS, of -> wanted.apply(of).tag())
                .help("TAG", "Tag of a skill of the agent.")
                .optional("q", WORDS, of -> wanted.apply(of).words())
                .help("WORDS", "Words of the agent's description.");
    }

    private static Wanted wanted(ObjectCodec.Values v) {
        return new Wanted(v.next(), v.next(), v.next());
    }

    private static <T> ObjectCodec.Builder<T> agent(ObjectCodec.Builder<T> shape, Function<T, @Nullable String> agent) {
        return shape.optional("agentId", WORDS, agent).help("AGENT", "An agent that takes part.");
    }

    private static <T> ObjectCodec.Builder<T> size(ObjectCodec.Builder<T> shape, Function<T, Long> size) {
        return shape.optional("pageSize", Codecs.number(0, MAX_PAGE), DEFAULT_PAGE, size)
                .help("COUNT", "Limit of the rows; default 100.");
    }

    private static <T> ObjectCodec.Builder<T> filter(ObjectCodec.Builder<T> shape, Function<T, EventFilter> filter) {
        return agent(
                        shape.optional("type", WORDS, of -> filter.apply(of).type())
                                .help("TYPE", "Type of the rows."),
                        of -> filter.apply(of).agentId())
                .optional("correlationId", WORDS, of -> filter.apply(of).correlationId())
                .help("ID", "Correlation id of the messages.")
                .optional("taskId", WORDS, of -> filter.apply(of).taskId())
                .help("ID", "A task.")
                .optional("since", TIME, of -> filter.apply(of).since())
                .help("WHEN", "Time of the first event.");
    }

    private static EventFilter filter(ObjectCodec.Values v) {
        return new EventFilter(v.next(), v.next(), v.next(), v.next(), v.next());
    }

    private static final ObjectCodec<ListEntities> LIST_ENTITIES = size(
                    agent(
                            wanted(
                                    ObjectCodec.<ListEntities>of()
                                            .optional("type", KIND, EntityType.AGENT, ListEntities::type)
                                            .help("TYPE", "agent or task; default agent."),
                                    ListEntities::wanted),
                            ListEntities::agentId),
                    ListEntities::pageSize)
            .as(v -> new ListEntities(v.next(), wanted(v), v.next(), v.<Long>next()))
            .strict();

    private static final ObjectCodec<ListConnections> LIST_CONNECTIONS = size(
                    agent(
                            ObjectCodec.<ListConnections>of()
                                    .optional("type", TYPES, Set.of(ConnectionType.values()), ListConnections::types)
                                    .help("TYPE", "Type of the rows."),
                            ListConnections::agentId),
                    ListConnections::pageSize)
            .as(v -> new ListConnections(v.next(), v.next(), v.<Long>next()))
            .strict();

    private static final ObjectCodec<ListEvents> LIST_EVENTS = size(
                    filter(ObjectCodec.<ListEvents>of(), ListEvents::filter)
                            .optional("after", NumberOrText.CODEC, "0", ListEvents::after)
                            .help(
                                    "PLACE",
                                    "Number of the last event that is not wanted any more, or the next of a page."),
                    ListEvents::pageSize)
            .as(v -> new ListEvents(filter(v), v.next(), v.<Long>next()))
            .strict();

    private static final ObjectCodec<RankAgents> RANK_AGENTS = wanted(ObjectCodec.<RankAgents>of(), RankAgents::wanted)
            .as(v -> new RankAgents(wanted(v)))
            .strict();

    private static final ObjectCodec<WatchEvents> WATCH_EVENTS = filter(
                    ObjectCodec.<WatchEvents>of(), WatchEvents::filter)
            .optional("after", NumberOrText.CODEC, WatchEvents::after)
            .help("PLACE", "Number or cursor of the last event that the caller has; default: new ones.")
            .as(v -> new WatchEvents(filter(v), v.next()));

    /** The rows of the views. */
    public static final List<ExtensionMethod<?, ?>> METHODS = List.of(
            ExtensionMethod.call("one/entities", ListEntities.class, LIST_ENTITIES, ENTITIES)
                    .rest("GET /entities")
                    .described("List the agents or tasks of the group as entities"),
            ExtensionMethod.call("one/connections", ListConnections.class, LIST_CONNECTIONS, CONNECTIONS)
                    .rest("GET /connections")
                    .described("List who communicates with and delegates to whom"),
            ExtensionMethod.call("one/events", ListEvents.class, LIST_EVENTS, EVENTS)
                    .rest("GET /events")
                    .described("List messages and tasks as events, the oldest first"),
            ExtensionMethod.call("one/agents", RankAgents.class, RANK_AGENTS, RANKING)
                    .rest("GET /agents")
                    .described("Rank agents for a task, with the reasons"),
            ExtensionMethod.stream("one/events/watch", WatchEvents.class, WATCH_EVENTS, EVENT)
                    .rest("GET /events")
                    .described("Stream events as they come")
                    .resumable(
                            MeshViews::id,
                            (watch, id) -> new WatchEvents(
                                    watch.filter(), PLACE.matcher(id).matches() ? id : "0")));

    /** The operations of each agent, and the views. */
    public static ExtensionProtocol protocol() {
        var methods = new ArrayList<ExtensionMethod<?, ?>>(MeshProtocol.PROTOCOL.methods());
        methods.addAll(METHODS);
        return new ExtensionProtocol(
                MeshProtocol.PROTOCOL.uri(), methods, MeshProtocol.PROTOCOL.style(), MeshProtocol.PROTOCOL.errors());
    }

    private static String id(EventView event) {
        String cursor = event.cursor();
        return cursor == null ? Long.toString(event.number()) : cursor;
    }
}

package dev.parley.activity;

import static dev.parley.protocol.extension.RestParameter.query;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIMESTAMP;

import dev.parley.activity.ActivityOperation.AgentCounts;
import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.CountTasks;
import dev.parley.activity.ActivityOperation.EventView;
import dev.parley.activity.ActivityOperation.FindTasks;
import dev.parley.activity.ActivityOperation.History;
import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.ReadHistory;
import dev.parley.activity.ActivityOperation.ReadTrace;
import dev.parley.activity.ActivityOperation.Span;
import dev.parley.activity.ActivityOperation.SpanEvent;
import dev.parley.activity.ActivityOperation.TaskCounts;
import dev.parley.activity.ActivityOperation.TaskPage;
import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.activity.ActivityOperation.Trace;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.dialect.Json;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.Shape;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The operations of the agent {@code activity} on the wire. */
public final class ActivityProtocol implements ExtensionProtocol.Provider {
    /** Name of the agent, which also answers at the path of that name. */
    public static final String AGENT = "activity";

    /** Largest page of tasks. */
    public static final int MAX_PAGE = 200;

    /** Largest page of events. */
    public static final int MAX_EVENTS = 500;

    private static final String PREFIX = "TASK_STATE_";
    private static final Map<String, Object> OBJECT = Map.of("type", "object");

    private static final Codec<TaskState> STATE = Codecs.enumeration(PREFIX, TaskState.class);
    private static final Codec<Long> NUMBER = Codecs.via(FREE, ActivityProtocol::number, number -> number);

    private static final Codec<TaskView> TASK = Shape.<TaskView>of()
            .required("taskId", TEXT, TaskView::taskId)
            .required("agent", TEXT, TaskView::agent)
            .required("contextId", TEXT, TaskView::contextId)
            .required("state", STATE, TaskView::state)
            .required("updated", TIMESTAMP, TaskView::updated)
            .optional("created", TIMESTAMP, TaskView::created)
            .required("caller", TEXT, TaskView::caller)
            .optional("group", TEXT, TaskView::group)
            .optional("title", TEXT, TaskView::title)
            .optional("status", TEXT, TaskView::status)
            .optional("progress", INT, TaskView::progress)
            .required("events", NUMBER, TaskView::events)
            .optional("artifacts", INT, TaskView::artifacts)
            .as(v -> new TaskView(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next(), v.next(), v.next()));

    private static final Shape<TaskPage> PAGE = Shape.<TaskPage>of()
            .always("tasks", Codecs.list(TASK), List.of(), TaskPage::tasks)
            .optional("next", TEXT, TaskPage::next)
            .as(v -> new TaskPage(v.next(), v.next()));

    private static final Codec<EventView> EVENT = Shape.<EventView>of()
            .required("number", NUMBER, EventView::number)
            .required("at", TIMESTAMP, EventView::at)
            .required("event", STRUCT, EventView::event)
            .as(v -> new EventView(v.next(), v.next(), v.next()));

    private static final Shape<History> HISTORY = Shape.<History>of()
            .required("task", TASK, History::task)
            .always("events", Codecs.list(EVENT), List.of(), History::events)
            .optional("next", NUMBER, History::next)
            .as(v -> new History(v.next(), v.next(), v.next()));

    private static final Codec<Map<String, Long>> NUMBERS = Codecs.map(NUMBER);

    private static final Codec<AgentCounts> OF_AGENT = Shape.<AgentCounts>of()
            .required("agent", TEXT, AgentCounts::agent)
            .always("states", NUMBERS, Map.of(), AgentCounts::states)
            .as(v -> new AgentCounts(v.next(), v.next()));

    private static final Shape<TaskCounts> COUNTS = Shape.<TaskCounts>of()
            .always("states", NUMBERS, Map.of(), TaskCounts::states)
            .always("agents", Codecs.list(OF_AGENT), List.of(), TaskCounts::agents)
            .optional("number", NUMBER, 0L, TaskCounts::number)
            .as(v -> new TaskCounts(v.next(), v.next(), v.next()));

    private static final Shape<Change> CHANGE = Shape.<Change>of()
            .optional("number", NUMBER, 0L, Change::number)
            .required("at", TIMESTAMP, Change::at)
            .required("kind", TEXT, Change::kind)
            .optional("taskId", TEXT, Change::taskId)
            .optional("agent", TEXT, Change::agent)
            .optional("contextId", TEXT, Change::contextId)
            .optional("state", STATE, Change::state)
            .optional("before", STATE, Change::before)
            .optional("caller", TEXT, Change::caller)
            .optional("trace", TEXT, Change::trace)
            .optional("group", TEXT, Change::group)
            .optional("text", TEXT, Change::text)
            .optional("change", TEXT, Change::change)
            .as(v -> new Change(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next(), v.next(), v.next()));

    private static final Codec<SpanEvent> SPAN_EVENT = Shape.<SpanEvent>of()
            .required("at", TIMESTAMP, SpanEvent::at)
            .required("kind", TEXT, SpanEvent::kind)
            .optional("state", TEXT, SpanEvent::state)
            .optional("text", TEXT, SpanEvent::text)
            .as(v -> new SpanEvent(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Span> SPAN = Shape.<Span>of()
            .required("id", TEXT, Span::id)
            .optional("parent", TEXT, Span::parent)
            .required("kind", TEXT, Span::kind)
            .required("agent", TEXT, Span::agent)
            .required("caller", TEXT, Span::caller)
            .required("name", TEXT, Span::name)
            .required("started", TIMESTAMP, Span::started)
            .optional("ended", TIMESTAMP, Span::ended)
            .required("state", TEXT, Span::state)
            .optional("error", TEXT, Span::error)
            .always("events", Codecs.list(SPAN_EVENT), List.of(), Span::events)
            .as(v -> new Span(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next()));

    private static final Shape<Trace> TRACE = Shape.<Trace>of()
            .optional("trace", TEXT, Trace::trace)
            .always("spans", Codecs.list(SPAN), List.of(), Trace::spans)
            .optional("hasMore", Codecs.BOOLEAN, false, Trace::hasMore)
            .optional("link", TEXT, Trace::link)
            .as(v -> new Trace(v.next(), v.next(), v.next(), v.next()));

    private static final RestParameter OF = query("agent", Type.TEXT, "NAME", "An agent of the hub.");
    private static final RestParameter CONTEXT = query("contextId", Type.TEXT, "ID", "Context of the tasks.");
    private static final RestParameter STATES =
            query("state", Type.TEXT, "STATE[,STATE]", "States of the tasks, such as working or TASK_STATE_WORKING.");
    private static final RestParameter CALLER = query("caller", Type.TEXT, "NAME", "Principal that began the tasks.");
    private static final RestParameter SINCE =
            query("since", Type.TIME, "TIME", "Earliest time of the status of the tasks.");
    private static final RestParameter UNTIL =
            query("until", Type.TIME, "TIME", "Latest time of the status of the tasks.");
    private static final RestParameter WORDS =
            query("q", Type.TEXT, "WORDS", "Words in the title, the status, the agent or an id.");
    private static final RestParameter AFTER = query("after", Type.TEXT, "TOKEN", "Member next of the previous page.");
    private static final RestParameter SIZE = query("pageSize", Type.NUMBER, "COUNT", "Limit of the tasks; default 50.")
            .atMost(MAX_PAGE);
    private static final RestParameter GROUP =
            query("group", Type.TEXT, "GROUP", "Another group, or * for all; needs the scope admin.");
    private static final RestParameter OWNER =
            query("owner", Type.TEXT, "NAME", "Owner of the tasks; needs the scope admin.");

    private static final RestDescription FIND = new RestDescription(
                    "List tasks over all agents, the newest status first",
                    List.of(OF, CONTEXT, STATES, CALLER, SINCE, UNTIL, WORDS, AFTER, SIZE, GROUP, OWNER),
                    OBJECT)
            .strict();
    private static final RestDescription COUNT =
            new RestDescription("Count tasks by agent and state", List.of(OF, GROUP, OWNER), OBJECT).strict();

    private static final RestDescription READ = new RestDescription(
                    "Read a task and its events with their numbers and times",
                    List.of(
                            RestParameter.path("taskId", "TASK-ID", "The task."),
                            query("after", Type.NUMBER, "NUMBER", "Number of the last event of the page before."),
                            query("limit", Type.NUMBER, "COUNT", "Limit of the events; default 100.")
                                    .atMost(MAX_EVENTS),
                            GROUP,
                            OWNER),
                    OBJECT)
            .strict();
    private static final RestDescription WATCH = new RestDescription(
                    "Stream the changes of tasks and agents",
                    List.of(
                            OF,
                            query("taskId", Type.TEXT, "ID", "A task."),
                            query(
                                    "after",
                                    Type.NUMBER,
                                    "NUMBER",
                                    "Number of the last change that the caller has; default: new ones."),
                            GROUP,
                            OWNER),
                    OBJECT)
            .strict();

    private static final RestDescription READ_TRACE = new RestDescription(
                    "Read the tasks of a trace as spans",
                    List.of(RestParameter.path("trace", "TRACE", "Id of a W3C trace, or of a task."), GROUP, OWNER),
                    OBJECT)
            .strict();

    /** The operations. */
    public static final ExtensionProtocol PROTOCOL = ExtensionProtocol.of(
            ExtensionUri.permanent("/extensions/activity/v1"),
            ExtensionMethod.call(
                            "activity/tasks",
                            FindTasks.class,
                            JsonForm.object(ActivityProtocol::find, ActivityProtocol::members),
                            PAGE)
                    .rest("GET /activity/tasks")
                    .described(FIND),
            ExtensionMethod.call(
                            "activity/counts",
                            CountTasks.class,
                            JsonForm.object(
                                    json -> {
                                        Values values = Values.of("activity/counts", COUNT, json);
                                        return new CountTasks(values.text("agent"), values.reach());
                                    },
                                    count -> members(count.reach(), "agent", count.agent())),
                            COUNTS)
                    .rest("GET /activity/counts")
                    .described(COUNT),
            ExtensionMethod.call(
                            "activity/task",
                            ReadHistory.class,
                            JsonForm.object(
                                    json -> {
                                        Values values = Values.of("activity/task", READ, json);
                                        return new ReadHistory(
                                                String.valueOf(values.values().get("taskId")),
                                                values.number("after", 0),
                                                values.count("limit", MAX_EVENTS),
                                                values.reach());
                                    },
                                    read -> members(
                                            read.reach(),
                                            "taskId",
                                            read.taskId(),
                                            "after",
                                            read.after() == 0 ? null : read.after(),
                                            "limit",
                                            read.limit())),
                            HISTORY)
                    .rest("GET /activity/tasks/{taskId}")
                    .described(READ)
                    .content(history ->
                            history.events().stream().map(EventView::event).toList()),
            ExtensionMethod.call(
                            "activity/trace",
                            ReadTrace.class,
                            JsonForm.object(
                                    json -> {
                                        Values values = Values.of("activity/trace", READ_TRACE, json);
                                        return new ReadTrace(
                                                String.valueOf(values.values().get("trace")), values.reach());
                                    },
                                    read -> members(read.reach(), "trace", read.trace())),
                            TRACE)
                    .rest("GET /activity/traces/{trace}")
                    .described(READ_TRACE),
            ExtensionMethod.stream(
                            "activity/changes",
                            WatchChanges.class,
                            JsonForm.object(
                                    json -> {
                                        Values values = Values.of("activity/changes", WATCH, json);
                                        return new WatchChanges(
                                                values.text("agent"),
                                                values.text("taskId"),
                                                values.number("after", WatchChanges.NEW),
                                                values.reach());
                                    },
                                    watch -> members(
                                            watch.reach(),
                                            "agent",
                                            watch.agent(),
                                            "taskId",
                                            watch.taskId(),
                                            "after",
                                            watch.after() < 0 ? null : watch.after())),
                            CHANGE)
                    .rest("GET /activity/changes")
                    .described(WATCH)
                    .resumable(
                            change -> change.number() == 0 ? null : Long.toString(change.number()),
                            (watch, id) -> new WatchChanges(watch.agent(), watch.taskId(), place(id), watch.reach())));

    /** Parameters of a request, which its row has checked. */
    private record Values(Map<String, @Nullable Object> values) {
        static Values of(String name, RestDescription row, Map<String, @Nullable Object> json) {
            return new Values(row.call(name, json).params());
        }

        @Nullable
        String text(String name) {
            return values.get(name) instanceof String text && !text.isBlank() ? text : null;
        }

        long number(String name, long otherwise) {
            return values.get(name) instanceof Number number ? number.longValue() : otherwise;
        }

        /** A number from 1; null for none. */
        @Nullable
        Integer count(String name, int most) {
            if (!(values.get(name) instanceof Number number)) {
                return null;
            }
            if (number.longValue() == 0) {
                throw InvalidField.of(name, "0 (expected: 1 to " + most + ")");
            }
            return number.intValue();
        }

        Reach reach() {
            return new Reach(text("group"), text("owner"));
        }
    }

    private static long place(String id) {
        try {
            return Math.max(0, Long.parseLong(id));
        } catch (NumberFormatException foreign) {
            return Long.MAX_VALUE; // no id of this server: new changes, behind a gap
        }
    }

    private static FindTasks find(Map<String, @Nullable Object> json) {
        Values values = Values.of("activity/tasks", FIND, json);
        return new FindTasks(
                values.text("agent"),
                values.text("contextId"),
                states(values.text("state")),
                values.text("caller"),
                RestParameter.time(values.values().get("since")),
                RestParameter.time(values.values().get("until")),
                values.text("q"),
                values.text("after"),
                values.count("pageSize", MAX_PAGE),
                values.reach());
    }

    /**
     * States as they are typed: names of the protocol, or words such as {@code input-required}.
     *
     * @param typed separated by commas; null for none
     * @throws InvalidField for another one
     */
    public static Set<TaskState> states(@Nullable String typed) {
        Set<TaskState> states = EnumSet.noneOf(TaskState.class);
        for (String each : typed == null ? new String[0] : typed.split(",", -1)) {
            String name = each.trim().toUpperCase(Locale.ROOT).replace('-', '_').replaceFirst("^" + PREFIX, "");
            states.add(Arrays.stream(TaskState.values())
                    .filter(state -> state.name().equals(name) && state != TaskState.UNSPECIFIED)
                    .findFirst()
                    .orElseThrow(() -> InvalidField.of(
                            "state",
                            '"' + each + "\": unknown (expected: such as TASK_STATE_WORKING,TASK_STATE_FAILED)")));
        }
        return states;
    }

    private static Map<String, @Nullable Object> members(FindTasks find) {
        var states = new TreeSet<String>();
        find.states().forEach(state -> states.add(PREFIX + state.name()));
        return members(
                find.reach(),
                "agent",
                find.agent(),
                "contextId",
                find.contextId(),
                "state",
                states.isEmpty() ? null : String.join(",", states),
                "caller",
                find.caller(),
                "since",
                find.since(),
                "until",
                find.until(),
                "q",
                find.words(),
                "after",
                find.after(),
                "pageSize",
                find.pageSize());
    }

    /** Members of a request, without those that are null; times are texts. */
    private static Map<String, @Nullable Object> members(Reach reach, @Nullable Object... namesAndValues) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            Object value = namesAndValues[i + 1];
            if (value != null) {
                members.put(String.valueOf(namesAndValues[i]), value instanceof Number ? value : value.toString());
            }
        }
        if (reach.group() != null) {
            members.put("group", reach.group());
        }
        if (reach.owner() != null) {
            members.put("owner", reach.owner());
        }
        return members;
    }

    private static Long number(Object value) {
        if (value instanceof Number number) {
            return number.longValue();
        }
        throw InvalidField.of("", value + " (expected: a number)");
    }

    /** JSON of a task. */
    public static byte[] json(TaskView task) {
        return Json.write(TASK.toJson(task));
    }

    /** JSON of an event. */
    public static byte[] json(EventView event) {
        return Json.write(EVENT.toJson(event));
    }

    /** JSON of a change. */
    public static byte[] json(Change change) {
        return Json.write(CHANGE.toJson(change));
    }

    /** JSON of a trace. */
    public static byte[] json(Trace trace) {
        return Json.write(TRACE.toJson(trace));
    }

    /** JSON of counts. */
    public static byte[] json(TaskCounts counts) {
        return Json.write(COUNTS.toJson(counts));
    }

    @Override
    public Collection<ExtensionProtocol> protocols() {
        return List.of(PROTOCOL);
    }
}

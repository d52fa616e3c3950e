package dev.parley.activity;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.protocol.json.Codecs.TIMESTAMP;
import static dev.parley.protocol.json.Codecs.WORDS;

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
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.NumberOrText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.store.audit.AuditCodecs;
import dev.parley.store.audit.AuditPosition;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
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

    private static final Codec<TaskState> STATE = Codecs.enumeration(PREFIX, TaskState.class);

    private static final Codec<TaskView> TASK = ObjectCodec.<TaskView>of()
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
            .required("events", COUNT, TaskView::events)
            .optional("artifacts", INT, TaskView::artifacts)
            .as(v -> new TaskView(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next(), v.next(), v.next()));

    private static final ObjectCodec<TaskPage> PAGE = ObjectCodec.<TaskPage>of()
            .always("tasks", Codecs.list(TASK), List.of(), TaskPage::tasks)
            .optional("next", TEXT, TaskPage::next)
            .as(v -> new TaskPage(v.next(), v.next()));

    private static final Codec<EventView> EVENT = ObjectCodec.<EventView>of()
            .required("number", COUNT, EventView::number)
            .required("at", TIMESTAMP, EventView::at)
            .required("event", STRUCT, EventView::event)
            .as(v -> new EventView(v.next(), v.next(), v.next()));

    private static final ObjectCodec<History> HISTORY = ObjectCodec.<History>of()
            .required("task", TASK, History::task)
            .always("events", Codecs.list(EVENT), List.of(), History::events)
            .optional("next", COUNT, History::next)
            .as(v -> new History(v.next(), v.next(), v.next()));

    private static final Codec<Map<String, Long>> NUMBERS = Codecs.map(COUNT);

    private static final Codec<AgentCounts> OF_AGENT = ObjectCodec.<AgentCounts>of()
            .required("agent", TEXT, AgentCounts::agent)
            .always("states", NUMBERS, Map.of(), AgentCounts::states)
            .as(v -> new AgentCounts(v.next(), v.next()));

    private static final ObjectCodec<TaskCounts> COUNTS = ObjectCodec.<TaskCounts>of()
            .always("states", NUMBERS, Map.of(), TaskCounts::states)
            .always("agents", Codecs.list(OF_AGENT), List.of(), TaskCounts::agents)
            .optional("number", NumberOrText.CODEC, "0", TaskCounts::place)
            .as(v -> new TaskCounts(v.next(), v.next(), v.next()));

    private static final ObjectCodec<Change> CHANGE = ObjectCodec.<Change>of()
            .optional("number", AuditCodecs.NUMBER, 0L, Change::number)
            .optional("place", TEXT, Change::place)
            .required("at", TIMESTAMP, Change::at)
            // A gap for kinds of newer hubs, whose changes a reader of this version misses.
            .required("kind", Codecs.words(Change.Kind.class, Change.Kind.GAP), Change::kind)
            .optional("taskId", TEXT, Change::taskId)
            .optional("agent", TEXT, Change::agent)
            .optional("contextId", TEXT, Change::contextId)
            .optional("state", STATE, Change::state)
            .optional("before", STATE, Change::before)
            .optional("caller", TEXT, Change::caller)
            .optional("trace", TEXT, Change::trace)
            .optional("group", TEXT, Change::group)
            .optional("text", TEXT, Change::text)
            .optional("change", Codecs.words(Change.Hosting.class), Change::change)
            .as(v -> new Change(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next(), v.next(), v.next(), v.next()));

    private static final Codec<SpanEvent> SPAN_EVENT = ObjectCodec.<SpanEvent>of()
            .required("at", TIMESTAMP, SpanEvent::at)
            .required("kind", Codecs.words(SpanEvent.Kind.class), SpanEvent::kind)
            .optional("state", STATE, SpanEvent::state)
            .optional("text", TEXT, SpanEvent::text)
            .as(v -> new SpanEvent(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Span> SPAN = ObjectCodec.<Span>of()
            .required("id", TEXT, Span::id)
            .optional("parent", TEXT, Span::parent)
            .required("kind", Codecs.words(Span.Kind.class), Span::kind)
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

    private static final ObjectCodec<Trace> TRACE = ObjectCodec.<Trace>of()
            .optional("trace", TEXT, Trace::trace)
            .always("spans", Codecs.list(SPAN), List.of(), Trace::spans)
            .optional("hasMore", Codecs.BOOLEAN, false, Trace::hasMore)
            .optional("link", TEXT, Trace::link)
            .as(v -> new Trace(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Set<TaskState>> STATES =
            Codecs.via(WORDS, ActivityProtocol::states, ActivityProtocol::typed);

    private static final String AGENT_HELP = "An agent of the hub.";

    private static final Codec<String> PLACE =
            Codecs.via(AuditCodecs.PLACE, AuditPosition::toString, AuditPosition::read);

    private static Codec<Integer> count(int most) {
        return Codecs.via(Codecs.number(1, most), Long::intValue, Integer::longValue);
    }

    private static <T> ObjectCodec.Builder<T> reach(ObjectCodec.Builder<T> shape, Function<T, Reach> reach) {
        return shape.optional("group", WORDS, of -> reach.apply(of).group())
                .help("GROUP", "Another group, or * for all; needs the scope admin.")
                .optional("owner", WORDS, of -> reach.apply(of).owner())
                .help("NAME", "Owner of the tasks; needs the scope admin.");
    }

    private static Reach reach(ObjectCodec.Values v) {
        return new Reach(v.next(), v.next());
    }

    private static final ObjectCodec<FindTasks> FIND = reach(
                    ObjectCodec.<FindTasks>of()
                            .optional("agent", WORDS, FindTasks::agent)
                            .help("NAME", AGENT_HELP)
                            .optional("contextId", WORDS, FindTasks::contextId)
                            .help("ID", "Context of the tasks.")
                            .optional("state", STATES, Set.of(), FindTasks::states)
                            .help("STATE[,STATE]", "States of the tasks, such as working or TASK_STATE_WORKING.")
                            .optional("caller", WORDS, FindTasks::caller)
                            .help("NAME", "Principal that began the tasks.")
                            .optional("since", TIME, FindTasks::since)
                            .help("WHEN", "Earliest time of the status of the tasks.")
                            .optional("until", TIME, FindTasks::until)
                            .help("WHEN", "Latest time of the status of the tasks.")
                            .optional("q", WORDS, FindTasks::words)
                            .help("WORDS", "Words in the title, the status, the agent or an id.")
                            .optional("after", WORDS, FindTasks::after)
                            .help("TOKEN", "Member next of the previous page.")
                            .optional("pageSize", count(MAX_PAGE), FindTasks::pageSize)
                            .help("COUNT", "Limit of the tasks; default 50."),
                    FindTasks::reach)
            .as(v -> new FindTasks(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), reach(v)))
            .strict();

    private static final ObjectCodec<CountTasks> COUNT_TASKS = reach(
                    ObjectCodec.<CountTasks>of()
                            .optional("agent", WORDS, CountTasks::agent)
                            .help("NAME", AGENT_HELP),
                    CountTasks::reach)
            .as(v -> new CountTasks(v.next(), reach(v)))
            .strict();

    private static final ObjectCodec<ReadHistory> READ = reach(
                    ObjectCodec.<ReadHistory>of()
                            .required("taskId", TEXT, ReadHistory::taskId)
                            .argument("TASK-ID", "The task.")
                            .optional("after", COUNT, 0L, ReadHistory::after)
                            .help("NUMBER", "Number of the last event of the page before.")
                            .optional("limit", count(MAX_EVENTS), ReadHistory::limit)
                            .help("COUNT", "Limit of the events; default 100."),
                    ReadHistory::reach)
            .as(v -> new ReadHistory(v.next(), v.<Long>next(), v.next(), reach(v)))
            .strict();

    private static final ObjectCodec<WatchChanges> WATCH = reach(
                    ObjectCodec.<WatchChanges>of()
                            .optional("agent", WORDS, WatchChanges::agent)
                            .help("NAME", AGENT_HELP)
                            .optional("taskId", WORDS, WatchChanges::taskId)
                            .help("ID", "A task.")
                            .optional("after", PLACE, WatchChanges::after)
                            .help("PLACE", "Id of the last change that the caller has, 0 for none; default: new ones."),
                    WatchChanges::reach)
            .as(v -> new WatchChanges(v.next(), v.next(), v.next(), reach(v)))
            .strict();

    private static final ObjectCodec<ReadTrace> READ_TRACE = reach(
                    ObjectCodec.<ReadTrace>of()
                            .required("trace", TEXT, ReadTrace::trace)
                            .argument("TRACE", "Id of a W3C trace, or of a task."),
                    ReadTrace::reach)
            .as(v -> new ReadTrace(v.next(), reach(v)))
            .strict();

    /** The operations. */
    public static final ExtensionProtocol PROTOCOL = ExtensionProtocol.of(
            ExtensionUri.permanent("/extensions/activity/v1"),
            ExtensionMethod.call("activity/tasks", FindTasks.class, FIND, PAGE)
                    .rest("GET /activity/tasks")
                    .described("List tasks over all agents, the newest status first"),
            ExtensionMethod.call("activity/counts", CountTasks.class, COUNT_TASKS, COUNTS)
                    .rest("GET /activity/counts")
                    .described("Count tasks by agent and state"),
            ExtensionMethod.call("activity/task", ReadHistory.class, READ, HISTORY)
                    .rest("GET /activity/tasks/{taskId}")
                    .described("Read a task and its events with their numbers and times")
                    .content(history ->
                            history.events().stream().map(EventView::event).toList()),
            ExtensionMethod.call("activity/trace", ReadTrace.class, READ_TRACE, TRACE)
                    .rest("GET /activity/traces/{trace}")
                    .described("Read the tasks of a trace as spans"),
            ExtensionMethod.stream("activity/changes", WatchChanges.class, WATCH, CHANGE)
                    .rest("GET /activity/changes")
                    .described("Stream the changes of tasks and agents")
                    .resumable(
                            Change::position,
                            (watch, id) -> new WatchChanges(watch.agent(), watch.taskId(), id, watch.reach())));

    /**
     * States as they are typed: names of the protocol, or words such as {@code input-required}.
     *
     * @param typed separated by commas; null for none
     * @throws InvalidField for another one
     */
    public static Set<TaskState> states(@Nullable String typed) {
        Set<TaskState> states = EnumSet.noneOf(TaskState.class);
        for (String each : typed == null ? new String[0] : typed.split(",", -1)) {
            states.add(TaskState.named(each)
                    .orElseThrow(() -> InvalidField.of(
                            "", '"' + each + "\": unknown (expected: such as TASK_STATE_WORKING,TASK_STATE_FAILED)")));
        }
        return states;
    }

    private static String typed(Set<TaskState> states) {
        return states.stream().map(state -> PREFIX + state.name()).sorted().collect(Collectors.joining(","));
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

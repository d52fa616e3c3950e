package dev.parley.mesh;

import static dev.parley.protocol.extension.RestParameter.query;

import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.extension.MethodCall;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Views of a group's mesh: its agents, connections and events. The agent {@code one} answers them. */
public final class MeshViews {
    public static final String ENTITIES = "one/entities";
    public static final String CONNECTIONS = "one/connections";
    public static final String EVENTS = "one/events";
    public static final String AGENTS = "one/agents";

    /** Largest page of events and connections. */
    public static final int MAX_PAGE = 1_000;

    /**
     * Watches events.
     *
     * @param filter members of the view of events
     * @param after number of the last event that the caller has; 0 for none, -1 for new ones only
     */
    public record WatchEvents(Map<String, @Nullable Object> filter, long after)
            implements Operation.ExtensionWatch<Map<String, Object>> {
        @Override
        public String name() {
            return "one/events/watch";
        }
    }

    private static final String NUMBER = "number";

    private static final RestParameter CAPABILITY =
            query("capability", Type.TEXT, "TASK", "Id, tag or name of a skill of the agent.");
    private static final RestParameter TAG = query("tag", Type.TEXT, "TAG", "Tag of a skill of the agent.");
    private static final RestParameter WORDS = query("q", Type.TEXT, "WORDS", "Words of the agent's description.");
    private static final RestParameter AGENT = query("agentId", Type.TEXT, "AGENT", "An agent that takes part.");
    private static final RestParameter TYPE = query("type", Type.TEXT, "TYPE", "Type of the rows.");
    private static final RestParameter SIZE = query("pageSize", Type.NUMBER, "COUNT", "Limit of the rows; default 100.")
            .atMost(MAX_PAGE);

    private static final Map<String, Object> OBJECT = Map.of("type", "object");

    /** The rows of the views. */
    public static final List<ExtensionMethod<?, ?>> METHODS = List.of(
            view(
                    ENTITIES,
                    "GET /entities",
                    "List the agents or tasks of the group as entities",
                    query("type", Type.TEXT, "TYPE", "agent or task; default agent."),
                    CAPABILITY,
                    TAG,
                    WORDS,
                    AGENT,
                    SIZE),
            view(
                    CONNECTIONS,
                    "GET /connections",
                    "List who communicates with and delegates to whom",
                    TYPE,
                    AGENT,
                    SIZE),
            view(
                    EVENTS,
                    "GET /events",
                    "List messages and tasks as events, the oldest first",
                    TYPE,
                    AGENT,
                    query("correlationId", Type.TEXT, "ID", "Correlation id of the messages."),
                    query("taskId", Type.TEXT, "ID", "A task."),
                    query("since", Type.TIME, "TIME", "Time of the first event."),
                    query("after", Type.NUMBER, "NUMBER", "Number of the last event that is not wanted any more."),
                    SIZE),
            view(AGENTS, "GET /agents", "Rank agents for a task, with the reasons", CAPABILITY, TAG, WORDS),
            ExtensionMethod.stream(
                            "one/events/watch",
                            WatchEvents.class,
                            JsonForm.object(MeshViews::watch, WatchEvents::filter),
                            JsonForm.object(MeshViews::members, MeshViews::nullable))
                    .rest("GET /events")
                    .resumable(
                            event -> String.valueOf(event.get(NUMBER)),
                            (watch, id) -> new WatchEvents(watch.filter(), number(id))));

    private MeshViews() {}

    private static ExtensionMethod<MethodCall, Object> view(
            String name, String path, String summary, RestParameter... parameters) {
        return ExtensionMethod.described(
                name, path, new RestDescription(summary, List.of(parameters), OBJECT).strict());
    }

    /** The operations of each agent, and the views. */
    public static ExtensionProtocol protocol() {
        var methods = new ArrayList<ExtensionMethod<?, ?>>(MeshProtocol.PROTOCOL.methods());
        methods.addAll(METHODS);
        return new ExtensionProtocol(
                MeshProtocol.PROTOCOL.uri(), methods, MeshProtocol.PROTOCOL.style(), MeshProtocol.PROTOCOL.errors());
    }

    private static WatchEvents watch(Map<String, @Nullable Object> json) {
        Object after = json.get("after");
        return new WatchEvents(json, after == null ? -1 : number(String.valueOf(after)));
    }

    private static long number(String id) {
        try {
            return Math.max(0, Long.parseLong(id));
        } catch (NumberFormatException foreign) {
            return 0; // no id of this server: all events
        }
    }

    private static Map<String, Object> members(Map<String, @Nullable Object> json) {
        var members = new LinkedHashMap<String, Object>();
        json.forEach((name, value) -> {
            if (value != null) {
                members.put(name, value);
            }
        });
        return members;
    }

    private static Map<String, @Nullable Object> nullable(Map<String, Object> members) {
        return new LinkedHashMap<>(members);
    }
}

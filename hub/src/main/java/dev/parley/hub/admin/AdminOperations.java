package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.ANY;
import static dev.parley.extension.AnswerSchema.COUNT;
import static dev.parley.extension.AnswerSchema.NOTHING;
import static dev.parley.extension.AnswerSchema.TEXT;
import static dev.parley.extension.AnswerSchema.TEXTS;
import static dev.parley.extension.AnswerSchema.TIME;
import static dev.parley.extension.AnswerSchema.TRUTH;
import static dev.parley.extension.AnswerSchema.list;
import static dev.parley.extension.AnswerSchema.object;
import static dev.parley.protocol.extension.RestParameter.member;
import static dev.parley.protocol.extension.RestParameter.path;
import static dev.parley.protocol.extension.RestParameter.query;

import dev.parley.extension.AdminRow;
import dev.parley.extension.HubExtensionSource;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Operations of the administration of a hub, one row for each: routes, authorization, metrics, the audit, {@code /openapi.json} and the
 * commands of the command line are derived from these.
 */
public final class AdminOperations {
    /** Address of all of them, below the one of the hub. */
    public static final String PATH = AdminRow.PATH;

    /** Name of the operation that lists settings. */
    public static final String SETTINGS = "settings";

    private static final int MOST_ROWS = 10_000;
    private static final int MOST_TASKS = 1_000;

    /** A year. */
    private static final long LONGEST_OVERLAP_SECONDS = 365L * 24 * 3_600;

    /** Extensions on the class path. */
    public static final List<HubExtensionSource> INSTALLED =
            ServiceLoader.load(HubExtensionSource.class, HubExtensionSource.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    static final Map<String, Object> GROUP = object("id", TEXT, "made archived?", TIME);
    static final Map<String, Object> USAGE = object("group", TEXT, "bytes", COUNT, "limitBytes?", COUNT);
    static final Map<String, Object> USER = object("group name", TEXT, "made disabled?", TIME);
    static final Map<String, Object> KEY = key("id prefix group principal");
    static final Map<String, Object> NEW_KEY = key("id key prefix group principal");
    static final Map<String, Object> AUDIT_ROW = object(
            "number",
            COUNT,
            "at",
            TIME,
            "group actor action target subject? outcome address? trace?",
            TEXT,
            "detail?",
            ANY,
            "hash",
            TEXT);
    static final Map<String, Object> VERIFICATION = object("good", TRUTH, "rows", COUNT, "end broken?", TEXT);
    static final Map<String, Object> DEAD_WEBHOOK =
            object("taskId configId agent url", TEXT, "attempts", COUNT, "deadSince lastError?", TEXT);
    static final Map<String, Object> WAITING_WEBHOOK =
            object("taskId configId agent url", TEXT, "attempts", COUNT, "nextAttempt?", TIME, "lastError?", TEXT);
    static final Map<String, Object> SETTING =
            object("name type description source", TEXT, "isSecret isSet", TRUTH, "value? origin?", TEXT);
    static final Map<String, Object> WEBHOOK_SECRET = object("group secret", TEXT);
    static final Map<String, Object> UNREADABLE_TASK = object("taskId agent group since reason", TEXT);

    static final Map<String, Object> HUB =
            object("id address version", TEXT, "started drained?", TIME, "running waiting streams agents", COUNT);
    static final Map<String, Object> HEALTH =
            object("made", TIME, "checks", list(object("check level message advice? taskId? agent? group?", TEXT)));

    private static final Map<String, ExtensionMethod<?, ?>> ROWS = new LinkedHashMap<>();

    static {
        hubs();
        members();
        audit();
        webhooks();
        privacy();
        row(
                SETTINGS,
                "GET /settings",
                "Show the settings of a running hub and their sources",
                object("settings", list(SETTING)));
        INSTALLED.forEach(source -> source.administration().forEach(row -> ROWS.put(row.name(), row)));
    }

    private AdminOperations() {}

    private static void hubs() {
        RestParameter hub = path("hub", "ID", "Id of the hub as the list has it; \"this\" for the one that answers.");
        row("hubs/list", "GET /hubs", "List the hubs that run", object("hubs", list(HUB)));
        row(
                "hubs/check",
                "GET /hubs/{hub}/health",
                "Check database, disk, queues and parts of a hub",
                HEALTH,
                hub,
                query("fresh", Type.TRUTH, "", "Run the checks again, in place of the last result."));
        row("hubs/drain", "POST /hubs/{hub}/drain", "Refuse new tasks until the hub is resumed or restarted", HUB, hub);
        row("hubs/resume", "POST /hubs/{hub}/resume", "Take new tasks again", HUB, hub);
    }

    private static void members() {
        RestParameter inGroup = query("group", Type.TEXT, "GROUP", "Only of this group.");
        RestParameter id = path("id", "KEY-ID", "The id of the key, not the key.");

        row("groups/list", "GET /groups", "List them", object("groups", list(GROUP)));
        row(
                "groups/usage",
                "GET /groups/usage",
                "Show the bytes that groups keep, and their limits",
                object("groups", list(USAGE)));
        row(
                "groups/create",
                "POST /groups",
                "Create a group",
                GROUP,
                member("id", Type.TEXT, "GROUP", "Its id, such as the name of a company.")
                        .asArgument());
        RestParameter theGroup = path("id", "GROUP", "The group.");
        row("groups/archive", "POST /groups/{id}/archive", "Disable all members of a group", GROUP, theGroup);
        row("groups/restore", "POST /groups/{id}/restore", "Enable the members of a group again", GROUP, theGroup);

        row("users/list", "GET /users", "List them", object("users", list(USER)), inGroup);
        row(
                "users/create",
                "POST /users",
                "Create a user",
                USER,
                member("group", Type.TEXT, "GROUP", "The group; made if missing.")
                        .asArgument(),
                member("name", Type.TEXT, "NAME", "The user.").asArgument());
        RestParameter ofGroup = path("group", "GROUP", "The group.");
        RestParameter name = path("name", "NAME", "The user.");
        row("users/disable", "POST /users/{group}/{name}/disable", "Disable a user", USER, ofGroup, name);
        row("users/enable", "POST /users/{group}/{name}/enable", "Enable a user", USER, ofGroup, name);

        row("keys/list", "GET /keys", "List them", object("keys", list(KEY)), inGroup);
        row(
                "keys/create",
                "POST /keys",
                "Create a key; it is shown once",
                NEW_KEY,
                member("group", Type.TEXT, "GROUP", "Group whose data the key gives access to; made if missing.")
                        .asRequired(),
                member("principal", Type.TEXT, "NAME", "Principal that calls with the key; made if missing.")
                        .asRequired(),
                member("scopes", Type.TEXTS, "SCOPE", "Scope of the key; admin is for operators. Repeatable.")
                        .flag("--scope"),
                member("expires", Type.TIME, "WHEN", "A duration such as 90d, or a date or time; default: never."));
        row(
                "keys/rotate",
                "POST /keys/{id}/rotate",
                "Create the successor of a key",
                NEW_KEY,
                id,
                member("overlapSeconds", Type.NUMBER, "DURATION", "How long the old key stays valid; default: 24h.")
                        .flag("--overlap")
                        .atMost(LONGEST_OVERLAP_SECONDS));
        row("keys/revoke", "POST /keys/{id}/revoke", "Revoke a key", KEY, id);
    }

    private static Map<String, Object> key(String texts) {
        return object(texts, TEXT, "scopes", TEXTS, "made expires? revoked? lastUse?", TIME, "successor?", TEXT);
    }

    private static void audit() {
        row(
                "audit/query",
                "GET /audit",
                "Show rows by group, actor, action, target or time",
                object("rows", list(AUDIT_ROW), "next?", COUNT),
                query("group", Type.TEXT, "GROUP", "Rows of one group."),
                query("actor", Type.TEXT, "NAME", "Actions of one principal, even if its name was erased."),
                query("action", Type.TEXT, "ACTION", "Such as task.created or key.revoked."),
                query("target", Type.TEXT, "ID", "Actions on one task, key, graph, …"),
                query("subject", Type.TEXT, "GROUP/NAME", "Actions that concern one member."),
                query("since", Type.TIME, "TIME", "Such as 2027-01-31T12:00:00Z."),
                query("after", Type.NUMBER, "NUMBER", "Rows behind this number."),
                query("limit", Type.NUMBER, "ROWS", "How many rows at most; default: 100.")
                        .atMost(MOST_ROWS));
        row("audit/newest", "GET /audit/newest", "Show the number of the newest row", object("number", COUNT));
        row("audit/verify", "GET /audit/verify", "Verify that no row was changed", VERIFICATION);
    }

    private static void webhooks() {
        RestParameter task = path("taskId", "TASK-ID", "The task.");
        RestParameter config = path("configId", "CONFIG-ID", "The webhook.");
        row("webhooks/dead", "GET /webhooks/dead", "List them", object("webhooks", list(DEAD_WEBHOOK)));
        row(
                "webhooks/waiting",
                "GET /webhooks/waiting",
                "List webhooks that failed and are tried again",
                object("webhooks", list(WAITING_WEBHOOK)));
        row(
                "webhooks/redeliver",
                "POST /webhooks/{taskId}/{configId}/redeliver",
                "Deliver them again",
                NOTHING,
                task,
                config);
        row( // a POST, because a page of another site can send a GET
                "webhooks/secret",
                "POST /webhooks/secret",
                "Show the secret that signs a group's webhooks",
                WEBHOOK_SECRET,
                member("group", Type.TEXT, "GROUP", "The group of the callers; default: default."));
        row(
                "tasks/unreadable",
                "GET /tasks/unreadable",
                "List interrupted tasks that cannot be read",
                object("tasks", list(UNREADABLE_TASK)));
    }

    private static void privacy() {
        RestParameter principal = query("principal", Type.TEXT, "NAME", "The principal, as its keys or tokens name it.")
                .flag("--subject");
        RestParameter group = query("group", Type.TEXT, "GROUP", "Its group; default: default.");
        RestParameter context = query("contextId", Type.TEXT, "ID", "Only this context, of any owner.")
                .flag("--context");
        row(
                "privacy/tasks",
                "GET /privacy/tasks",
                "List the tasks of a principal or a context",
                object("tasks", list(ANY)),
                principal,
                group,
                context,
                query("after", Type.TEXT, "ID", "Tasks behind this one."),
                query("limit", Type.NUMBER, "TASKS", "How many at most; default: 100.")
                        .atMost(MOST_TASKS));
        row(
                "privacy/erase",
                "POST /privacy/erase",
                "Erase the data of a user for good",
                object("keys? tasks statements? auditRows?", COUNT, "pending?", TEXT),
                principal,
                group,
                context,
                query("statements", Type.TRUTH, "", "Also remove statements that only this principal made.")
                        .flag("--with-statements"));
    }

    private static void row(
            String name, String place, String summary, Map<String, Object> answer, RestParameter... parameters) {
        ROWS.put(AdminRow.fullName(name), AdminRow.of(name, place, summary, answer, parameters));
    }

    /** Names of all operations: the key of policies, metrics, traces and the audit. */
    public static Set<String> names() {
        return Set.copyOf(ROWS.keySet());
    }

    /** The operation of that name; null if there is none. */
    public static @Nullable ExtensionMethod<?, ?> named(String name) {
        return ROWS.get(name);
    }

    /**
     * Names behind {@code admin/privacy/} of the operations that list what the hub and its extensions hold about a principal, by pages, except
     * for tasks.
     */
    public static List<String> personalData() {
        String reading = "GET " + PATH + "/privacy/";
        return ROWS.values().stream()
                .filter(row -> row.rest().startsWith(reading))
                .map(row -> row.rest().substring(reading.length()))
                .filter(what -> !what.equals("tasks"))
                .toList();
    }

    /** Whether an operation changes something, or returns a secret. */
    static boolean changes(String name) {
        ExtensionMethod<?, ?> row = ROWS.get(name);
        return row != null && row.rest().startsWith("POST ");
    }

    /** The operations of these names, in the order of the table; those of other extensions at its end. */
    static ExtensionProtocol protocol(Collection<String> names, List<HubExtensionSource> extensions) {
        var rows = new LinkedHashMap<>(ROWS);
        extensions.forEach(source -> source.administration().forEach(row -> rows.put(row.name(), row)));
        return ExtensionProtocol.of(
                PATH,
                rows.values().stream().filter(one -> names.contains(one.name())).toArray(ExtensionMethod[]::new));
    }
}

package dev.parley.bench;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One line of the tables: the measured value, its place in a run's document, and its goal.
 *
 * @param pointer JSON pointer to the value; for a share, the id of the figure that it is a share of
 * @param scale by which the value is divided to be in {@code unit}
 * @param goal null if it is measured for comparison only
 */
record Figure(
        String id,
        String title,
        String unit,
        String pointer,
        double scale,
        @Nullable Goal goal) {
    private static final String RATE = "/result/requestsPerSecond";
    private static final String MEMORY = "/result/serverResidentBytes";
    private static final double MEGA = 1e6;

    /** Goal for a value. */
    record Goal(boolean atLeast, double value) {
        boolean isMetBy(double measured) {
            return atLeast ? measured >= value : measured <= value;
        }

        @Override
        public String toString() {
            return (atLeast ? "≥ " : "≤ ") + number(value);
        }
    }

    /** All figures, in the order of the tables. */
    static final List<Figure> ALL = List.of(
            rate("bare-64", "bare HTTP server, JSON in and out, 64 connections", null),
            rate("ping-64", "SendMessage answered by a message (`ping`), 64 connections", null),
            share("ping-share", "the same as a share of the bare server", "ping-64", "bare-64", atLeast(0.75)),
            new Figure("wrk-bare", "bare HTTP server by wrk, 64 connections", "requests/s", "/value", 1, null),
            new Figure("wrk-ping", "SendMessage to `ping` by wrk, 64 connections", "requests/s", "/value", 1, null),
            latency("bare-durable-1", "bare durable server, one client: median", "p50", null),
            rate("bare-durable-64", "bare durable server, 64 connections", null),
            latency("bare-durable-64", "the same: 99th percentile", "p99", null),
            latency("echo-1", "durable SendMessage (`echo`), one client: median", "p50", atMost(0.45)),
            share("one-share", "the same, of the bare durable server", "echo-1", "bare-durable-1", atMost(1.15)),
            rate("echo-64", "durable SendMessage (`echo`), 64 connections", atLeast(18_000)),
            latency("echo-64", "the same: 99th percentile", "p99", atMost(12)),
            share(
                    "durable-share",
                    "the same as a share of the bare durable server",
                    "echo-64",
                    "bare-durable-64",
                    atLeast(0.85)),
            share(
                    "tail-share",
                    "its 99th percentile, of that of the bare durable server",
                    "echo-64:p99",
                    "bare-durable-64:p99",
                    atMost(1.5)),
            rate("get-64", "GetTask, 64 connections", atLeast(30_000)),
            streams("bare-stream-100", "bare stream server, 100 streams, durable", null),
            streams("stream-100", "events on 100 streams of `chatty` tasks, durable", atLeast(200_000)),
            share(
                    "stream-share",
                    "the same as a share of the bare stream server",
                    "stream-100",
                    "bare-stream-100",
                    atLeast(0.9)),
            jars("ping", "all", "gateway, mesh, MCP, pipelines and registry"),
            jars("echo", "all", "gateway, mesh, MCP, pipelines and registry"),
            jars("ping", "gateway", "the gateway"),
            jars("echo", "gateway", "the gateway"),
            jars("ping", "mcp", "MCP"),
            jars("echo", "mcp", "MCP"),
            jars("ping", "mesh", "the mesh"),
            jars("echo", "mesh", "the mesh"),
            jars("ping", "registry", "the registry"),
            jars("echo", "registry", "the registry"),
            latency("gateway-direct-1", "`ping` without a proxy, one client: median", "p50", null),
            latency("gateway-nginx-1", "the same through nginx", "p50", null),
            latency("gateway-hub-1", "the same through the gateway", "p50", null),
            rate("gateway-direct-64", "`ping` without a proxy, 64 connections", null),
            rate("gateway-nginx-64", "the same through nginx", null),
            rate("gateway-hub-64", "the same through the gateway", atLeast(15_000)),
            streams("gateway-direct-streams", "events on 1,000 streams without a proxy", null),
            streams("gateway-nginx-streams", "the same through nginx", null),
            streams("gateway-hub-streams", "the same through the gateway", null),
            share(
                    "gateway-streams",
                    "the same as a share of those without a proxy",
                    "gateway-hub-streams",
                    "gateway-direct-streams",
                    atLeast(0.6)),
            latency("mcp-send-1", "durable SendMessage (`echo`) beside the next line, one client: median", "p50", null),
            latency("mcp-call-1", "the same agent as a tool of MCP (`tools/call`)", "p50", null),
            rate("mcp-send-64", "durable SendMessage beside the next line, 64 connections", null),
            rate("mcp-call-64", "the same agent as a tool of MCP", null),
            rateOfV1("grpc", "durable SendMessage over gRPC"),
            timeOfV1("grpc"),
            rateOfV1("v03", "the same in 0.3"),
            timeOfV1("v03"),
            rateOfV1("v03-rest", "the same in 0.3 over REST"),
            timeOfV1("v03-rest"),
            rateOfV1("v03-grpc", "the same in 0.3 over gRPC"),
            timeOfV1("v03-grpc"),
            rateOfV1("v02", "the same in 0.2"),
            timeOfV1("v02"),
            rateOfV1("v01", "the same in 0.1"),
            timeOfV1("v01"),
            rateOfV1("kernel", "the same by the Agentic Kernel"),
            timeOfV1("kernel"),
            rateOfV1("agentvault", "the same by AgentVault"),
            timeOfV1("agentvault"),
            timeOfOpen("key", "`ping` for callers with an API key"),
            timeOfOpen("token", "the same for callers with a token (JWT) of the hub"),
            timeOfOpen("issuer", "the same with a token of another issuer (RS256, OpenID Connect discovery)"),
            latency("fair-busy-alone", "one caller of an agent with room for 8 tasks of 20 ms each", "p99", null),
            latency("fair-busy-beside", "the same beside 64 callers of another group", "p99", null),
            share("fair-busy", "how much slower that is", "fair-busy-beside", "fair-busy-alone", atMost(1.5)),
            latency("fair-ping-alone", "one caller of `ping`", "p99", null),
            latency("fair-ping-beside", "the same beside 64 callers of another group", "p99", null),
            share("fair-ping", "how much slower that is", "fair-ping-beside", "fair-ping-alone", atMost(2)),
            neighbour("connections", "64 connections that send"),
            neighbour("get", "a caller that gets a task of 18 MB"),
            neighbour("graphql", "a caller that asks for incoming statements, 50 times 3 deep"),
            neighbour("pattern", "a caller that searches texts, 30 times"),
            neighbour("sparql", "a caller that joins all statements in SPARQL"),
            neighbour("shacl", "a caller with SHACL shapes of chains of chains"),
            neighbour("update", "a caller that writes 1,000 statements at a time"),
            neighbour("message", "a caller that sends 9 MB at a time"),
            neighbour("parts", "a caller that sends 150,000 parts at a time"),
            new Figure(
                    "workflow-64",
                    "steps of workflows of 10 steps in a row, 64 runs at a time",
                    "steps/s",
                    RATE,
                    0.1,
                    atLeast(1_500)),
            new Figure(
                    "workflow-1",
                    "time for each of these steps, one run at a time: median",
                    "ms",
                    "/result/latencyMilliseconds/p50",
                    10,
                    atMost(2)),
            new Figure(
                    "priority-shares",
                    "deviation of a priority's share of a saturated agent from its weight (8:4:2:1), the largest",
                    "%",
                    "/value",
                    1,
                    atMost(10)),
            rate("registry-register", "registration of agents with new cards, durable, 64 connections", atLeast(500)),
            rate("registry-lookup", "entry by its id, of 10,000 agents, 64 connections", atLeast(20_000)),
            rate("registry-search", "search by words, of 10,000 agents, 64 connections", atLeast(2_000)),
            rate("registry-search-probed", "the same while the hub probes these agents", null),
            new Figure("registry-ready", "start of a hub with 100,000 registered agents", "s", "/value", 1, atMost(2)),
            latency("registry-search-100k", "search by words, of 100,000 agents, one caller: median", "p50", null),
            latency("registry-search-100k", "the same: 95th percentile", "p95", atMost(20)),
            new Figure("registry-search-100k", "the same: memory of the hub", "MB", MEMORY, MEGA, null),
            latency("registry-search-100k-first", "… in the first 20 s of the hub: 95th percentile", "p95", null),
            times("postgresql-share", "durable SendMessage of a lone hub on PostgreSQL", "of that on SQLite", 0.85),
            times("cluster-share", "the same of one hub of a cluster", "of a lone hub on PostgreSQL", 0.6),
            times("hubs-share", "the same of two hubs of a cluster", "of one, on the same two cores", 1.2),
            latency(
                    "remote-event",
                    "event of a task that another hub runs, after its own hub: median",
                    "p50",
                    atMost(10)),
            latency("remote-event", "the same: 99th percentile", "p99", atMost(35)),
            new Figure(
                    "takeover-10000",
                    "takeover of 10,000 tasks of a killed hub, from the end of its lease",
                    "s",
                    "/value",
                    1,
                    atMost(2)),
            new Figure("idle-statements", "statements of an idle hub of a cluster", "a second", "/value", 1, atMost(5)),
            new Figure(
                    "idle-stream-statements", "further ones of an idle stream", "a second", "/value", 1, atMost(0.001)),
            latency("list-1m", "ListTasks, first page of 1,000,000 tasks: median", "p50", atMost(10)),
            latency("list-1m", "ListTasks, first page of 1,000,000 tasks: 99th percentile", "p99", atMost(10)),
            latency("chunks-1000", "one artifact in 1,000 chunks, to the end of the stream", "p50", null),
            latency("chunks-10000", "one artifact in 10,000 chunks, to the end of the stream", "p50", null),
            share("chunks-time", "time for ten times the chunks", "chunks-10000", "chunks-1000", atMost(12)),
            new Figure("disk-1000", "on disk for 1,000 chunks", "kB", "/value", 1e3, null),
            new Figure("disk-10000", "on disk for 10,000 chunks", "kB", "/value", 1e3, null),
            share("chunks-disk", "disk for ten times the chunks", "disk-10000", "disk-1000", atMost(12)),
            new Figure(
                    "kg-import",
                    "statements read into a graph of 200,000, beside no hub",
                    "statements/s",
                    "/value",
                    1,
                    atLeast(60_000)),
            latency(
                    "kg-entity-1",
                    "knowledge/query of an entity with 10 statements, of 200,000: median",
                    "p50",
                    atMost(1)),
            rate("kg-entity-64", "the same, 64 connections", atLeast(5_000)),
            latency("kg-hops-1", "two hops with certainty ≥ 0.8: median", "p50", atMost(2)),
            latency("kg-update-1", "knowledge/update of one patch, durable: median", "p50", atMost(2)),
            rate("kg-update-64", "the same, 64 connections", atLeast(1_500)),
            latency("kg-fan-out", "a change reaches 100 subscribers: 99th percentile", "p99", atMost(50)),
            latency("kg-5m-entity-1", "knowledge/query of an entity, of 5,000,000 statements: median", "p50", null),
            share("kg-5m-entity", "the same against 200,000", "kg-5m-entity-1", "kg-entity-1", atMost(2)),
            latency("kg-5m-hops-1", "two hops, of 5,000,000 statements: median", "p50", null),
            share("kg-5m-hops", "the same against 200,000", "kg-5m-hops-1", "kg-hops-1", atMost(2)),
            new Figure("idle-rss", "memory of an idle hub", "MB", "/value", MEGA, atMost(200)),
            new Figure(
                    "idle-5000", "idle streams that stay open, of 5,000", "streams", "/result/held", 1, atLeast(5_000)),
            new Figure("idle-5000", "memory with 5,000 idle streams", "MB", MEMORY, MEGA, atMost(700)),
            new Figure("rss-1m", "memory after 1,000,000 durable tasks", "MB", MEMORY, MEGA, atMost(350)),
            held("removal-alone", "the writer's processor time for one group, at most: one caller", null),
            held("removal-erase-one", "the same while 1 task is erased, of 1,000,000", atMost(20)),
            held("removal-erase-thousand", "the same while 1,000 tasks are erased", atMost(20)),
            held("removal-erase-tenth", "the same while 100,000 tasks are erased", atMost(20)),
            held("removal-expire", "the same while 1,000,000 tasks expire", atMost(20)),
            new Figure("ready", "from start to ready", "s", "/value", 1, atMost(1.2)),
            new Figure("ready-aot", "from start to ready, with the JDK's AOT cache", "s", "/value", 1, atMost(0.6)));

    private static Figure rate(String id, String title, @Nullable Goal goal) {
        return new Figure(id, title, "requests/s", RATE, 1, goal);
    }

    /** Calls for a second of the hub's processor time with modules that they do not use, as a share of those without. */
    private static Figure jars(String agent, String name, String modules) {
        return new Figure(
                "jars-" + agent + "-" + name,
                "calls of `" + agent + "` for a second of processor time with " + modules,
                "of those without",
                "/value",
                1,
                atLeast(0.98));
    }

    private static Figure latency(String id, String title, String percentile, @Nullable Goal goal) {
        return new Figure(id, title, "ms", "/result/latencyMilliseconds/" + percentile, 1, goal);
    }

    /** Duration of a message beside a caller of another group, as a multiple of that without others. */
    private static Figure neighbour(String kind, String title) {
        return new Figure(
                "neighbour-" + kind,
                "99th percentile of a message beside " + title + ", divided by that without",
                "times",
                "/result/times",
                1,
                atMost(2));
    }

    /** A rate as a multiple of another one, measured in turns. */
    private static Figure times(String id, String title, String base, double goal) {
        return new Figure(id, title, base, "/value", 1, atLeast(goal));
    }

    private static Figure held(String id, String title, @Nullable Goal goal) {
        return new Figure(id, title, "ms", "/writerProcessorMilliseconds/max", 1, goal);
    }

    private static Figure share(String id, String title, String of, String base, Goal goal) {
        return new Figure(id, title, of + " ÷ " + base, base, 0, goal);
    }

    /** The rate of a dialect, of which that of 1.0 just before is the measure. */
    private static Figure streams(String id, String title, @Nullable Goal goal) {
        return new Figure(id, title, "events/s", "/result/eventsPerSecond", 1, goal);
    }

    private static Figure rateOfV1(String dialect, String title) {
        return new Figure("dialect-" + dialect, title, "of 1.0", "/value", 1, atLeast(0.8));
    }

    /** The processor time of the server for each request of that dialect, as many times that of 1.0. */
    private static Figure timeOfV1(String dialect) {
        return new Figure("dialect-" + dialect + "-time", "… processor time", "of 1.0", "/value", 1, atMost(1.25));
    }

    /** Time of a request with credentials, relative to one without. */
    private static Figure timeOfOpen(String credential, String title) {
        return new Figure(
                "auth-" + credential,
                title,
                "times the time of callers without credentials",
                "/value",
                1,
                atMost(credential.equals("key") ? 1.15 : 1.25));
    }

    private static Goal atLeast(double value) {
        return new Goal(true, value);
    }

    private static Goal atMost(double value) {
        return new Goal(false, value);
    }

    /** True if the value is one median divided by another instead of something measured. */
    boolean isShare() {
        return scale == 0;
    }

    /** For a share: the figure above the line. */
    String dividend() {
        return unit.substring(0, unit.indexOf(' '));
    }

    /** A number as people read it: three digits, or all of a large one. */
    static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value)
                .replaceAll("(\\.\\d*?)0+$", "$1")
                .replaceAll("\\.$", "");
    }
}

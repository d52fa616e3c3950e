package dev.parley.mcp.agent;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations of the administration on MCP servers: their requests, their answers, and a row for each. */
final class ServerOperation {
    private ServerOperation() {}

    @AdminCall.Named("mcp/tools")
    record ListServers() implements AdminCall<List<ServerView>> {}

    @AdminCall.Named("mcp/servers/log")
    record ShowLog(String server) implements AdminCall<List<LogLine>> {}

    /**
     * Approves new and changed tools.
     *
     * @param tool null for all
     * @param digest begin of that of the definition; null for any
     */
    @AdminCall.Named("mcp/tools/approve")
    record ApproveTools(
            String server, @Nullable String tool, @Nullable String digest) implements AdminCall<List<String>> {}

    enum ServerState {
        CONNECTED,
        UNREACHABLE,
        /** The hub has not hosted it. */
        UNUSABLE
    }

    enum ToolState {
        APPROVED,
        NEW,
        CHANGED
    }

    /**
     * An MCP server of a hub.
     *
     * @param restarts of its program
     * @param problem why it cannot be called; null for none
     * @param lastProblem newest one, which may be over; null for none
     */
    record ServerView(
            String name,
            ServerState state,
            long restarts,
            @Nullable String problem,
            @Nullable String lastProblem,
            List<ToolView> tools) {}

    /**
     * A tool of an MCP server.
     *
     * @param digest of the definition that waits, else of the approved one
     * @param pinned digest of the approved definition; null for none
     * @param description of the approved definition; null for none
     * @param differences members in which the waiting definition differs from the approved one, with both values; null for none
     * @param change the definition that waits, as MCP has it; null for none
     */
    record ToolView(
            String name,
            ToolState state,
            String digest,
            @Nullable String pinned,
            @Nullable String description,
            @Nullable Map<String, @Nullable Object> differences,
            @Nullable Map<String, @Nullable Object> change) {}

    /** A line that the program of a server wrote to its standard error. */
    record LogLine(Instant at, String text) {}

    private static final Codec<ToolView> TOOL = ObjectCodec.<ToolView>of()
            .required("name", TEXT, ToolView::name)
            .required("state", Codecs.words(ToolState.class), ToolView::state)
            .required("digest", TEXT, ToolView::digest)
            .optional("pinned", TEXT, ToolView::pinned)
            .optional("description", TEXT, ToolView::description)
            .optional("differences", STRUCT, ToolView::differences)
            .optional("change", STRUCT, ToolView::change)
            .as(v -> new ToolView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<ServerView> SERVER = ObjectCodec.<ServerView>of()
            .required("name", TEXT, ServerView::name)
            .required("state", Codecs.words(ServerState.class), ServerView::state)
            .required("restarts", COUNT, ServerView::restarts)
            .optional("problem", TEXT, ServerView::problem)
            .optional("lastProblem", TEXT, ServerView::lastProblem)
            .required("tools", Codecs.list(TOOL), ServerView::tools)
            .as(v -> new ServerView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<LogLine> LINE = ObjectCodec.<LogLine>of()
            .required("at", TIME, LogLine::at)
            .required("text", TEXT, LogLine::text)
            .as(v -> new LogLine(v.next(), v.next()));

    static final ExtensionMethod<ListServers, List<ServerView>> LIST = AdminRow.of(
            ListServers.class,
            "GET /mcp/tools",
            "List the tools of MCP servers and changes that wait",
            ObjectCodec.<ListServers>of().as(v -> new ListServers()),
            ObjectCodec.list("servers", SERVER));

    static final ExtensionMethod<ShowLog, List<LogLine>> LOG = AdminRow.of(
            ShowLog.class,
            "GET /mcp/servers/{server}/log",
            "Show what the program of an MCP server wrote to its standard error",
            server(ShowLog::server).as(v -> new ShowLog(v.next())),
            ObjectCodec.list("lines", LINE));

    static final ExtensionMethod<ApproveTools, List<String>> APPROVE = AdminRow.of(
            ApproveTools.class,
            "POST /mcp/servers/{server}/approve",
            "Approve new and changed tools of an MCP server",
            server(ApproveTools::server)
                    .optional("tool", TEXT, ApproveTools::tool)
                    .help("TOOL", "Name of one tool; default: all.")
                    .optional("digest", TEXT, ApproveTools::digest)
                    .help("DIGEST", "Begin of the digest of the definition, so that no later one is approved.")
                    .as(v -> new ApproveTools(v.next(), v.next(), v.next())),
            ObjectCodec.<List<String>>of()
                    .required("approved", TEXTS, all -> all)
                    .as(v -> v.next()));

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(LIST, LOG, APPROVE);

    private static <T> ObjectCodec.Builder<T> server(Function<T, String> server) {
        return ObjectCodec.<T>of().required("server", TEXT, server).argument("SERVER", "Name of the server.");
    }
}

package dev.parley.mcp.client;

import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.ToolModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Reads the tools of a server, and knows which of their arguments headers repeat. Safe for any thread. */
final class ToolList {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");
    private static final int MOST_PAGES = 100;
    private static final int MOST_TOOLS = 10_000;
    private static final int LARGEST_TOOL = 256 * 1024;
    private static final int LARGEST_LIST = 8 * 1024 * 1024;

    private final Map<String, List<HeaderValues.Param>> marks = new ConcurrentHashMap<>();

    /** Reads a page of a list. */
    @FunctionalInterface
    interface Pages {
        /** @param params with the cursor of the page, if it is not the first */
        Map<String, @Nullable Object> page(Map<String, @Nullable Object> params) throws InterruptedException;
    }

    /**
     * Reads all pages. Tools with names or header marks that break the rules are left out.
     *
     * @param hasMarks whether headers repeat arguments
     */
    ToolPage read(Pages pages, BooleanSupplier hasMarks) throws InterruptedException {
        var tools = new LinkedHashMap<String, Tool>();
        var cursors = new HashSet<String>();
        Duration ttl = null;
        String cursor = null;
        long size = 0;
        for (int read = 0; read < MOST_PAGES; read++) {
            Map<String, @Nullable Object> page = pages.page(cursor == null ? Map.of() : Map.of("cursor", cursor));
            for (Map<String, @Nullable Object> each : Trees.maps(page, "tools")) {
                byte[] json = JsonText.write(Codecs.STRUCT, each);
                Tool tool = JsonText.read(json, ToolModel.TOOL);
                if (!isUsable(tool, hasMarks)) {
                    continue;
                }
                if (json.length > LARGEST_TOOL || size + json.length > LARGEST_LIST) {
                    LOG.log(Level.WARNING, "tool {0} is left out: too large", tool.name());
                } else {
                    size += json.length;
                    tools.putIfAbsent(tool.name(), titled(tool));
                }
            }
            if (page.get("ttlMs") instanceof Number millis) {
                ttl = Duration.ofMillis(Math.max(0, millis.longValue()));
            }
            cursor = Trees.text(page, "nextCursor");
            if (cursor == null || !cursors.add(cursor) || tools.size() > MOST_TOOLS) {
                break;
            }
        }
        return new ToolPage(List.copyOf(tools.values()), ttl);
    }

    private boolean isUsable(Tool tool, BooleanSupplier hasMarks) {
        if (!tool.name().matches("[A-Za-z0-9_./-]{1,128}")) {
            return false;
        }
        try {
            if (hasMarks.getAsBoolean()) {
                marks.put(tool.name(), HeaderValues.params(tool.inputSchema()));
            }
            return true;
        } catch (IllegalArgumentException invalid) {
            LOG.log(Level.WARNING, "tool " + tool.name() + " is left out", invalid);
            return false;
        }
    }

    /** A tool with the title that older servers have among the annotations. */
    private static Tool titled(Tool tool) {
        String title = tool.title() == null ? Trees.text(tool.annotations(), "title") : tool.title();
        return new Tool(
                tool.name(), title, tool.description(), tool.inputSchema(), tool.outputSchema(), tool.annotations());
    }

    /** Headers that repeat arguments of a call. */
    Map<String, String> headers(String tool, Map<String, @Nullable Object> arguments) {
        var headers = new LinkedHashMap<String, String>();
        for (HeaderValues.Param param : marks.getOrDefault(tool, List.of())) {
            param.in(arguments).ifPresent(value -> headers.put(param.header(), HeaderValues.encode(value.toString())));
        }
        return headers;
    }
}

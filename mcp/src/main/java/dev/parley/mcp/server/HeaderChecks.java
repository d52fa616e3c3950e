package dev.parley.mcp.server;

import static dev.parley.mcp.wire.HeaderValues.METHOD;
import static dev.parley.mcp.wire.HeaderValues.NAME;
import static dev.parley.mcp.wire.HeaderValues.VERSION;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.mcp.McpException;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.RequestModel;
import dev.parley.mcp.wire.RequestModel.RequestMeta;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.support.Excerpt;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Checks that headers of a request say the same as its body. Source: MCP 2026-07-28, Streamable HTTP, Server Validation. */
final class HeaderChecks {
    private static final String NEWEST = Revision.V2026_07_28.text();

    private HeaderChecks() {}

    /** Checks the revision in headers and body, and reads the client. */
    static McpPeer peer(McpMessage.Request request, WireRequest http) {
        String header = http.header(VERSION);
        if (header == null) {
            throw mismatch(VERSION + ": missing");
        }
        RequestMeta meta = RequestMeta.of(request);
        boolean isNamed = meta.protocolVersion() instanceof String;
        if (isNamed && !header.equals(meta.protocolVersion())) {
            throw mismatch(VERSION + " \"" + Excerpt.of(header, 40) + "\": not the version of the body");
        }
        if (!isNamed && !header.equals(NEWEST)) {
            throw unsupported(header);
        }
        return peer(meta);
    }

    /** Reads the client of a request without headers. */
    static McpPeer peer(RequestMeta meta) {
        if (!(meta.protocolVersion() instanceof String version)) {
            throw RequestModel.invalid("_meta: no " + Meta.PROTOCOL_VERSION + " (expected: \"" + NEWEST
                    + "\", or a session that began with initialize)");
        }
        if (!version.equals(NEWEST)) {
            throw unsupported(version);
        }
        if (meta.capabilities() == null) {
            throw RequestModel.invalid("_meta: no " + Meta.CLIENT_CAPABILITIES + " (expected: an object)");
        }
        Object level = meta.logLevel();
        return new McpPeer(Revision.V2026_07_28, meta.capabilities(), level == null ? null : Methods.level(level));
    }

    /** The error for an unsupported version; its data lists the versions of {@code server/discover}. */
    static McpException unsupported(String version) {
        return new McpException(
                McpException.UNSUPPORTED_VERSION,
                "protocol version \"" + Excerpt.of(version, 40) + "\": not supported (expected: \"" + NEWEST
                        + "\", or a session of an older version)",
                Map.of("supported", List.of(NEWEST), "requested", version));
    }

    /** Checks the headers that name the method and its object. */
    static void check(McpMessage.Request request, WireRequest http) {
        String method = http.header(METHOD);
        if (method == null || !method.equals(request.method())) {
            throw mismatch(METHOD + ": missing, or not the method of the body");
        }
        HeaderValues.named(request).ifPresent(name -> same(NAME, http.header(NAME), name));
    }

    /** Checks the headers that repeat arguments of a tool. */
    static void check(Tool tool, McpMessage.Request request, WireRequest http) {
        List<HeaderValues.Param> params;
        try {
            params = HeaderValues.params(tool.inputSchema());
        } catch (IllegalArgumentException wrongMarks) {
            return; // clients do not offer such a tool, and no client sends its headers
        }
        for (HeaderValues.Param param : params) {
            String header = http.header(param.header());
            Optional<Object> value = param.in(Trees.map(request.params().get("arguments")));
            if (value.isPresent()) {
                same(param.header(), header, value.get());
            } else if (header != null) {
                throw mismatch(param.header() + ": not in the arguments of the body");
            }
        }
    }

    private static void same(String name, @Nullable String header, Object value) {
        Optional<String> decoded = header == null ? Optional.empty() : HeaderValues.decode(header);
        if (decoded.isEmpty() || !HeaderValues.isSame(decoded.get(), value)) {
            throw mismatch(name + ": missing, malformed, or not the value of the body");
        }
    }

    private static McpException mismatch(String problem) {
        return new McpException(McpException.HEADER_MISMATCH, "Header mismatch: " + problem);
    }
}

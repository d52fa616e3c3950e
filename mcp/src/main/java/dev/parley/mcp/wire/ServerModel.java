package dev.parley.mcp.wire;

import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.mcp.ServerInfo;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Shape;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON by which clients and servers describe themselves. */
public final class ServerModel {
    private ServerModel() {}

    /** Parameters of {@code initialize}. */
    public record Initialize(
            String protocolVersion, Map<String, @Nullable Object> capabilities, ServerInfo clientInfo) {}

    /** Name and version of a program; instructions stand beside them. */
    public static final Codec<ServerInfo> INFO = Shape.<ServerInfo>of()
            .required("name", TEXT, ServerInfo::name)
            .optional("title", TEXT, ServerInfo::title)
            .required("version", TEXT, ServerInfo::version)
            .as(v -> new ServerInfo(v.next(), v.next(), v.next(), null));

    public static final Codec<Initialize> INITIALIZE = Shape.<Initialize>of()
            .required("protocolVersion", TEXT, Initialize::protocolVersion)
            .required("capabilities", STRUCT, Initialize::capabilities)
            .required("clientInfo", INFO, Initialize::clientInfo)
            .as(v -> new Initialize(v.next(), v.next(), v.next()));
}

package dev.parley.mcp.wire;

import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.mcp.ServerInfo;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON by which clients and servers describe themselves. */
public final class ServerModel {
    private ServerModel() {}

    /** Parameters of {@code initialize}. A server does not read the name of its client. */
    public record Initialize(
            String protocolVersion,
            Map<String, @Nullable Object> capabilities,
            @Nullable ServerInfo clientInfo) {}

    /** Result of {@code initialize}, with a version and the server, and of {@code server/discover}, with all versions. */
    public record Description(
            @Nullable String protocolVersion,
            List<String> supportedVersions,
            Map<String, @Nullable Object> capabilities,
            @Nullable ServerInfo serverInfo,
            @Nullable String instructions) {}

    /** Name and version of a program; instructions stand beside them. */
    public static final Codec<ServerInfo> INFO = ObjectCodec.<ServerInfo>of()
            .required("name", TEXT, ServerInfo::name)
            .optional("title", TEXT, ServerInfo::title)
            .required("version", TEXT, ServerInfo::version)
            .as(v -> new ServerInfo(v.next(), v.next(), v.next(), null));

    public static final Codec<Initialize> INITIALIZE = ObjectCodec.<Initialize>of()
            .always("protocolVersion", Lenient.TEXT, "", Initialize::protocolVersion)
            .always("capabilities", Lenient.OBJECT, Map.of(), Initialize::capabilities)
            .optional(
                    "clientInfo",
                    Codecs.via(Codecs.FREE, any -> null, info -> Trees.of(INFO, info)),
                    Initialize::clientInfo)
            .as(v -> new Initialize(v.next(), v.next(), v.next()));

    public static final Codec<Description> DESCRIPTION = ObjectCodec.<Description>of()
            .optional("protocolVersion", TEXT, Description::protocolVersion)
            .optional("supportedVersions", Codecs.TEXTS, List.of(), Description::supportedVersions)
            .required("capabilities", STRUCT, Description::capabilities)
            .optional("serverInfo", INFO, Description::serverInfo)
            .optional("instructions", TEXT, Description::instructions)
            .as(v -> new Description(v.next(), v.next(), v.next(), v.next(), v.next()));
}

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

    /** Parameters of {@code initialize}. */
    public record Initialize(
            String protocolVersion, Map<String, @Nullable Object> capabilities, ServerInfo clientInfo) {}

    /** Result of {@code initialize}, with a version and the server, and of {@code server/discover}, with all versions. */
    public record Description(
            @Nullable String protocolVersion,
            List<String> supportedVersions,
            Map<String, @Nullable Object> capabilities,
            @Nullable ServerInfo serverInfo,
            @Nullable String instructions) {}

    /** Parameters of {@code notifications/progress}. */
    public record Progress(
            Object progressToken,
            Number progress,
            @Nullable Number total,
            @Nullable String message) {}

    /** Name and version of a program; instructions stand beside them. */
    public static final Codec<ServerInfo> INFO = ObjectCodec.<ServerInfo>of()
            .required("name", TEXT, ServerInfo::name)
            .optional("title", TEXT, ServerInfo::title)
            .required("version", TEXT, ServerInfo::version)
            .as(v -> new ServerInfo(v.next(), v.next(), v.next(), null));

    public static final Codec<Initialize> INITIALIZE = ObjectCodec.<Initialize>of()
            .required("protocolVersion", TEXT, Initialize::protocolVersion)
            .required("capabilities", STRUCT, Initialize::capabilities)
            .required("clientInfo", INFO, Initialize::clientInfo)
            .as(v -> new Initialize(v.next(), v.next(), v.next()));

    public static final Codec<Description> DESCRIPTION = ObjectCodec.<Description>of()
            .optional("protocolVersion", TEXT, Description::protocolVersion)
            .optional("supportedVersions", Codecs.TEXTS, List.of(), Description::supportedVersions)
            .required("capabilities", STRUCT, Description::capabilities)
            .optional("serverInfo", INFO, Description::serverInfo)
            .optional("instructions", TEXT, Description::instructions)
            .as(v -> new Description(v.next(), v.next(), v.next(), v.next(), v.next()));

    public static final Codec<Progress> PROGRESS = ObjectCodec.<Progress>of()
            .required("progressToken", Codecs.FREE, Progress::progressToken)
            .required("progress", Lenient.DECIMAL, Progress::progress)
            .optional("total", Lenient.DECIMAL, Progress::total)
            .optional("message", Lenient.TEXT, Progress::message)
            .as(v -> new Progress(v.next(), v.next(), v.next(), v.next()));
}

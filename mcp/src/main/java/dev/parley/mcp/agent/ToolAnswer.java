package dev.parley.mcp.agent;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.McpException;
import dev.parley.mcp.ResourceContent;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.ServerFailure;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Results and errors of tools as parts of A2A. */
final class ToolAnswer {
    private static final int MAX_EMBEDDED = 8 * 1024 * 1024;
    private static final String JSON = "application/json";

    /** @param code a text or a number */
    private record ProxyError(
            String source,
            Object code,
            String message,
            @Nullable Object details) {
        static final Codec<ProxyError> CODEC = ObjectCodec.<ProxyError>of()
                .required("source", Codecs.TEXT, ProxyError::source)
                .required("code", Codecs.FREE, ProxyError::code)
                .required("message", Codecs.TEXT, ProxyError::message)
                .optional("details", Codecs.FREE, ProxyError::details)
                .as(v -> new ProxyError(v.next(), v.next(), v.next(), v.next()));
    }

    private final McpClient client;
    private final List<String> links;

    /** @param links hosts whose addresses callers get as links */
    ToolAnswer(McpClient client, List<String> links) {
        this.client = client;
        this.links = links;
    }

    /** The parts of a result: its structured content, then its contents. */
    Part[] parts(CallResult result) throws InterruptedException {
        var parts = new ArrayList<Part>();
        if (result.structuredContent() != null) {
            parts.add(Part.data(result.structuredContent()));
        }
        for (Content content : result.content()) {
            parts.add(part(content));
        }
        return parts.isEmpty() ? new Part[] {Part.text("")} : parts.toArray(Part[]::new);
    }

    private Part part(Content content) throws InterruptedException {
        return switch (content) {
            case Content.Text text -> Part.text(text.text());
            case Content.Image image -> bytes(image.data(), image.mimeType(), "image");
            case Content.Audio audio -> bytes(audio.data(), audio.mimeType(), "audio");
            case Content.EmbeddedResource embedded -> resource(embedded.resource());
            case Content.ResourceLink link -> link(link);
            case Content.Other other -> Part.data(other.others());
        };
    }

    private static Part bytes(@Nullable String base64, @Nullable String mediaType, String name) {
        try {
            return new Part.Raw(Base64.getDecoder().decode(base64 == null ? "" : base64), name, mediaType, Map.of());
        } catch (IllegalArgumentException invalid) {
            return Part.text(name + ": no Base64");
        }
    }

    private static Part resource(ResourceContent resource) {
        return resource.text() != null
                ? new Part.Text(resource.text(), resource.uri(), resource.mimeType(), Map.of())
                : bytes(resource.blob(), resource.mimeType(), resource.uri());
    }

    /** A link to an allowed host stays one; other resources are read and embedded, for only this hub reaches the server. */
    private Part link(Content.ResourceLink link) throws InterruptedException {
        String uri = link.uri();
        if (isAllowed(uri)) {
            return Part.link(uri, link.name(), link.mimeType());
        }
        try {
            for (ResourceContent each : client.read(uri)) {
                String body = each.text() == null ? each.blob() : each.text();
                return body != null && body.length() > MAX_EMBEDDED
                        ? Part.text(uri + ": larger than " + MAX_EMBEDDED + " bytes")
                        : resource(each);
            }
        } catch (McpException | ServerFailure unreadable) {
            return Part.text(uri + ": " + unreadable.getMessage());
        }
        return Part.text(uri);
    }

    private boolean isAllowed(String uri) {
        try {
            URI url = URI.create(uri);
            return url.getScheme() != null
                    && url.getScheme().matches("https?")
                    && url.getHost() != null
                    && links.contains(url.getHost());
        } catch (IllegalArgumentException none) {
            return false;
        }
    }

    /** The text of a result that is an error. */
    static String text(CallResult result) {
        String text = result.content().stream()
                .filter(Content.Text.class::isInstance)
                .map(content -> ((Content.Text) content).text())
                .collect(Collectors.joining("\n"));
        return text.isEmpty() ? "the tool has failed" : text;
    }

    /** A result as AgentVault's proxy answers it. */
    static Part proxied(CallResult result) {
        return proxied(true, "mcp_result", ResultModel.CALL.toJson(result));
    }

    /** A failure, with the error of AgentVault's proxy if the call has its form. */
    static Message failed(boolean isProxied, String source, Object code, String message, @Nullable Object details) {
        if (!isProxied) {
            return Message.agent(Part.text(message));
        }
        var error = new ProxyError(source, code, message, details);
        return Message.agent(Part.text(message), proxied(false, "error", ProxyError.CODEC.toJson(error)));
    }

    private static Part proxied(boolean isSuccess, String name, @Nullable Object value) {
        return new Part.Data(Trees.with(Map.of("success", isSuccess), name, value), null, JSON, Map.of());
    }

    /** Code of AgentVault's proxy for a failure. */
    static String code(ServerFailure failure) {
        return switch (failure.kind()) {
            case TIMEOUT -> "MCP_TIMEOUT";
            case INVALID_RESPONSE -> "MCP_INVALID_RESPONSE";
            case CONNECTION, UNAUTHORIZED, SESSION_ENDED -> "MCP_CONNECTION_ERROR";
        };
    }
}

package dev.parley.bench;

import io.helidon.http.HeaderNames;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Upper bound of a hub: the same HTTP server with the same settings, reading a JSON request and writing a JSON
 * answer of the same size as {@code ping}, with no protocol in between.
 *
 * <p>Argument: the port.
 */
public final class BareServer {
    private static final JsonMapper JSON = new JsonMapper();

    private BareServer() {}

    public static void main(String[] arguments) {
        WebServer server = serve(Integer.parseInt(arguments[0]), BareServer::answer);
        System.out.println("ready on port " + server.port());
    }

    /** Starts a server that answers each POST to {@code /} by a function of its body. */
    static WebServer serve(int port, UnaryOperator<byte[]> answers) {
        return serve(port, (request, response) -> {
            try (InputStream body = request.content().inputStream()) {
                byte[] answer = answers.apply(body.readAllBytes());
                response.header(HeaderNames.CONTENT_TYPE, "application/json");
                response.send(answer);
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        });
    }

    /** Starts a server that answers each POST to {@code /}. */
    static WebServer serve(int port, Handler handler) {
        return WebServer.builder()
                .host("127.0.0.1")
                .port(port)
                .connectionOptions(options -> options.tcpNoDelay(true))
                .writeBufferSize(0)
                .addConnectionSelector(Http1ConnectionSelector.builder()
                        .config(Http1Config.builder()
                                .validatePath(false)
                                .validatePrologue(false)
                                .sendKeepAliveHeader(false)
                                .build())
                        .build())
                .mediaContext(MediaContext.builder()
                        .mediaSupportsDiscoverServices(false)
                        .registerDefaults(false)
                        .build())
                .contentEncoding(ContentEncodingContext.builder()
                        .contentEncodingsDiscoverServices(false)
                        .build())
                .addRouting(HttpRouting.builder().post("/", handler))
                .build()
                .start();
    }

    /** The text comes back, in the shape that {@code ping} answers with, so that the load generator accepts it. */
    private static byte[] answer(byte[] request) {
        JsonNode read = JSON.readTree(request);
        String text = read.at("/params/message/parts/0/text").asString();
        ObjectNode answer = JSON.createObjectNode();
        answer.put("jsonrpc", "2.0");
        answer.set("id", read.path("id"));
        ObjectNode message = answer.putObject("result").putObject("message");
        message.put("messageId", "019aa5ab-8ad2-7c40-9a51-3f6c2b8e4d10");
        message.put("contextId", "019aa5ab-8ad2-7c40-9a51-3f6c2b8e4d11");
        message.put("role", "ROLE_AGENT");
        message.putArray("parts").addObject().put("text", "pong: " + text);
        return JSON.writeValueAsString(answer).getBytes(StandardCharsets.UTF_8);
    }
}

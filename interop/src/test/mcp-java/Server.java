import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.BlobResourceContents;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitFormRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.EmbeddedResource;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceResult;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import io.modelcontextprotocol.spec.McpSchema.ResourceLink;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;

/**
 * Serves tools of MCP by the official Java SDK: over stdio, or with the argument "http" over HTTP.
 *
 * <p>Over HTTP it prints its address, and ends with the standard input, so that it does not outlive its test.
 */
final class Server {
    private static final Map<String, Object> TABLE = object(Map.of(
            "table", Map.of("type", "string"), "quiet", Map.of("type", "boolean")));
    private static final ServerCapabilities CAPABILITIES =
            ServerCapabilities.builder().tools(true).resources(false, false).build();

    private static McpSyncServer server;

    private Server() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            var transport = new StdioServerTransportProvider(McpJsonDefaults.getMapper());
            server = McpServer.sync(transport)
                    .serverInfo("java", "2.1.0")
                    .requestTimeout(Duration.ofSeconds(30))
                    .capabilities(CAPABILITIES)
                    .tools(tools())
                    .resources(List.of(linked()))
                    .build();
            return;
        }
        var transport =
                HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        server = McpServer.sync(transport)
                .serverInfo("java", "2.1.0")
                .requestTimeout(Duration.ofSeconds(30))
                .capabilities(CAPABILITIES)
                .tools(tools())
                .resources(List.of(linked()))
                .build();
        var tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("mcp-java").toString());
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        Context context = tomcat.addContext("", null);
        Wrapper servlet = Tomcat.addServlet(context, "mcp", transport);
        servlet.setAsyncSupported(true);
        context.addServletMappingDecoded("/mcp/*", "mcp");
        // Without reuse: a container closes idle connections, also one on which a client has just begun a request.
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "1");
        tomcat.start();
        System.out.printf(
                "{\"server\":\"Java 2.1.0\",\"url\":\"http://127.0.0.1:%d/mcp\"}%n",
                tomcat.getConnector().getLocalPort());
        System.out.flush();
        awaitEndOfInput();
        Runtime.getRuntime().halt(0);
    }

    private static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // nothing is sent to it
        }
    }

    private static List<SyncToolSpecification> tools() {
        var tools = new ArrayList<SyncToolSpecification>();
        tools.add(tool("say", "Says it again", Map.of("text", Map.of("type", "string")), (exchange, call) ->
                CallToolResult.builder()
                        .addTextContent("{\"said\":\"" + call.arguments().get("text") + "\"}")
                        .structuredContent(Map.of("said", call.arguments().get("text"), "revision", "2025-11-25"))
                        .build()));
        tools.add(tool("count", "Counts", Map.of("to", Map.of("type", "integer")), Server::count));
        tools.add(tool("order", "Orders a table", Map.of("guests", Map.of("type", "integer")), Server::order));
        // Not by an exception: this server then closes one connection of thirty without an answer.
        tools.add(tool("fail", "Fails", Map.of(), (exchange, call) -> CallToolResult.builder()
                .addTextContent("no luck")
                .isError(true)
                .build()));
        tools.add(tool("make", "Makes a picture, a file and a link", Map.of(), (exchange, call) ->
                CallToolResult.builder()
                        .addTextContent("made")
                        .addContent(ImageContent.builder("iVBORw==", "image/png").build())
                        .addContent(new EmbeddedResource(
                                null, new BlobResourceContents("test://small", "application/x", "AQID")))
                        .addContent(ResourceLink.builder()
                                .uri("test://linked")
                                .name("linked")
                                .build())
                        .build()));
        tools.add(tool("forget", "Forgets the tool that fails", Map.of(), (exchange, call) -> {
            server.removeTool("fail"); // which tells the clients
            return text("forgotten");
        }));
        return tools;
    }

    private static CallToolResult count(McpSyncServerExchange exchange, CallToolRequest call) {
        int to = ((Number) call.arguments().get("to")).intValue();
        for (int step = 1; step <= to; step++) {
            exchange.progressNotification(new ProgressNotification(
                    call.progressToken(), step, (double) to, step + " of " + to));
        }
        return text("counted to " + to);
    }

    private static CallToolResult order(McpSyncServerExchange exchange, CallToolRequest call) {
        ElicitResult answer = exchange.createElicitation(
                ElicitFormRequest.builder("Which table?", TABLE).build());
        if (answer.action() != ElicitResult.Action.ACCEPT) {
            return CallToolResult.builder().addTextContent("no table").isError(true).build();
        }
        Map<String, Object> table = answer.content();
        return text("%s for %s%s"
                .formatted(
                        table.get("table"),
                        call.arguments().get("guests"),
                        Boolean.TRUE.equals(table.get("quiet")) ? ", quiet" : ""));
    }

    private static SyncResourceSpecification linked() {
        Resource resource = Resource.builder()
                .uri("test://linked")
                .name("linked")
                .mimeType("text/plain")
                .build();
        return new SyncResourceSpecification(
                resource,
                (exchange, request) -> new ReadResourceResult(
                        List.of(new TextResourceContents("test://linked", "text/plain", "behind the link"))));
    }

    private static SyncToolSpecification tool(
            String name,
            String description,
            Map<String, Object> properties,
            BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> work) {
        return SyncToolSpecification.builder()
                .tool(Tool.builder()
                        .name(name)
                        .description(description)
                        .inputSchema(object(properties))
                        .build())
                .callHandler(work)
                .build();
    }

    private static Map<String, Object> object(Map<String, Object> properties) {
        return Map.of("type", "object", "properties", properties, "required", List.copyOf(properties.keySet()));
    }

    private static CallToolResult text(String text) {
        return CallToolResult.builder().addTextContent(text).build();
    }
}

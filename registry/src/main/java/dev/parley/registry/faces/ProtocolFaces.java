package dev.parley.registry.faces;

import dev.parley.dialect.spi.WireFace;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.faces.JsonFace.ErrorForm;
import dev.parley.registry.faces.JsonFace.Route;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The protocols by their paths. */
final class ProtocolFaces {
    private static final String LINKS =
            "</.well-known/ard.json>; rel=\"ard\", </.well-known/ai-catalog.json>; rel=\"ai-catalog\"";
    private static final String API_CATALOG = "/.well-known/api-catalog";

    private static final ErrorForm ARD_ERROR = (status, message) -> Map.of(
            "errorCode",
            switch (status) {
                case 401 -> "UNAUTHENTICATED";
                case 403 -> "PERMISSION_DENIED";
                case 404 -> "NOT_FOUND";
                case 405 -> "METHOD_NOT_ALLOWED";
                case 429 -> "RATE_LIMIT_EXCEEDED";
                case 503 -> "UNAVAILABLE";
                default -> status < 500 ? "INVALID_ARGUMENT" : "INTERNAL_ERROR";
            },
            "message",
            message);

    private static final ErrorForm MCP_ERROR = (status, message) -> Map.of("error", message);

    private static final WireFace ARD = new JsonFace(
            List.of(
                    Route.of("POST /search", FaceProtocol.ARD_SEARCH),
                    Route.of("POST /explore", FaceProtocol.ARD_EXPLORE),
                    Route.of("GET /agents", FaceProtocol.ARD_LIST),
                    Route.of("GET /agents/{identifier}", FaceProtocol.ARD_SHOW)),
            false,
            ARD_ERROR);

    private static final WireFace CATALOG = new JsonFace(
            List.of(Route.of("GET ", FaceProtocol.CATALOG, ArdModel.CATALOG, Map.of("Link", LINKS))), true, ARD_ERROR);

    private static final WireFace MCP = new JsonFace(
            List.of(
                    Route.of("GET /servers", FaceProtocol.MCP_LIST),
                    Route.of("GET /servers/{name}/versions", FaceProtocol.MCP_SHOW),
                    Route.of("GET /servers/{name}/versions/{version}", FaceProtocol.MCP_SHOW)),
            false,
            MCP_ERROR);

    private static final WireFace IDENTITY = new JsonFace(
            List.of(Route.of("GET ", FaceProtocol.IDENTITY, "application/did+json", Map.of())), true, ARD_ERROR);

    private static final WireFace APIS = new JsonFace(
            List.of(Route.of(
                    "GET ",
                    FaceProtocol.APIS,
                    "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"",
                    Map.of("Link", "<" + API_CATALOG + ">; rel=\"api-catalog\""))),
            true,
            ARD_ERROR);

    /**
     * The protocols of a hub.
     *
     * @param hosts whether there is an agent with a host name of its own
     */
    static Map<String, WireFace> of(Predicate<String> hosts) {
        var cards = new HostCards(hosts, ARD);
        var all = new HashMap<>(ALL);
        all.put("/.well-known/agent-card.json", cards);
        all.put("/.well-known/agent.json", cards);
        return all;
    }

    private static final Map<String, WireFace> ALL = Map.of(
            "/registry/ard",
            ARD,
            "/.well-known/ard.json",
            CATALOG,
            "/.well-known/ai-catalog.json",
            CATALOG,
            "/v0.1",
            MCP,
            "/v0",
            MCP,
            API_CATALOG,
            APIS,
            "/.well-known/did.json",
            IDENTITY);

    private ProtocolFaces() {}
}

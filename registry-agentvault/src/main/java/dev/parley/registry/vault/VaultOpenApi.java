package dev.parley.registry.vault;

import dev.parley.dialect.spi.WireAnswer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Description of the routes in OpenAPI. */
final class VaultOpenApi {
    static final WireAnswer.Whole ANSWER = AgentVault.json(200, document());

    private VaultOpenApi() {}

    private static Map<String, Object> document() {
        var paths = new LinkedHashMap<String, Map<String, Object>>();
        for (VaultRoute route : VaultRoute.ALL) {
            String path = route.path().replace("{}", "{id}").replace("{*}", "{id}");
            var operation = new LinkedHashMap<String, Object>();
            operation.put("operationId", route.name().substring(route.name().indexOf('/') + 1));
            operation.put("summary", route.summary());
            if (path.contains("{id}")) {
                operation.put(
                        "parameters",
                        List.of(Map.of(
                                "name", "id", "in", "path", "required", true, "schema", Map.of("type", "string"))));
            }
            operation.put("responses", Map.of("default", Map.of("description", "Answer in JSON")));
            paths.computeIfAbsent(path, added -> new LinkedHashMap<>())
                    .put(route.method().toLowerCase(Locale.ROOT), operation);
        }
        return Map.of(
                "openapi",
                "3.1.0",
                "info",
                Map.of("title", "Agent registry in the form of AgentVault", "version", "1.0"),
                "paths",
                paths);
    }
}

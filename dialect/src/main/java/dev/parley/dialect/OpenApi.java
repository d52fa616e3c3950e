package dev.parley.dialect;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.legacy.LegacyCard;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.operations.PathTemplate;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.v1.V1Card;
import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Operation;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Place;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Documents;
import dev.parley.protocol.json.ObjectCodec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A document in OpenAPI 3.1 about the REST of a server: of its agents in A2A 1.0, of their extensions, and of its own operations. It is
 * written from the tables by which requests are answered. For one thread.
 *
 * <p>Agents share paths with a variable, whose values are the agents that have the operation.
 */
public final class OpenApi {
    private static final String AGENTS = "/agents/{agent}";
    private static final String CARD = "/.well-known/agent-card.json";
    private static final String SCHEMAS = "#/components/schemas/";
    private static final Map<String, Object> ANY_OBJECT = Map.of("type", "object");

    /** Schemas that others refer to, by their names in the specification. */
    private static final Map<String, Codec<?>> NAMED = new LinkedHashMap<>();

    private static final IdentityHashMap<Codec<?>, String> NAMES = new IdentityHashMap<>();

    static {
        NAMED.put("Part", V1Model.PART);
        NAMED.put("Message", V1Model.MESSAGE);
        NAMED.put("Artifact", V1Model.ARTIFACT);
        NAMED.put("TaskState", V1Model.STATE);
        NAMED.put("TaskStatus", V1Model.STATUS);
        NAMED.put("Task", V1Model.TASK);
        NAMED.put("TaskStatusUpdateEvent", V1Model.STATUS_UPDATE);
        NAMED.put("TaskArtifactUpdateEvent", V1Model.ARTIFACT_UPDATE);
        NAMED.put("StreamResponse", V1Model.EVENT);
        NAMED.put("SendMessageConfiguration", V1Model.CONFIGURATION);
        NAMED.put("SendMessageResponse", V1Model.SEND_RESULT);
        NAMED.put("ListTasksResponse", V1Model.TASK_PAGE);
        NAMED.put("TaskPushNotificationConfig", V1Model.PUSH_CONFIG);
        NAMED.put("ListTaskPushNotificationConfigsResponse", V1Model.PUSH_CONFIG_PAGE);
        NAMED.put("AgentCard", V1Card.CARD);
        NAMED.forEach((name, codec) -> NAMES.put(codec, name));
    }

    private final String url;
    private final Map<String, ObjectCodec<?>> shapes = new TreeMap<>();
    private final Map<String, Map<String, Object>> paths = new TreeMap<>();
    private final Map<String, Object> securitySchemes = new TreeMap<>();
    private final Set<Map<String, List<String>>> security = new LinkedHashSet<>();

    /** A document about a server at this address. */
    public OpenApi(String url) {
        this.url = url;
    }

    /**
     * Adds agents: their operations of A2A 1.0, if they are served in it, their extensions and cards.
     *
     * @param ownPaths paths at which agents also answer, by their names: operations that only one of these has are described there
     */
    public OpenApi agents(Collection<ServedAgent> agents, Map<String, String> ownPaths) {
        if (agents.isEmpty()) {
            return this;
        }
        agents.forEach(agent -> secured(agent.card()));
        card(agents);
        List<ServedAgent> speaking =
                agents.stream().filter(agent -> agent.speaks("1.0")).toList();
        for (WireOperation row : V1Operations.TABLE.all()) {
            List<ServedAgent> having =
                    speaking.stream().filter(agent -> has(agent.card(), row)).toList();
            if (!having.isEmpty() && row.path() != null) {
                add(row.path(), row.verbs(), AGENTS, verb -> operation(row, verb, having));
            }
        }
        var byRow = new LinkedHashMap<String, List<ServedAgent>>();
        var rows = new LinkedHashMap<String, ExtensionRow>();
        for (ServedAgent agent : agents) {
            for (ExtensionRow row : agent.extensions().routed()) {
                String key = row.method().name() + " " + row.method().rest();
                rows.putIfAbsent(key, row);
                byRow.computeIfAbsent(key, name -> new ArrayList<>()).add(agent);
            }
        }
        rows.forEach((key, row) -> {
            learn(row.answer());
            List<ServedAgent> having = byRow.getOrDefault(key, List.of());
            String own = having.size() == 1 ? ownPaths.get(having.getFirst().name()) : null;
            if (own == null) {
                add(row.path(), row.verbs(), AGENTS, verb -> operation(row, verb, "extensions", having));
            } else {
                String prefix = String.valueOf(row.path()).startsWith(own + "/") ? "" : own;
                add(row.path(), row.verbs(), prefix, verb -> operation(row, verb, "extensions", List.of()));
            }
        });
        return this;
    }

    /** Adds operations at addresses of the server that belong to no agent. */
    public OpenApi operations(ExtensionTable table, String tag) {
        for (ExtensionRow row : table.routed()) {
            learn(row.answer());
            add(row.path(), row.verbs(), "", verb -> operation(row, verb, tag, List.of()));
        }
        return this;
    }

    /** Keeps the named shapes of which a codec is made, for the schemas of the document. */
    private void learn(Codec<?> codec) {
        if (codec instanceof ObjectCodec<?> shape
                && shape.name() != null
                && shapes.putIfAbsent(shape.name(), shape) != null) {
            return;
        }
        var unused = codec.schema(part -> {
            learn(part);
            return Map.of();
        });
    }

    /** The document, as maps and lists. */
    public Map<String, Object> document() {
        var schemas = new LinkedHashMap<String, Object>();
        NAMED.forEach((name, codec) -> schemas.put(name, codec.schema(OpenApi::reference)));
        shapes.forEach((name, shape) -> schemas.put(name, shape.schema(OpenApi::reference)));
        schemas.put("Error", error());
        var components = new LinkedHashMap<String, Object>();
        components.put("schemas", schemas);
        components.put(
                "responses",
                Map.of("Error", Map.of("description", "A refusal or a failure", "content", json(ref("Error")))));
        var document = new LinkedHashMap<String, Object>();
        document.put("openapi", "3.1.0");
        document.put(
                "info",
                Map.of(
                        "title",
                        "Parley",
                        "version",
                        "1.0",
                        "description",
                        "REST of the agents of a hub in A2A 1.0, of their extensions, and of the administration."));
        document.put("servers", List.of(Map.of("url", url)));
        document.put("paths", paths);
        document.put("components", components);
        if (!securitySchemes.isEmpty()) {
            components.put("securitySchemes", securitySchemes);
            document.put("security", List.copyOf(security));
        }
        return document;
    }

    private interface Describing {
        Map<String, Object> of(String verb);
    }

    private void add(@Nullable PathTemplate path, List<String> verbs, String prefix, Describing operation) {
        Map<String, Object> item = paths.computeIfAbsent(prefix + path, key -> new LinkedHashMap<>());
        for (String verb : verbs) {
            Map<String, Object> described = operation.of(verb);
            if (!verb.equals(verbs.getFirst())) {
                described.merge("operationId", "", (id, none) -> id + "_" + verb);
            }
            item.merge(verb.toLowerCase(Locale.ROOT), described, OpenApi::both);
        }
    }

    /**
     * The operation of an address at which there are two, a call and a stream, of which the client chooses one by {@code Accept}: that of
     * the first, with the answers of both.
     */
    private static Object both(Object first, Object second) {
        Map<String, Object> both = copy(first);
        Map<String, Object> other = copy(second);
        both.put("description", "With another Accept: " + other.get("summary") + " (" + other.get("operationId") + ")");
        Map<String, Object> responses = copy(both.get("responses"));
        Map<String, Object> done = copy(responses.get("200"));
        Map<String, Object> content =
                copy(copy(copy(other.get("responses")).get("200")).get("content"));
        content.putAll(copy(done.get("content")));
        done.put("content", content);
        responses.put("200", done);
        both.put("responses", responses);
        return both;
    }

    private static Map<String, Object> copy(@Nullable Object object) {
        var members = new LinkedHashMap<String, Object>();
        if (object instanceof Map<?, ?> map) {
            map.forEach((name, value) -> members.put(String.valueOf(name), value));
        }
        return members;
    }

    // ---- A2A

    private void card(Collection<ServedAgent> agents) {
        var operation = new LinkedHashMap<String, Object>();
        operation.put("operationId", "GetAgentCard");
        operation.put("tags", List.of("A2A"));
        operation.put("summary", "Read the public card of an agent");
        operation.put("parameters", List.of(agent(agents)));
        operation.put("responses", responses(Map.of("application/json", Map.of("schema", ref("AgentCard")))));
        operation.put("security", List.of());
        paths.put(AGENTS + CARD, new LinkedHashMap<>(Map.of("get", operation)));
    }

    private static boolean has(AgentCard card, WireOperation row) {
        AgentCard.Capabilities able = card.capabilities();
        if (row.type() == Operation.GetExtendedAgentCard.class) {
            return Boolean.TRUE.equals(able.extendedAgentCard());
        }
        return row.result() != null || Boolean.TRUE.equals(able.streaming());
    }

    private static Map<String, Object> operation(WireOperation row, String verb, Collection<ServedAgent> agents) {
        var operation = new LinkedHashMap<String, Object>();
        operation.put("operationId", row.method());
        operation.put("tags", List.of("A2A"));
        operation.put("summary", row.method());
        Set<String> inPath = row.path() == null ? Set.of() : row.path().variables();
        var parameters = new ArrayList<Object>();
        parameters.add(agent(agents));
        parameters.add(Map.of(
                "name",
                "A2A-Version",
                "in",
                "header",
                "required",
                true,
                "schema",
                Map.of("type", "string", "enum", List.of("1.0"))));
        boolean bodiless = !verb.equals("POST");
        row.request().memberSchemas(OpenApi::reference).forEach((name, schema) -> {
            if (inPath.contains(name)) {
                parameters.add(parameter(name, "path", true, schema, ""));
            } else if (bodiless) {
                parameters.add(parameter(name, "query", false, schema, ""));
            }
        });
        operation.put("parameters", parameters);
        if (!bodiless) {
            Map<String, Object> body = row.request().schema(inPath, OpenApi::reference);
            operation.put("requestBody", body(body, body.containsKey("required")));
        }
        Codec<?> result = row.result();
        operation.put(
                "responses",
                responses(
                        result == null
                                ? Map.of("text/event-stream", Map.of("schema", ref("StreamResponse")))
                                : content(reference(result), Headers.JSON, Headers.A2A_JSON)));
        return operation;
    }

    // ---- Extensions and operations of the server

    private static Map<String, Object> operation(
            ExtensionRow row, String verb, String tag, Collection<ServedAgent> agents) {
        ExtensionMethod<?, ?> method = row.method();
        RestDescription description = method.description();
        var operation = new LinkedHashMap<String, Object>();
        operation.put("operationId", method.mediaType() == null ? method.name() : method.rest());
        operation.put("tags", List.of(tag));
        operation.put("summary", description == null ? method.name() : description.summary());
        var parameters = new ArrayList<Object>();
        if (!agents.isEmpty()) {
            parameters.add(agent(agents));
        }
        if (description == null) {
            undescribed(row, verb, parameters, operation);
        } else {
            described(description, verb, parameters, operation);
        }
        operation.put("parameters", parameters);
        operation.put("responses", responses(answer(row)));
        return operation;
    }

    private static Map<String, Object> answer(ExtensionRow row) {
        ExtensionMethod<?, ?> method = row.method();
        if (method.mediaType() != null) {
            return content(Map.of("type", "string"), method.mediaType());
        }
        if (method.answer().equals(Documents.JSON)) {
            return content(Map.of("type", "string", "format", "binary"), "*/*");
        }
        Map<String, Object> schema = reference(row.answer());
        return method.streams()
                ? content(schema, Headers.EVENT_STREAM)
                : content(
                        schema,
                        method.description() == null
                                ? new String[] {Headers.JSON, Headers.A2A_JSON}
                                : new String[] {Headers.JSON});
    }

    private static void undescribed(
            ExtensionRow row, String verb, List<Object> parameters, Map<String, Object> operation) {
        Set<String> inPath = row.path() == null ? Set.of() : row.path().variables();
        Map<String, Map<String, Object>> members =
                row.request() instanceof ObjectCodec<?> shape ? shape.memberSchemas(OpenApi::reference) : Map.of();
        inPath.forEach(name -> parameters.add(
                parameter(name, "path", true, members.getOrDefault(name, Map.of("type", "string")), "")));
        if (!ExtensionMethod.hasBody(verb)) {
            members.forEach((name, schema) -> {
                if (!inPath.contains(name)) {
                    parameters.add(parameter(name, "query", false, schema, ""));
                }
            });
        } else {
            Map<String, Object> schema = row.request() instanceof ObjectCodec<?> shape
                    ? shape.schema(inPath, OpenApi::reference)
                    : ANY_OBJECT;
            operation.put("requestBody", body(schema, schema.containsKey("required")));
        }
    }

    private static void described(
            RestDescription description, String verb, List<Object> parameters, Map<String, Object> operation) {
        var properties = new LinkedHashMap<String, Object>();
        var required = new ArrayList<String>();
        for (RestParameter one : description.parameters()) {
            if (one.place() == Place.MEMBER) {
                var schema = new LinkedHashMap<>(one.schema());
                schema.put("description", one.description());
                properties.put(one.name(), schema);
                if (one.required()) {
                    required.add(one.name());
                }
            } else if (one.place() != Place.BODY) {
                String in = one.place() == Place.PATH ? "path" : "query";
                parameters.add(parameter(one.name(), in, one.required(), one.schema(), one.description()));
            }
        }
        if (ExtensionMethod.hasBody(verb)) {
            var schema = new LinkedHashMap<String, Object>(ANY_OBJECT);
            if (!properties.isEmpty()) {
                schema.put("properties", properties);
            }
            if (!required.isEmpty()) {
                schema.put("required", required);
            }
            description.parameters().stream()
                    .filter(one -> one.place() == Place.BODY)
                    .forEach(one -> schema.put("description", one.description()));
            operation.put("requestBody", body(schema, true));
        }
    }

    // ---- Pieces

    private static Map<String, Object> agent(Collection<ServedAgent> agents) {
        var names = agents.stream().map(ServedAgent::name).toList();
        return parameter("agent", "path", true, Map.of("type", "string", "enum", names), "Name of the agent");
    }

    private static Map<String, Object> parameter(
            String name, String in, boolean required, Map<String, Object> schema, String description) {
        var parameter = new LinkedHashMap<String, Object>();
        parameter.put("name", name);
        parameter.put("in", in);
        parameter.put("required", required);
        if (!description.isEmpty()) {
            parameter.put("description", description);
        }
        parameter.put("schema", schema);
        return parameter;
    }

    private static Map<String, Object> body(Map<String, Object> schema, boolean required) {
        return Map.of("required", required, "content", json(schema));
    }

    private static Map<String, Object> responses(Map<String, Object> content) {
        var responses = new LinkedHashMap<String, Object>();
        responses.put("200", Map.of("description", "Done", "content", content));
        responses.put("default", Map.of("$ref", "#/components/responses/Error"));
        return responses;
    }

    private static Map<String, Object> json(Map<String, Object> schema) {
        return content(schema, Headers.JSON);
    }

    private static Map<String, Object> content(Map<String, Object> schema, String... mediaTypes) {
        var content = new LinkedHashMap<String, Object>();
        for (String mediaType : mediaTypes) {
            content.put(mediaType, Map.of("schema", schema));
        }
        return content;
    }

    private static Map<String, Object> reference(Codec<?> codec) {
        String name = codec instanceof ObjectCodec<?> shape && shape.name() != null ? shape.name() : NAMES.get(codec);
        return name == null ? codec.schema(OpenApi::reference) : ref(name);
    }

    private static Map<String, Object> ref(String name) {
        return Map.of("$ref", SCHEMAS + name);
    }

    private static Map<String, Object> error() {
        Map<String, Object> text = Map.of("type", "string");
        Map<String, Object> members = Map.of(
                "code",
                Map.of("type", "integer"),
                "status",
                text,
                "message",
                text,
                "details",
                Map.of("type", "array", "items", ANY_OBJECT));
        return Map.of(
                "type",
                "object",
                "properties",
                Map.of(
                        "error",
                        Map.of("type", "object", "properties", members, "required", List.of("code", "message"))),
                "required",
                List.of("error"));
    }

    // ---- Security

    private void secured(AgentCard card) {
        var known = new LinkedHashMap<String, Map<String, Object>>();
        card.securitySchemes().forEach((name, scheme) -> {
            Map<String, Object> described = described(scheme);
            if (!described.isEmpty()) {
                known.put(name, described);
            }
        });
        securitySchemes.putAll(known);
        card.securityRequirements().forEach(one -> {
            if (known.keySet().containsAll(one.schemes().keySet())) {
                security.add(one.schemes());
            }
        });
        if (card.securityRequirements().isEmpty()) {
            security.add(Map.of());
        }
    }

    /** A scheme as OpenAPI has it, without what 1.0 adds; empty for one that it has not. */
    private static Map<String, Object> described(SecurityScheme scheme) {
        var described = new LinkedHashMap<String, Object>();
        boolean device =
                scheme instanceof SecurityScheme.OAuth2 oauth && oauth.flow() instanceof SecurityScheme.Flow.DeviceCode;
        if (!device && LegacyCard.SCHEME.toJson(scheme) instanceof Map<?, ?> members) {
            members.forEach((name, value) -> described.put(String.valueOf(name), withoutAdditions(value)));
            described.keySet().removeAll(Set.of("description", "bearerFormat", "oauth2MetadataUrl"));
        }
        return described;
    }

    private static Object withoutAdditions(@Nullable Object json) {
        if (!(json instanceof Map<?, ?> members)) {
            return requireNonNullElse(json, Map.of());
        }
        var rest = new LinkedHashMap<String, Object>();
        members.forEach((name, value) -> rest.put(String.valueOf(name), withoutAdditions(value)));
        rest.remove("pkceRequired");
        return rest;
    }
}

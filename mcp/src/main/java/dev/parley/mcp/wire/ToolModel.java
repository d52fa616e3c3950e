package dev.parley.mcp.wire;

import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.Tool;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.Shape;
import java.util.Map;

/** JSON of tools and of their calls. */
public final class ToolModel {
    private ToolModel() {}

    /** Definitions of tools, those of other programs too. */
    public static final Codec<Tool> TOOL = Shape.<Tool>of()
            .always("name", Lenient.TEXT, "", Tool::name)
            .optional("title", Lenient.TEXT, Tool::title)
            .optional("description", Lenient.TEXT, Tool::description)
            .always("inputSchema", Lenient.OBJECT, Map.of(), Tool::inputSchema)
            .optional("outputSchema", Lenient.OBJECT, Tool::outputSchema)
            .always("annotations", Lenient.OBJECT, Map.of(), Tool::annotations)
            .as(v -> new Tool(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** Parameters of {@code tools/call}. */
    public static final Codec<Invocation> CALL = Shape.<Invocation>of()
            .required("name", Codecs.TEXT, Invocation::name)
            .always("arguments", Codecs.STRUCT, Map.of(), Invocation::arguments)
            .optional("inputResponses", Codecs.map(Codecs.STRUCT), Map.of(), Invocation::answers)
            .optional("requestState", Codecs.TEXT, Invocation::state)
            .optional("_meta", Codecs.STRUCT, Map.of(), Invocation::meta)
            .as(v -> new Invocation(v.next(), v.next(), v.next(), v.next(), v.next()));
}

package dev.parley.mcp.wire;

import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.Prompt;
import dev.parley.mcp.Resource;
import dev.parley.mcp.Tool;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;

/** JSON of tools with their calls, of resources and of prompts. */
public final class ToolModel {
    private ToolModel() {}

    /** Definitions of tools, those of other programs too. */
    public static final Codec<Tool> TOOL = tool().always("annotations", Lenient.OBJECT, Map.of(), Tool::annotations)
            .as(v -> new Tool(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** Definitions of tools as this server offers them, without empty annotations. */
    public static final Codec<Tool> OFFER = tool().optional("annotations", Lenient.OBJECT, Map.of(), Tool::annotations)
            .as(v -> new Tool(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** Parameters of {@code tools/call}. */
    public static final Codec<Invocation> CALL = ObjectCodec.<Invocation>of()
            .required("name", TEXT, Invocation::name)
            .always("arguments", Codecs.STRUCT, Map.of(), Invocation::arguments)
            .optional("inputResponses", Codecs.map(ResultModel.INPUT_RESPONSE), Map.of(), Invocation::answers)
            .optional("requestState", TEXT, Invocation::state)
            .optional("_meta", Codecs.STRUCT, Map.of(), Invocation::meta)
            .as(v -> new Invocation(v.next(), v.next(), v.next(), v.next(), v.next()));

    public static final Codec<Resource> RESOURCE = resource("uri");
    public static final Codec<Resource> TEMPLATE = resource("uriTemplate");

    private static final Codec<Prompt.Argument> ARGUMENT = ObjectCodec.<Prompt.Argument>of()
            .required("name", TEXT, Prompt.Argument::name)
            .optional("description", TEXT, Prompt.Argument::description)
            .always("required", Codecs.BOOLEAN, false, Prompt.Argument::required)
            .as(v -> new Prompt.Argument(v.next(), v.next(), v.next()));

    public static final Codec<Prompt> PROMPT = ObjectCodec.<Prompt>of()
            .required("name", TEXT, Prompt::name)
            .optional("title", TEXT, Prompt::title)
            .optional("description", TEXT, Prompt::description)
            .optional("arguments", Codecs.list(ARGUMENT), List.of(), Prompt::arguments)
            .as(v -> new Prompt(v.next(), v.next(), v.next(), v.next()));

    private static ObjectCodec.Builder<Tool> tool() {
        return ObjectCodec.<Tool>of()
                .always("name", Lenient.TEXT, "", Tool::name)
                .optional("title", Lenient.TEXT, Tool::title)
                .optional("description", Lenient.TEXT, Tool::description)
                .always("inputSchema", Lenient.OBJECT, Map.of(), Tool::inputSchema)
                .optional("outputSchema", Lenient.OBJECT, Tool::outputSchema);
    }

    private static Codec<Resource> resource(String uri) {
        return ObjectCodec.<Resource>of()
                .required(uri, TEXT, Resource::uri)
                .required("name", TEXT, Resource::name)
                .optional("title", TEXT, Resource::title)
                .optional("description", TEXT, Resource::description)
                .optional("mimeType", TEXT, Resource::mimeType)
                .as(v -> new Resource(v.next(), v.next(), v.next(), v.next(), v.next()));
    }
}

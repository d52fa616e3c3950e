package dev.parley.mesh.workflow.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.mesh.workflow.DefinitionDocument;
import dev.parley.mesh.workflow.Workflow;
import dev.parley.mesh.workflow.WorkflowDocument;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLFactory;

/** A workflow document in a file: JSON if it begins with a brace, else YAML. */
record WorkflowFile(String name, Map<String, @Nullable Object> document) {
    private static final String EXPECTED = "see docs/workflows.md";

    static WorkflowFile read(CommandCall call, String name) {
        try {
            byte[] bytes = name.equals("-") ? call.in().readAllBytes() : Files.readAllBytes(call.path(name));
            return new WorkflowFile(name, members(name, new String(bytes, UTF_8)));
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read " + name + ": " + unreadable.getMessage(), null);
        }
    }

    private static Map<String, @Nullable Object> members(String name, String text) {
        try {
            if (text.stripLeading().startsWith("{")) {
                return JsonText.read(text.getBytes(UTF_8), Codecs.STRUCT);
            }
            var factory = YAMLFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build();
            try (JsonParser in = factory.createParser(ObjectReadContext.empty(), text)) {
                if (in.nextToken() != JsonToken.START_OBJECT) {
                    throw invalid(name, "no mapping (expected: a workflow)");
                }
                Map<String, @Nullable Object> read = Codecs.STRUCT.read(in);
                return read == null ? Map.of() : read;
            }
        } catch (JacksonException malformed) {
            throw invalid(name, "line " + malformed.getLocation().getLineNr() + ": " + malformed.getOriginalMessage());
        } catch (A2AException malformed) {
            throw invalid(name, String.valueOf(malformed.getMessage()));
        }
    }

    /** @throws CommandException if the document is invalid */
    Workflow checked() {
        try {
            return DefinitionDocument.is(document)
                    ? DefinitionDocument.workflow(DefinitionDocument.checked(document))
                    : WorkflowDocument.strict(document).checkedWithoutInputs();
        } catch (InvalidField | A2AException wrong) {
            throw invalid(name, String.valueOf(wrong.getMessage()));
        }
    }

    /**
     * The document of a run with these inputs.
     *
     * @throws CommandException if they do not fit
     */
    Map<String, @Nullable Object> filled(Map<String, @Nullable Object> inputs) {
        try {
            if (DefinitionDocument.is(document)) {
                return DefinitionDocument.filled(document, inputs);
            }
            var filled = new LinkedHashMap<>(document);
            if (!inputs.isEmpty()) {
                filled.put("inputs", inputs);
            }
            return filled;
        } catch (InvalidField wrong) {
            throw invalid(name, String.valueOf(wrong.getMessage()));
        }
    }

    static CommandException invalid(String name, String problem) {
        return CommandException.failed("InvalidWorkflow", name + ": " + problem, EXPECTED);
    }
}

package dev.parley.mesh.workflow.command;

import dev.parley.command.CommandCall;
import dev.parley.command.Parameters;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionView;
import dev.parley.mesh.workflow.WorkflowOperation.DeleteDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.SaveDefinition;
import dev.parley.mesh.workflow.WorkflowProtocol;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Commands of stored definitions. */
final class Definition {
    static final String VERSION = "--version";

    private Definition() {}

    static OptionSpec version() {
        return Parameters.option(VERSION, "N", "A version of the definition; default: the newest.");
    }

    static int show(CommandCall call, DefinitionView view) {
        call.output().result(() -> WorkflowProtocol.json(view), page -> {
            page.field("Name", view.name())
                    .field("Version", view.version())
                    .field("Description", view.description())
                    .field("Steps", view.steps())
                    .field("Saved-By", view.savedBy());
            page.gap();
            page.layout("Document", view.document());
        });
        return 0;
    }

    /** Stores a document. */
    static final class Save extends WorkflowCommand {
        private static final String NAME = "--name";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(
                    Parameters.argument(0, true, "FILE", "The document, in JSON or YAML; - for standard input."));
            spec.addOption(Parameters.option(NAME, "NAME", "Name of the definition; default: name in the document."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            WorkflowFile file = WorkflowFile.read(call, call.requiredArgument(0));
            Map<String, @Nullable Object> document = new LinkedHashMap<>(file.document());
            String name = call.option(NAME);
            if (name != null) {
                document.put("name", name);
            }
            var unused = new WorkflowFile(file.name(), document).checked();
            return connect(call, one -> show(call, one.call(new SaveDefinition(document), CALLER)));
        }
    }

    /** Deletes a definition. */
    static final class Delete extends WorkflowCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "NAME", "Name of the definition."));
            spec.addOption(Parameters.option(VERSION, "N", "A version of the definition; default: all."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String name = call.requiredArgument(0);
            Integer version = call.number(VERSION, 1, Integer.MAX_VALUE);
            return connect(call, one -> show(call, one.call(new DeleteDefinition(name, version), CALLER)));
        }
    }
}

package dev.parley.registry.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.ProgramCommand;
import dev.parley.command.RowParameters;
import dev.parley.dialect.Json;
import dev.parley.protocol.extension.RestParameter;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * {@code parley report …}: an operation of the administration whose answer is a table.
 *
 * @param parameters of the operation
 */
record ReportCommand(String operation, List<RestParameter> parameters) implements ProgramCommand {
    private static final String OUTPUT = "--output";
    private static final List<String> FORMATS = List.of("text", "csv", "json");

    @Override
    public Target target() {
        return Target.ADMINISTRATION;
    }

    @Override
    public void describe(CommandSpec spec) {
        RowParameters.describe(spec, parameters);
        spec.addOption(OptionSpec.builder("-o", OUTPUT)
                .type(String.class)
                .arity("1")
                .paramLabel("FORMAT")
                .description("text, csv or json; default: text.")
                .build());
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        String typed = call.option(OUTPUT);
        String format = typed != null ? typed : call.output().isJson() ? "json" : "text";
        if (!FORMATS.contains(format)) {
            throw CommandException.usage("invalid -o: " + format + " (expected: text, csv or json)", null);
        }
        Map<String, Object> values = RowParameters.values(call, parameters);
        Map<?, ?> report = call.admin(operation, values, "the same command with --help lists the subjects");
        if (format.equals("json")) {
            call.output().print(new String(Json.write(report), UTF_8) + "\n");
            return 0;
        }
        JsonTable table = JsonTable.of(report.get("rows") instanceof List<?> rows ? rows : List.of());
        call.output().note(report.get("since") + " to " + report.get("until"));
        call.output().print(format.equals("csv") ? table.csv() : table.text());
        return 0;
    }
}

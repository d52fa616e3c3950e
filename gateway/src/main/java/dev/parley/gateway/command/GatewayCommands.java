package dev.parley.gateway.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;
import static java.util.Objects.requireNonNull;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandEntry;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.CommandSource;
import dev.parley.command.ProgramCommand;
import dev.parley.command.RowParameters;
import dev.parley.dialect.Json;
import dev.parley.gateway.hub.RouteOperation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestDescription;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley gateway}: a command for each operation of the administration on routes. */
public final class GatewayCommands implements CommandSource {
    private static final String PREFIX = "admin/";
    private static final String GROUP = "gateway/";

    /** For the service loader. */
    public GatewayCommands() {}

    @Override
    public List<CommandEntry> commands() {
        var entries = new ArrayList<CommandEntry>();
        for (ExtensionMethod<?, ?> row : RouteOperation.ROWS) {
            RestDescription description = requireNonNull(row.description());
            String operation = row.name().substring(PREFIX.length());
            String name = operation.substring(GROUP.length());
            entries.add(of(name, description.summary(), () -> new RouteCommand(operation, description)));
        }
        return List.of(group("gateway", "Host remote agents", entries.toArray(CommandEntry[]::new)));
    }

    /** An operation on routes. */
    private record RouteCommand(String operation, RestDescription description) implements ProgramCommand {
        @Override
        public Target target() {
            return Target.ADMINISTRATION;
        }

        @Override
        public void describe(CommandSpec spec) {
            RowParameters.describe(spec, description.parameters());
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Map<String, Object> values = RowParameters.values(call, description.parameters());
            values.computeIfPresent("trust", (name, keys) -> call.text(keys.toString()));
            Map<?, ?> answer = call.admin(operation, values, "parley gateway list shows the routes");
            call.output().result(() -> Json.write(answer), page -> show(page, answer));
            return 0;
        }

        private static void show(Fields page, Map<?, ?> answer) {
            if (answer.get("routes") instanceof List<?> routes) {
                for (Object route : routes) {
                    show(page, (Map<?, ?>) route);
                    page.gap();
                }
                page.field("Total-Size", routes.size());
                return;
            }
            answer.forEach((name, value) -> {
                String label = name.toString().substring(0, 1).toUpperCase(Locale.ROOT)
                        + name.toString().substring(1);
                if (value instanceof List<?> || value instanceof Map<?, ?>) {
                    page.layout(label, value);
                } else {
                    page.field(label, value);
                }
            });
        }
    }
}

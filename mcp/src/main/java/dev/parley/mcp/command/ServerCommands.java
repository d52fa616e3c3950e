package dev.parley.mcp.command;

import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandEntry;
import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.command.SafeText;
import dev.parley.dialect.Json;
import dev.parley.mcp.wire.Trees;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** Commands for the MCP servers that a hub hosts, and for the approval of their tools. */
final class ServerCommands {
    private static final String NO_SERVERS = "the hub hosts no MCP servers (parley up --mcp-servers FILE)";

    private ServerCommands() {}

    private interface Administered extends ProgramCommand {
        @Override
        default Target target() {
            return Target.ADMINISTRATION;
        }
    }

    static List<CommandEntry> all() {
        return List.of(
                of("servers", "List the MCP servers of a hub with their state", Servers::new),
                of("tools", "List the tools of MCP servers and the changes that wait for approval", Listed::new),
                of("log", "Show what the program of an MCP server wrote to its standard error", Log::new),
                of("approve", "Approve new and changed tools of an MCP server", Approve::new));
    }

    private static List<Map<String, @Nullable Object>> servers(CommandCall call) throws InterruptedException {
        return Trees.maps(Trees.map(call.admin("mcp/tools", Map.of(), NO_SERVERS)), "servers");
    }

    private static boolean isHeld(Map<String, @Nullable Object> tool) {
        return !"approved".equals(tool.get("state"));
    }

    private static void list(
            CommandCall call,
            String name,
            List<Map<String, @Nullable Object>> rows,
            BiConsumer<Fields, Map<String, @Nullable Object>> row) {
        call.output().result(() -> Json.write(Map.of(name, rows)), page -> {
            for (Map<String, @Nullable Object> each : rows) {
                row.accept(page, each);
                page.gap();
            }
            page.field("Total-Size", rows.size());
        });
    }

    /** {@code parley mcp servers}. */
    private static final class Servers implements Administered {
        @Override
        public int run(CommandCall call) throws InterruptedException {
            var rows = new ArrayList<Map<String, @Nullable Object>>();
            for (Map<String, @Nullable Object> server : servers(call)) {
                List<Map<String, @Nullable Object>> tools = Trees.maps(server, "tools");
                var row = new LinkedHashMap<>(server);
                row.put("tools", tools.size());
                row.put("held", tools.stream().filter(ServerCommands::isHeld).count());
                rows.add(row);
            }
            list(
                    call,
                    "servers",
                    rows,
                    (page, row) -> page.field("Name", row.get("name"))
                            .field("State", row.get("state"))
                            .field("Restarts", row.get("restarts"))
                            .field("Last-Problem", row.get("lastProblem"))
                            .field("Tools", row.get("tools"))
                            .field("Held", row.get("held")));
            return 0;
        }
    }

    /** {@code parley mcp tools}. */
    private static final class Listed implements Administered {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, false, "SERVER", "Name of one server; default: all."));
            spec.addOption(Parameters.flag("--held", "Only tools that wait for approval."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String wanted = call.argument(0);
            var rows = new ArrayList<Map<String, @Nullable Object>>();
            var names = new ArrayList<String>();
            for (Map<String, @Nullable Object> server : servers(call)) {
                String name = String.valueOf(server.get("name"));
                names.add(name);
                for (Map<String, @Nullable Object> tool : Trees.maps(server, "tools")) {
                    if ((wanted == null || wanted.equals(name)) && (isHeld(tool) || !call.has("--held"))) {
                        var row = new LinkedHashMap<String, @Nullable Object>(Map.of("server", name));
                        row.putAll(tool);
                        rows.add(row);
                    }
                }
            }
            if (wanted != null && !names.contains(wanted)) {
                throw CommandException.usage(
                        "MCP server \"" + wanted + "\": unknown (expected: one of " + String.join(", ", names) + ")",
                        "parley mcp servers lists them");
            }
            list(call, "tools", rows, ServerCommands::show);
            return 0;
        }
    }

    /** {@code parley mcp log}. */
    private static final class Log implements Administered {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "SERVER", "Name of the server."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Map<String, @Nullable Object> log = Trees.map(call.admin(
                    "mcp/servers/log",
                    Map.of("server", call.requiredArgument(0)),
                    "parley mcp servers lists the servers of the hub"));
            call.output().result(() -> Json.write(log), page -> {
                for (Map<String, @Nullable Object> line : Trees.maps(log, "lines")) {
                    page.field(String.valueOf(line.get("at")), line.get("text"));
                }
            });
            return 0;
        }
    }

    private static void show(Fields page, Map<String, @Nullable Object> tool) {
        page.field("Server", tool.get("server"))
                .field("Name", tool.get("name"))
                .field("State", tool.get("state"))
                .field("Pinned", tool.get("pinned"));
        if (!isHeld(tool)) {
            return;
        }
        page.field("Held", tool.get("digest"));
        Map<String, @Nullable Object> differences = Trees.map(tool.get("differences"));
        if (differences.isEmpty()) {
            page.layout("Definition", tool.get("change"));
        }
        differences.forEach((path, values) -> page.layout("Change of " + SafeText.oneLine(path), values));
    }

    /** {@code parley mcp approve}. */
    private static final class Approve implements Administered {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.words(
                    true, "SERVER [TOOL…]", "Name of a server, and names of tools; default: all tools that wait."));
            spec.addOption(Parameters.option(
                    "--digest",
                    "DIGEST",
                    "Begin of the digest of the definition that was looked at, so that no later one is approved."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            List<String> words = List.of(call.requiredArgument(0).split(" ", -1));
            String server = words.getFirst();
            var approved = new ArrayList<String>();
            var missing = new ArrayList<String>();
            if (words.size() == 1) {
                approved.addAll(approve(call, server, null));
            }
            for (String tool : words.subList(1, words.size())) {
                List<String> done = approve(call, server, tool);
                approved.addAll(done);
                if (done.isEmpty()) {
                    missing.add(tool);
                }
            }
            call.output().result(() -> Json.write(Map.of("server", server, "approved", approved)), page -> {
                approved.forEach(tool -> page.field("Approved", tool));
                page.field("Total-Size", approved.size());
            });
            if (!missing.isEmpty()) {
                throw CommandException.failed(
                        "PARLEY_ERR_NOTHING_HELD",
                        "no such definition waits for approval: " + String.join(", ", missing),
                        "parley mcp tools " + server + " --held lists tools that wait, with their digests");
            }
            return 0;
        }

        private static List<String> approve(CommandCall call, String server, @Nullable String tool)
                throws InterruptedException {
            var request = new LinkedHashMap<String, @Nullable Object>();
            request.put("server", server);
            request.put("tool", tool);
            request.put("digest", call.option("--digest"));
            request.values().removeIf(Objects::isNull);
            Map<?, ?> answer =
                    call.admin("mcp/tools/approve", request, "parley mcp servers lists the servers of the hub");
            return Trees.texts(Trees.map(answer), "approved");
        }
    }
}

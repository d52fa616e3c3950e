package dev.parley.cli.host;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.CardReferences;
import dev.parley.cli.output.Interruption;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.settings.SettingType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * {@code parley conformance}: runs the A2A Technology Compatibility Kit, a checkout of which must be at hand, against a
 * live agent, and sums up the findings.
 */
public final class ConformanceCommand {
    private static final Pattern COUNT = Pattern.compile("(\\d+) (passed|failed|skipped|errors?)");
    private static final Pattern FAILED = Pattern.compile("FAILED (\\S+).*");

    /** Bindings as cards and as the kit name them. */
    private static final Map<String, String> BINDINGS = Map.of(
            AgentCard.Interface.JSONRPC, "jsonrpc",
            AgentCard.Interface.HTTP_JSON, "http_json",
            AgentCard.Interface.GRPC, "grpc");

    private static final String SETUP =
            "git clone -b 1.0-dev https://github.com/a2aproject/a2a-tck; then, in it: git checkout"
                    + " 357c4a87afa2 && python3 -m venv .venv && .venv/bin/pip install -e .";

    private record Run(int status, List<String> lines) {}

    private ConformanceCommand() {}

    public static Command command() {
        return Command.of(ConformanceCommand::run)
                .option("--tck", "DIR", "Checkout of a2aproject/a2a-tck, branch 1.0-dev, with its .venv; required.")
                .option("--level", "LEVEL", "must (default), should or may.")
                .flag("--fail", "Exit with 1 if a check fails, instead of only reporting it.")
                .footer("Bindings: those of the card (JSON-RPC, HTTP+JSON, gRPC), or those of --transport.");
    }

    private static int run(Invocation call) throws InterruptedException {
        Path kit = kit(call);
        String level = requireNonNullElse(call.option("--level", SettingType.oneOf("must", "should", "may")), "must");
        String reference = call.agent().card();
        CardReferences.Found found = AgentConnection.card(call, reference);
        if (found.url() == null) {
            throw CommandException.usage("the kit needs a live agent (expected: its origin with -a)", null);
        }
        String host = found.place().replaceFirst("/\\.well-known/.*", "");
        return report(call, run(call, kit, host, bindings(call, found.card()), level));
    }

    private static String bindings(Invocation call, AgentCard card) {
        List<String> chosen = call.agent().transports();
        String bindings = (chosen.isEmpty()
                        ? card.supportedInterfaces().stream().map(AgentCard.Interface::protocolBinding)
                        : chosen.stream())
                .distinct()
                .filter(BINDINGS::containsKey)
                .map(BINDINGS::get)
                .collect(Collectors.joining(","));
        if (bindings.isEmpty()) {
            throw CommandException.usage(
                    "the card has no binding that the kit tests (expected: JSONRPC, HTTP+JSON or GRPC)", null);
        }
        return bindings;
    }

    private static Path kit(Invocation call) {
        String named = call.option("--tck");
        if (named == null) {
            throw CommandException.usage("no kit named (expected: --tck DIR)", SETUP);
        }
        Path kit = call.path(named);
        if (!Files.isRegularFile(kit.resolve("run_tck.py"))) {
            throw CommandException.usage(
                    kit + ": no run_tck.py (expected: a checkout of a2aproject/a2a-tck, branch 1.0-dev)", SETUP);
        }
        return kit;
    }

    private static Run run(Invocation call, Path kit, String host, String bindings, String level)
            throws InterruptedException {
        Path python = kit.resolve(".venv/bin/python");
        var command = new ArrayList<String>(List.of(
                Files.isExecutable(python) ? python.toString() : "python3",
                "run_tck.py",
                "--sut-host",
                host,
                "--transport",
                bindings,
                "--level",
                level));
        var lines = new ArrayList<String>();
        try {
            Process process = new ProcessBuilder(command)
                    .directory(kit.toFile())
                    .redirectErrorStream(true)
                    .start();
            call.around().interruption().react(() -> {
                process.destroy();
                return Interruption.BY_SIGNAL;
            });
            try (var reader =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    lines.add(line);
                    call.output().note(line);
                }
            }
            return new Run(process.waitFor(), lines);
        } catch (IOException broken) {
            throw CommandException.of(Kind.INTERNAL, "cannot run the kit: " + broken.getMessage(), SETUP, broken);
        }
    }

    private static int report(Invocation call, Run run) {
        Map<String, Object> counts = new TreeMap<>(Map.of("passed", 0, "failed", 0, "skipped", 0));
        var failures = new ArrayList<String>();
        boolean ran = false;
        for (String line : run.lines()) {
            Matcher failed = FAILED.matcher(line);
            if (failed.matches()) {
                failures.add(failed.group(1));
            }
            if (line.contains(" in ")
                    && (line.contains(" passed") || line.contains(" failed") || line.contains(" error"))) {
                Matcher count = COUNT.matcher(line);
                while (count.find()) {
                    ran = true;
                    String kind = count.group(2).startsWith("error") ? "failed" : count.group(2);
                    counts.put(kind, Integer.parseInt(count.group(1)));
                }
            }
        }
        if (!ran) {
            String last = run.lines().isEmpty() ? "no output" : run.lines().getLast();
            throw CommandException.failed(
                    "PARLEY_ERR_CONFORMANCE",
                    "the kit ended with status " + run.status() + " before it ran a test: " + last,
                    "other branches of the kit do not run so: " + SETUP);
        }
        call.output()
                .result(
                        () -> Json.write(Map.of("conformance", Map.of("counts", counts, "failures", failures))),
                        page -> {
                            page.field("Passed", counts.get("passed"))
                                    .field("Failed", counts.get("failed"))
                                    .field("Skipped", counts.get("skipped"));
                            failures.forEach(failure -> page.field("Failure", failure));
                        });
        return call.has("--fail") && !failures.isEmpty() ? 1 : 0;
    }
}

package dev.parley.cli.host;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.CardSource;
import dev.parley.cli.connection.Connection;
import dev.parley.cli.output.Interruption;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
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

/**
 * {@code parley conformance}: runs the A2A Technology Compatibility Kit, a checkout of which must be at hand, against a
 * live agent, and sums up the findings.
 */
public final class ConformanceCommand {
    private static final Pattern COUNT = Pattern.compile("(\\d+) (passed|failed|skipped|errors?)");
    private static final Pattern FAILED = Pattern.compile("FAILED (\\S+).*");

    private ConformanceCommand() {}

    public static Command command() {
        return Command.of(ConformanceCommand::run)
                .option("--tck", "DIR", "Checkout of a2aproject/a2a-tck with its .venv; required.")
                .option("--level", "LEVEL", "must (default), should or may.")
                .flag("--fail", "Exit with 1 if a check fails, instead of only reporting it.");
    }

    private static int run(Invocation call) throws InterruptedException {
        Path kit = kit(call);
        String level = requireNonNullElse(call.option("--level", SettingType.oneOf("must", "should", "may")), "must");
        String reference = call.agent().card();
        CardSource.Found found = Connection.card(call, reference);
        if (found.url() == null) {
            throw CommandException.usage("the kit needs a live agent (expected: its origin with -a)", null);
        }
        String host = found.place().replaceFirst("/\\.well-known/.*", "");
        List<String> lines = run(call, kit, host, level);
        return report(call, lines);
    }

    private static Path kit(Invocation call) {
        String named = call.option("--tck");
        if (named == null) {
            throw CommandException.usage(
                    "no kit named (expected: --tck DIR)",
                    "git clone https://github.com/a2aproject/a2a-tck; then, in it: python -m venv .venv &&"
                            + " .venv/bin/pip install -e .");
        }
        Path kit = call.path(named);
        if (!Files.isRegularFile(kit.resolve("run_tck.py"))) {
            throw CommandException.usage(
                    kit + " holds no run_tck.py", "name a checkout of a2aproject/a2a-tck with --tck");
        }
        return kit;
    }

    private static List<String> run(Invocation call, Path kit, String host, String level) throws InterruptedException {
        Path python = kit.resolve(".venv/bin/python");
        var command = new ArrayList<String>(List.of(
                Files.isExecutable(python) ? python.toString() : "python3",
                "run_tck.py",
                "--sut-host",
                host,
                "--transport",
                "jsonrpc,http_json",
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
            process.waitFor();
            return lines;
        } catch (IOException broken) {
            throw CommandException.of(
                    Kind.INTERNAL,
                    "cannot run the kit: " + broken.getMessage(),
                    "in " + kit + ": python -m venv .venv && .venv/bin/pip install -e .",
                    broken);
        }
    }

    private static int report(Invocation call, List<String> lines) {
        Map<String, Object> counts = new TreeMap<>(Map.of("passed", 0, "failed", 0, "skipped", 0));
        var failures = new ArrayList<String>();
        boolean ran = false;
        for (String line : lines) {
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
            throw CommandException.of(Kind.INTERNAL, "the kit ended without a result", "see its output above");
        }
        call.output()
                .result(
                        () -> dev.parley.dialect.Json.write(
                                Map.of("conformance", Map.of("counts", counts, "failures", failures))),
                        page -> {
                            page.field("Passed", counts.get("passed"))
                                    .field("Failed", counts.get("failed"))
                                    .field("Skipped", counts.get("skipped"));
                            failures.forEach(failure -> page.field("Failure", failure));
                        });
        return call.has("--fail") && !failures.isEmpty() ? 1 : 0;
    }
}

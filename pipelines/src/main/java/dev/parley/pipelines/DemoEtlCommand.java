package dev.parley.pipelines;

import dev.parley.command.CommandCall;
import dev.parley.pipelines.etl.EtlAgents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code parley demo etl}. */
@Command(
        name = "etl",
        footer = {
            "",
            "Five agents read a table, check it, keep the rows without problems, write them into a file of SQLite and"
                    + " report the quality. Without <file>, a sample of orders with its rules is used."
        })
final class DemoEtlCommand extends DemoCommand {
    @Parameters(index = "0", arity = "0..1", paramLabel = "<file>", description = "CSV or JSON lines, at most 4 MiB.")
    private @Nullable String file;

    @Option(
            names = "--rules",
            paramLabel = "<file>",
            description = "JSON: rules by columns, with type, required, unique, min, max, pattern, oneOf.")
    private @Nullable String rules;

    @Override
    String pipeline() {
        return "etl";
    }

    @Override
    Map<String, Map<String, @Nullable Object>> parameters(CommandCall call) throws IOException {
        byte[] table;
        String name = "orders.csv";
        if (file == null) {
            table = sample(name);
        } else {
            Path path = call.path(file);
            name = path.getFileName().toString();
            table = Files.readAllBytes(path);
        }
        Map<String, @Nullable Object> checks = rules != null
                ? object(Files.readAllBytes(call.path(rules)), rules)
                : file == null ? object(sample("orders-rules.json"), "rules") : Map.of();
        return Map.of("read", Map.of("table", file(name, table)), "check", Map.of("rules", checks));
    }

    @Override
    int withAgents(Hosted run) throws InterruptedException {
        return run.run(EtlAgents.all());
    }
}

package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A Compose file as Docker Compose reads it: its schema, interpolation and references are checked.
 *
 * @param services by their names, in the long forms of the specification
 */
record ComposeFile(Map<String, Map<?, ?>> services) {
    /** Builds the reader, which is compiled once. */
    static void install() {
        try {
            ForeignSdk.COMPOSE.install();
        } catch (IOException failure) {
            Requirement.missing(String.valueOf(failure.getMessage()));
        }
    }

    /**
     * Reads a file.
     *
     * @throws IOException if the file is not one of the specification; the message says why
     */
    static ComposeFile read(Path file, Map<String, String> variables) throws IOException {
        List<String> command = Stream.concat(
                        Stream.of("./compose", file.toString()),
                        variables.entrySet().stream().map(variable -> variable.getKey() + "=" + variable.getValue()))
                .toList();
        List<String> lines =
                ForeignSdk.execute(ForeignSdk.COMPOSE.directory(), Duration.ofMinutes(1), command, "compose");
        var services = new LinkedHashMap<String, Map<?, ?>>();
        Map<?, ?> project = Json.read(lines.getFirst().getBytes(UTF_8), Map.class);
        requireNonNull((Map<?, ?>) project.get("services"))
                .forEach((name, service) -> services.put(String.valueOf(name), (Map<?, ?>) service));
        return new ComposeFile(services);
    }
}

package dev.parley.mesh.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.trust.cards.ContentKeys;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code parley one key …}: keys for encrypted content. */
final class OneKeyCommand {
    private OneKeyCommand() {}

    /** Keys of a file; a wrong file is an error of the command line. */
    static <T> T keys(String option, Supplier<T> read) {
        try {
            return read.get();
        } catch (IllegalArgumentException | UncheckedIOException wrong) {
            throw CommandException.usage(option + ": " + wrong.getMessage(), "see docs/mesh.md");
        }
    }

    @Command
    static final class Create implements ProgramCommand {
        @Parameters(paramLabel = "FILE", description = "File to create; it must not exist.")
        private String file = "";

        @Option(
                names = {"-o", "--output"},
                paramLabel = "FORMAT",
                description = "text or json. Default: text.")
        private String output = "text";

        @Override
        public int run(CommandCall call) {
            Path path = call.path(file);
            String id = keys("FILE", () -> ContentKeys.create(path));
            if (output.equals("json")) {
                call.output().print(new String(Json.write(Map.of("keyId", id, "file", path.toString())), UTF_8) + "\n");
            } else {
                call.output().line("Key-ID: " + id);
                call.output().line("File: " + path);
            }
            call.output()
                    .note("keep this file secret; print the public key for senders by: parley one key public " + file);
            return 0;
        }
    }

    @Command
    static final class Public implements ProgramCommand {
        @Parameters(paramLabel = "FILE", description = "The file of the key: a JWK or a JWK set.")
        private String file = "";

        @Override
        public int run(CommandCall call) {
            ContentKeys keys = keys("FILE", () -> ContentKeys.read(call.path(file)));
            call.output().print(new String(keys.published(), UTF_8) + "\n");
            return 0;
        }
    }
}

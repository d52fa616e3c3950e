package dev.parley.mesh.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.trust.cards.ContentKeys;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code parley one key …}: keys for encrypted content. */
final class OneKeyCommand {
    private OneKeyCommand() {}

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
            String id = OneCommands.keys("FILE", () -> ContentKeys.create(path));
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
            ContentKeys keys = OneCommands.keys("FILE", () -> ContentKeys.read(call.path(file)));
            call.output().print(new String(keys.published(), UTF_8) + "\n");
            return 0;
        }
    }
}

package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.trust.CardKeys;
import dev.parley.trust.CardKeys.Algorithm;
import dev.parley.trust.CardTrust;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley card key …}: the keys that sign cards. */
abstract class CardKeyCommand implements Command {
    @Override
    public List<Setting<?>> relevant() {
        return List.of(Setting.OUTPUT);
    }

    /** Makes one. */
    static final class Create extends CardKeyCommand {
        private static final Map<String, Algorithm> ALGORITHMS =
                Map.of("ES256", Algorithm.ES256, "EdDSA", Algorithm.EDDSA);

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "FILE", "The file to make; it must not be there yet."));
            spec.addOption(Command.option("--alg", "ALGORITHM", "ES256 or EdDSA. Default: ES256."));
            spec.addOption(Command.option("--expires", "DURATION", "How long it may be used, such as 365d."));
        }

        @Override
        public int run(Invocation call) {
            Path file = call.around().path(call.requiredArgument(0));
            String named = call.option("--alg") == null ? "ES256" : String.valueOf(call.option("--alg"));
            Algorithm algorithm = ALGORITHMS.get(named);
            if (algorithm == null) {
                throw CliException.usage("invalid --alg: " + named + " (expected: ES256 or EdDSA)", null);
            }
            var row = new LinkedHashMap<String, @Nullable Object>();
            try {
                row.put("keyId", CardKeys.create(file, algorithm, expires(call)));
            } catch (UncheckedIOException failed) {
                throw new CliException(
                        Problem.local(
                                LocalError.INTERNAL,
                                String.valueOf(failed.getMessage()),
                                "name a new file that can be made"),
                        failed);
            }
            row.put("algorithm", named);
            row.put("file", file.toString());
            call.output()
                    .result(
                            () -> Json.write(row),
                            page -> page.field("Key-ID", row.get("keyId"))
                                    .field("Algorithm", named)
                                    .field("File", file));
            call.output()
                    .note("keep it to yourself; who is to trust it needs: parley card key public "
                            + Invocation.quoted(call.requiredArgument(0)));
            return 0;
        }

        private static @Nullable Instant expires(Invocation call) {
            String text = call.option("--expires");
            try {
                return text == null
                        ? null
                        : Instant.now().plus(SettingType.DURATION.parser().apply(text));
            } catch (IllegalArgumentException wrong) {
                throw CliException.usage(
                        "invalid --expires: " + text + " (expected: " + SettingType.DURATION.expected() + ")", null);
            }
        }
    }

    /** Gets the keys that a host publishes, as keys that are trusted for that host. */
    static final class Fetch extends CardKeyCommand {
        private static final String WELL_KNOWN = "/.well-known/jwks.json";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(
                    Command.argument(0, true, "HOST", "Who publishes them: a host, an origin, or the URL of the set."));
            spec.addOption(Command.option(
                    "--host", "HOST[,HOST]", "Hosts for whose cards they are trusted. Default: that of the set."));
        }

        @Override
        public List<Setting<?>> relevant() {
            return List.of(Setting.INSECURE, Setting.SVC_PARAM, Setting.CONFIG, Setting.DEBUG);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String named = call.requiredArgument(0);
            CardSource.Found found =
                    Connection.card(call, named.endsWith(".json") ? named : named.replaceFirst("/+$", "") + WELL_KNOWN);
            String hosts = call.option("--host") == null ? found.host() : call.option("--host");
            if (hosts == null) {
                throw CliException.usage(named + " is a file, which tells no host", "say for whom: --host HOST");
            }
            try {
                String keys = new String(found.bytes(), StandardCharsets.UTF_8);
                call.output()
                        .json(CardTrust.entry(keys, SettingType.LIST.parser().apply(hosts)));
            } catch (IllegalArgumentException noKeys) {
                throw CliException.usage(found.place() + ": " + noKeys.getMessage(), "name who publishes keys");
            }
            call.output()
                    .note("trusted for cards of " + hosts + " with --trust; ask their owner whether they are theirs");
            return 0;
        }
    }

    /** Shows what others may know of it. */
    static final class Public extends CardKeyCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "FILE", "The file of the key: a JWK, a JWK set, or PEM."));
        }

        @Override
        public int run(Invocation call) {
            call.output()
                    .json(CardSignCommand.keys(call, List.of(call.requiredArgument(0)))
                            .published());
            return 0;
        }
    }
}

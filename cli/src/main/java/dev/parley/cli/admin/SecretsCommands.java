package dev.parley.cli.admin;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.hub.secrets.SecretBundle;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley secrets …}: brings the secrets of a hub to others on the same database; for operators, not part of A2A. */
public final class SecretsCommands {
    private static final String DEFAULT = "~/.parley";
    private static final String DATABASE = "PARLEY_DATABASE";
    private static final String STREAM = "-";

    private SecretsCommands() {}

    private static Command command(Command.Work work, String data) {
        return Command.of(call -> {
                    try {
                        return work.run(call);
                    } catch (StoreException failed) {
                        CommandException problem = Problems.of(failed);
                        throw failed instanceof InUseException
                                ? problem.withHint("stop the hubs that use the database")
                                : problem;
                    }
                })
                .option("--data", "DIR", data + " Default: " + DEFAULT + ".")
                .settings("output", "verbose", "config", "debug")
                .strict();
    }

    private static String data(Invocation call) {
        String named = call.option("--data");
        return named == null ? DEFAULT : named;
    }

    public static Command exportAll() {
        return command(SecretsCommands::exportAll, "The data directory of the hub, which may be running.")
                .argument("FILE", "The file to create, for its owner only; - for standard output.")
                .flag("--force", "Replace a file, or print to a terminal.");
    }

    private static int exportAll(Invocation call) {
        Path directory = call.existingData(data(call));
        SecretBundle bundle = SecretBundle.of(directory);
        if (bundle.secrets().isEmpty()) {
            throw CommandException.of(
                    Kind.DATA,
                    "directory \"" + directory + "\": no secrets (expected: the data directory of a hub that has run,"
                            + " or the directory of its --secrets)",
                    "name it with --data");
        }
        String named = call.requiredArgument(0);
        if (named.equals(STREAM)) {
            if (!call.has("--force") && call.around().out().equals(System.out) && CliEnvironment.isTerminal(1)) {
                throw CommandException.usage(
                        "secrets on a terminal (expected: a file, or standard output that another program reads)",
                        "--force prints them nevertheless");
            }
            call.output().help(new String(bundle.json(), StandardCharsets.UTF_8) + "\n");
            return 0;
        }
        Path file = call.path(named);
        try {
            if (call.has("--force")) {
                OwnersOnly.replace(file, bundle.json());
            } else {
                OwnersOnly.create(file, bundle.json());
            }
        } catch (FileAlreadyExistsException there) {
            throw CommandException.of(
                    Kind.USAGE, "file \"" + file + "\": exists (expected: a new file)", "--force replaces it", there);
        } catch (IOException failed) {
            throw CommandException.of(Kind.USAGE, "cannot write " + file + ": " + failed, null, failed);
        }
        show(call, bundle, "file", file);
        call.output()
                .note("remove the file once the other hubs have it: a reader of the file can sign tokens of the hubs");
        return 0;
    }

    public static Command importAll() {
        return command(SecretsCommands::importAll, "The data directory of a hub that does not run; made if missing.")
                .argument("FILE", "A file of parley secrets export; - for standard input.")
                .flag("--force", "Replace other secrets that the directory has.");
    }

    private static int importAll(Invocation call) {
        Path directory = call.path(data(call));
        String named = call.requiredArgument(0);
        SecretBundle bundle = CommandException.reading(
                "secrets of " + (named.equals(STREAM) ? "standard input" : "\"" + named + "\"") + ": ",
                "parley secrets export makes such a file on the first hub",
                () -> SecretBundle.read(
                        named.equals(STREAM)
                                ? call.around().in().readAllBytes()
                                : Files.readAllBytes(call.path(named))));
        List<String> others = bundle.differing(directory);
        if (!others.isEmpty()) {
            if (!call.has("--force")) {
                throw CommandException.of(
                        Kind.DATA,
                        "directory \"" + directory + "\": has other secrets, " + String.join(", ", others)
                                + " (expected: none, or those of the file)",
                        "--force replaces them; tokens, webhooks and encrypted data of the old ones are void then");
            }
            requireStopped(directory);
        }
        bundle.write(directory);
        show(call, bundle, "directory", directory);
        if (!named.equals(STREAM) && OwnersOnly.isReadByOthers(call.path(named))) {
            call.output().warn("other users of the machine can read " + named + ": remove it, or chmod 600");
        }
        return 0;
    }

    /** A hub on SQLite accepts no changes without its files. That of PostgreSQL may be used by hubs with other directories. */
    private static void requireStopped(Path directory) {
        try {
            if (Files.exists(directory.resolve("parley.db")) && Database.isInUse(directory)) {
                throw CommandException.of(
                        Kind.DATA_IN_USE,
                        "directory \"" + directory + "\": a hub runs (expected: one that is stopped)",
                        "stop the hub");
            }
        } catch (IOException failed) {
            throw CommandException.of(Kind.DATA, "cannot read " + directory + ": " + failed, null, failed);
        }
    }

    private static void show(Invocation call, SecretBundle bundle, String label, Path place) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        members.put(label, place.toString());
        members.put(
                "secrets",
                SecretFile.NAMES.stream().filter(bundle.secrets()::containsKey).toList());
        call.output().members(members);
    }

    public static Command forget() {
        return command(SecretsCommands::forget, "The data directory of a hub that does not run.")
                .argument("NAME", "One of " + String.join(", ", SecretFile.NAMES) + ".")
                .option(
                        "--database",
                        "URL",
                        "The PostgreSQL database instead of the one of the directory, as postgresql://user@host/name;"
                                + " default: " + DATABASE
                                + ". A flag is visible to other users: leave the password in ~/.pgpass, or use the variable.")
                .footer("The database belongs with the secret that the next start has, which makes a missing one.");
    }

    private static int forget(Invocation call) {
        String name = call.requiredArgument(0);
        if (!SecretFile.NAMES.contains(name)) {
            throw CommandException.usage(
                    "secret \"" + name + "\": unknown (expected: one of " + String.join(", ", SecretFile.NAMES) + ")",
                    null);
        }
        String url = call.optionOr("--database", DATABASE);
        Path directory = url == null ? call.existingData(data(call)) : call.path(data(call));
        boolean wasKnown = SecretPrints.forget(directory, url, name);
        call.output().members(Map.of("secret", name, "forgotten", wasKnown));
        return 0;
    }
}

package dev.parley.cli.host;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.output.Output;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.Checkup;
import dev.parley.hub.HubTables;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Verification;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.Sealing;
import dev.parley.store.move.DatabaseMove;
import dev.parley.store.move.MovedDirectory;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.StoreException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley migrate}: moves the data of a hub from SQLite to PostgreSQL; for operators, not part of A2A. */
public final class MigrateCommand {
    private static final String DEFAULT = "~/.parley";
    private static final String DATABASE = "PARLEY_DATABASE";
    private static final String AUDIT = "audit";

    private MigrateCommand() {}

    public static Command command() {
        return Command.of(MigrateCommand::run)
                .option(
                        "--to",
                        "URL",
                        "An empty database of PostgreSQL, as postgresql://user@host/name; default: " + DATABASE
                                + ". A flag is visible to other users: leave the password in ~/.pgpass, or use the variable.")
                .option("--data", "DIR", "The data directory of the hub, which must not run; default: " + DEFAULT + ".")
                .option(
                        "--new",
                        "DIR",
                        "The data directory to make for the hub on PostgreSQL; default: that of --data with"
                                + " -postgresql at its end.")
                .option("--agents", "JAR", "The jar, or directory of jars, of extensions that keep tables.")
                .option(
                        "--encryption-key-file",
                        "FILE",
                        "The keys of the hub; default: encryption.key in the directory.")
                .option("--secrets", "DIR", "The directory of the hub's secrets, if it has one.")
                .option(
                        "--accept",
                        "CHECKS",
                        "Checks whose problems the result may have, such as task,audit; default: none.")
                .settings("output", "verbose", "config", "debug")
                .strict()
                .footer(
                        "Changes nothing in the data directory. After an interruption, the same command begins anew.",
                        "Exits with 1 if the result is not what the directory has: no hub uses the database then.");
    }

    private static int run(Invocation call) {
        String url = call.optionOr("--to", DATABASE);
        if (url == null) {
            throw CommandException.usage(
                    "no database named (expected: --to, or " + DATABASE + ")",
                    "such as --to postgresql://user@host/name");
        }
        Path data = call.existingData(requireNonNullElse(call.option("--data"), DEFAULT));
        String made = call.option("--new");
        Path directory = made == null ? data.resolveSibling(data.getFileName() + "-postgresql") : call.path(made);
        String jars = call.option("--agents");
        List<HubExtensionSource> extensions =
                jars == null ? List.of() : AgentArchives.read(call.path(jars)).ofHub();
        Hub hub = new Hub(call.option("--secrets"), secrets(call), keys(call));
        try {
            MovedDirectory.check(data, directory, url);
            try (DatabaseMove move = DatabaseMove.begin(data, url, HubTables.of(DatabaseKind.POSTGRESQL, extensions))) {
                return run(call, move, data, directory, url, hub);
            }
        } catch (StoreException refused) {
            throw Problems.of(refused);
        }
    }

    /** What a hub has beside its data directory. */
    private record Hub(
            @Nullable String named,
            @Nullable Path secrets,
            @Nullable Sealing keys) {}

    private static int run(Invocation call, DatabaseMove move, Path data, Path directory, String url, Hub hub) {
        Map<String, Long> rows = move.copy(new Report(call.output()));
        call.output().progress("checking the result");
        MovedDirectory.make(data, directory, url);
        List<String> accepted =
                List.of(requireNonNullElse(call.option("--accept"), "").split(","));
        var problems = new ArrayList<String>();
        var checks = new LinkedHashSet<String>();
        Verification audit = verify(directory);
        if (audit.broken() != null && !accepted.contains(AUDIT)) {
            problems.add(AUDIT + ": " + audit.broken());
            checks.add(AUDIT);
        }
        Checkup.of(directory, hub.secrets, hub.keys).stream()
                .filter(finding -> finding.level() == Level.PROBLEM && !accepted.contains(finding.check()))
                .forEach(finding -> {
                    problems.add(finding.check() + ": " + finding.message() + ". " + finding.advice());
                    checks.add(finding.check());
                });
        if (!problems.isEmpty()) {
            throw CommandException.of(
                    Kind.DATA,
                    "the copy of the data has problems, and no hub uses it: " + String.join("; ", problems),
                    "if parley doctor and parley audit verify show them of " + data
                            + ", too, repair them there, or move the data with them: --accept "
                            + Invocation.quoted(String.join(",", checks)));
        }
        move.finish();
        var done = new LinkedHashMap<String, Object>();
        done.put("rows", rows.values().stream().mapToLong(Long::longValue).sum());
        done.put("tables", rows.size());
        done.put("auditRows", audit.rows());
        done.put("data", directory.toString());
        done.put(
                "next",
                "parley up --data " + Invocation.quoted(directory.toString())
                        + (hub.named == null ? "" : " --secrets " + Invocation.quoted(hub.named)));
        call.output().members(done);
        return 0;
    }

    private static Verification verify(Path directory) {
        try (Database database = Database.openForReading(directory)) {
            return AuditTrail.reading(database).verify();
        }
    }

    private static @Nullable Path secrets(Invocation call) {
        String directory = call.option("--secrets");
        return directory == null ? null : call.path(directory);
    }

    private static @Nullable Sealing keys(Invocation call) {
        String file = call.option("--encryption-key-file");
        return file == null
                ? null
                : CommandException.reading("invalid encryption key: ", null, () -> Sealing.read(call.path(file)));
    }

    /** Shows the rows that were copied, and the time that the others need: at a terminal at once, in a log now and then. */
    private static final class Report implements DatabaseMove.Progress {
        private static final long SHOWN = Duration.ofMillis(200).toNanos();
        private static final long NOTED = Duration.ofSeconds(10).toNanos();

        private final Output output;
        private final long begun = System.nanoTime();
        private long shown = begun;
        private long noted = begun;

        Report(Output output) {
            this.output = output;
        }

        @Override
        public void copied(String table, long copied, long all) {
            long now = System.nanoTime();
            long left = Duration.ofNanos((long) ((double) (now - begun) / copied * (all - copied)))
                    .toSeconds();
            String text = copied + " of " + all + " rows (" + table + "), about " + left + " s left";
            if (now - shown >= SHOWN) {
                shown = now;
                output.progress(text);
            }
            if (now - noted >= NOTED) {
                noted = now;
                output.noteBesideTerminal(text);
            }
        }
    }
}

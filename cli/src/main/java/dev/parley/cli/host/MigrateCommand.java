package dev.parley.cli.host;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;

import dev.parley.cli.admin.DoctorCommand;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.Problems;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.Checkup;
import dev.parley.hub.Checkup.Finding;
import dev.parley.hub.HubTables;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.hub.admin.Hubs;
import dev.parley.protocol.settings.SettingType;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Verification;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.hubs.UpgradeFinish;
import dev.parley.store.move.DatabaseMove;
import dev.parley.store.move.MovedDirectory;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.StoreException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code parley migrate}: moves the data of a hub from SQLite to PostgreSQL, or finishes an upgrade of hubs that share a database; for
 * operators, not part of A2A.
 */
public final class MigrateCommand {
    private static final String DEFAULT = "~/.parley";
    private static final String DATABASE = "PARLEY_DATABASE";
    private static final String AUDIT = "audit";

    /** Checks of rows that move as they are. Others are about the files of the new directory, or end the checkup. */
    private static final List<String> ROWS =
            List.of(AUDIT, "graph", "key", "mcp", "registry", "route", "task", "tasks", "webhook");

    private static final SettingType<List<String>> CHECKS =
            SettingType.LIST.requiring(ROWS::containsAll, "names out of " + String.join(", ", ROWS));

    /** Problems of a check that are printed. */
    private static final int EXAMPLES = 3;

    private MigrateCommand() {}

    public static Command command() {
        return Command.of(MigrateCommand::run)
                .option(
                        "--to",
                        "URL",
                        "The database of PostgreSQL, as postgresql://user@host/name: an empty one for the data, or with --finish"
                                + " that of the hubs; default: " + DATABASE
                                + ". A flag is visible to other users: leave the password in ~/.pgpass, or use the variable.")
                .flag(
                        "--finish",
                        "Move no data, but finish an upgrade of hubs that share a database, when all of them have the new release: hubs"
                                + " of the old release cannot start any more. The database is that of --to, else that of --data.")
                .option(
                        "--data",
                        "DIR",
                        "The data directory of the hub, which must not run unless with --finish; default: " + DEFAULT
                                + ".")
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
                .option("--accept", "CHECKS", "Names of checks that may fail, such as task,audit; default: none.")
                .settings("output", "verbose", "config", "debug")
                .strict()
                .footer(
                        "Changes nothing in the data directory. After an interruption, the same command begins anew.",
                        "Exits with 1 if the result is not what the directory has: no hub uses the database then.");
    }

    private static int run(Invocation call) {
        String url = call.optionOr("--to", DATABASE);
        if (call.has("--finish")) {
            return finish(call, url);
        }
        if (url == null) {
            throw CommandException.usage(
                    "no database named (expected: --to, or " + DATABASE + ")",
                    "such as --to postgresql://user@host/name");
        }
        List<String> accepted = requireNonNullElse(call.option("--accept", CHECKS), List.of());
        Path data = data(call);
        String made = call.option("--new");
        Path directory = made == null ? data.resolveSibling(data.getFileName() + "-postgresql") : call.path(made);
        List<HubExtensionSource> extensions = extensions(call);
        Hub hub = new Hub(DoctorCommand.secrets(call), DoctorCommand.keys(call), accepted);
        try {
            MovedDirectory.check(data, directory, url);
            try (DatabaseMove move = DatabaseMove.begin(data, url, HubTables.of(DatabaseKind.POSTGRESQL, extensions))) {
                return run(call, move, data, directory, url, hub);
            }
        } catch (StoreException refused) {
            throw Problems.of(refused);
        }
    }

    private static Path data(Invocation call) {
        return call.existingData(requireNonNullElse(call.option("--data"), DEFAULT));
    }

    private static List<HubExtensionSource> extensions(Invocation call) {
        String jars = call.option("--agents");
        return jars == null ? List.of() : AgentArchives.ofHub(List.of(AgentArchives.read(call.path(jars))));
    }

    private static int finish(Invocation call, @Nullable String url) {
        Path data = url == null ? data(call) : call.path(DEFAULT);
        try {
            List<String> changed = UpgradeFinish.run(
                    url,
                    data,
                    Hubs.version(),
                    HubTables.of(DatabaseKind.POSTGRESQL, extensions(call)),
                    name -> call.output()
                            .note("hub " + name + " works with the database, and this waits until it ends"));
            var done = new LinkedHashMap<String, Object>();
            done.put("level", Release.newest());
            done.put("changed", changed);
            call.output().members(done);
            return 0;
        } catch (StoreException refused) {
            throw Problems.of(refused);
        }
    }

    /** Secrets of a hub outside its data directory, and the checks that may fail. */
    private record Hub(@Nullable Path secrets, @Nullable ValueCipher keys, List<String> accepted) {}

    private static int run(Invocation call, DatabaseMove move, Path data, Path directory, String url, Hub hub) {
        var report = new CopyReport(call.output());
        Map<String, Long> rows = move.copy((table, copied, all) ->
                report.show(copied, all, () -> copied + " of " + all + " rows (" + table + ")"));
        call.output().progress("checking the result");
        MovedDirectory.make(data, directory, url);
        Verification audit = verify(directory);
        Stream<Finding> broken =
                Stream.ofNullable(audit.broken()).map(reason -> new Finding(AUDIT, Level.PROBLEM, reason, null));
        Stream<Finding> all = Stream.concat(broken, Checkup.of(directory, hub.secrets, hub.keys).stream());
        Map<String, String> problems = all.filter(finding -> finding.level() == Level.PROBLEM)
                .collect(groupingBy(Finding::check, TreeMap::new, collectingAndThen(toList(), MigrateCommand::text)));
        var refused = new TreeMap<>(problems);
        refused.keySet().removeAll(hub.accepted);
        if (!refused.isEmpty()) {
            List<String> names = ROWS.stream().filter(problems::containsKey).toList();
            throw CommandException.of(
                    Kind.DATA,
                    "the copy of the data has problems, and no hub uses it: " + String.join("; ", refused.values()),
                    "if parley doctor and parley audit verify show them of " + data + ", too, repair them there"
                            + (hub.accepted.containsAll(names)
                                    ? ""
                                    : ", or move the data with them: --accept " + String.join(",", names)));
        }
        move.finish();
        var done = new LinkedHashMap<String, Object>();
        done.put("rows", rows.values().stream().mapToLong(Long::longValue).sum());
        done.put("tables", rows.size());
        done.put("auditRows", audit.rows());
        done.put("data", directory.toString());
        String secrets = call.option("--secrets");
        done.put(
                "next",
                "parley up --data " + Invocation.quoted(directory.toString())
                        + (secrets == null ? "" : " --secrets " + Invocation.quoted(secrets)));
        call.output().members(done);
        problems.values().forEach(text -> call.output().note("accepted: " + text));
        return 0;
    }

    private static Verification verify(Path directory) {
        try (Database database = Database.openForReading(directory)) {
            return AuditTrail.reading(database).verify();
        }
    }

    /** The problems of a check: how many, the first of them, and their remedy. */
    private static String text(List<Finding> problems) {
        Finding first = problems.getFirst();
        String count = problems.size() == 1 ? "" : problems.size() + " problems, such as ";
        Stream<String> messages = problems.stream().map(Finding::message).distinct();
        return first.check() + ": " + count + messages.limit(EXAMPLES).collect(joining("; ")) + ". " + first.advice();
    }
}

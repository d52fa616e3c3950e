package dev.parley.hub;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.SimilarNames;
import dev.parley.engine.spi.SteadyClock;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.UnreadableTask;
import dev.parley.extension.HubCheck;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.hub.secrets.SecretMatch;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.Store;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.TaskTables;
import dev.parley.trust.Directory;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks a data directory, whether or not a hub runs on it. Writes nothing but the files in which SQLite keeps its readers,
 * and takes no lock from a hub.
 */
public final class Checkup {
    /**
     * The outcome of one check.
     *
     * @param task the task that it is about; null for the directory
     */
    public record Finding(
            String check,
            Level level,
            String message,
            @Nullable UnreadableTask task) {
        /** Remedy of the problem. */
        public String advice() {
            return switch (check) {
                case "memory" -> "Start the hub with --data DIR to keep tasks, keys and the audit log over a restart.";
                case "queue" -> "Give the agents a higher concurrency, or wait: the tasks begin in turn.";
                case "backlog" -> "Look whether the receivers answer: deliveries are tried again by themselves.";
                case "dead letters" -> "See parley push dead-letters list, and redeliver once the receivers answer.";
                case "changes" -> "Remove the cause; the hub tries again by itself, and needs no restart.";
                case "disk" -> "Make room on the file system of the data directory, or move it to a larger one.";
                case "database" -> "Restore the database from a backup, or start the version of Parley that wrote it.";
                case "task", "tasks" -> "Restore these tasks from a backup, or erase them with parley privacy erase.";
                case "webhook" -> "Remove the webhook and register it again.";
                case "key" -> "Revoke the key and create another one.";
                case "audit" -> "Compare the row with that of a backup.";
                case "agents" -> "Rename one of the agents.";
                case "clock" -> "Set the clock of the machine, for instance by NTP.";
                case "hub" -> "Move the files back, or restart the hub; its log has the details.";
                case "mcp", "mcp-servers" ->
                    "Read the log of the server at Tools, or correct the file of --mcp-servers.";
                default ->
                    "The log of the hub has the details; docs/operations.md and docs/deployment.md say what to do.";
            };
        }
    }

    private static final long MEBIBYTE = 1L << 20;
    private static final int MOST_TASKS = 10_000;
    private static final int MOST_AGENTS = 10_000;
    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** Space that the write-ahead log may keep. */
    private static final long LEAST_FREE = 64 * MEBIBYTE;

    private static final long LITTLE_FREE = 1_024 * MEBIBYTE;

    private final Path data;
    private final SecretDirectory secrets;
    private final SecretMatch match;
    private final List<Finding> findings = new ArrayList<>();
    private @Nullable ValueCipher cipher;

    private Checkup(Path data, SecretDirectory secrets, @Nullable ValueCipher cipher) {
        this.data = data;
        this.secrets = secrets;
        this.match = new SecretMatch(secrets, cipher);
        this.cipher = cipher;
    }

    /**
     * Checks the data directory of a hub.
     *
     * @param secrets directory of the setting {@code secrets}; null if the secrets are in the data directory
     * @param cipher the keys that the hub was given; null if its key is in the directory of the secrets
     */
    public static List<Finding> of(Path data, @Nullable Path secrets, @Nullable ValueCipher cipher) {
        var checkup = new Checkup(
                data, secrets == null ? SecretDirectory.data(data) : SecretDirectory.mounted(secrets), cipher);
        checkup.secrets();
        // SQLite would make a log beside a file that is not the hub's.
        if (checkup.hub() && checkup.database()) {
            checkup.tasks();
        }
        checkup.disk();
        return List.copyOf(checkup.findings);
    }

    private void found(String check, Level level, String message) {
        findings.add(new Finding(check, level, message, null));
    }

    private void secrets() {
        if (cipher == null) {
            secret(
                    SecretFile.ENCRYPTION,
                    "missing (expected: the file, unless the hub has its keys from elsewhere)",
                    key -> cipher = ValueCipher.of(List.of(key)));
        }
        secret(SecretFile.TOKENS, "missing (expected: the file; without it access tokens end)", secret -> {});
        secret(
                SecretFile.WEBHOOKS,
                "missing (expected: the file; without it the secrets of webhooks change)",
                Checkup::webhooks);
        if (Files.exists(secrets.file(SecretFile.SHARED))) {
            secret(SecretFile.SHARED, "", Checkup::webhooks);
        }
    }

    private static void webhooks(String secret) {
        StandardWebhooks.of(List.of(secret)); // throws for an invalid one
    }

    private void secret(String name, String missing, Consumer<String> use) {
        Path file = secrets.file(name);
        try {
            if (Files.notExists(file)) {
                found(name, Level.WARNING, missing);
                return;
            }
            use.accept(SecretFile.read(file));
            if (!secrets.isOwn()) {
                found(name, Level.OK, "present in " + secrets.path()); // its permissions are those of its mount
            } else if (OwnersOnly.is(file)) {
                found(name, Level.OK, "present, for its owner only");
            } else {
                found(name, Level.WARNING, "other users of the machine have access to it (expected: chmod 600)");
            }
        } catch (IOException | IllegalArgumentException | StoreException wrong) {
            found(name, Level.PROBLEM, said(wrong));
        }
    }

    private static String said(Exception failure) {
        return failure instanceof IOException ? "cannot be read: " + failure : String.valueOf(failure.getMessage());
    }

    /** Returns whether tasks can be looked for. */
    private boolean database() {
        try (Database database = Database.openForReading(data)) {
            TaskTables tables = database.taskTables();
            found("database", level(tables), text(tables));
            if (tables.isUsable()) {
                if (findings.stream().noneMatch(finding -> finding.level() == Level.PROBLEM)) {
                    match.problems(SecretPrints.in(database))
                            .forEach((name, problem) -> found(name, Level.PROBLEM, problem));
                }
                Directory.damagedKeys(database)
                        .forEach((key, reason) -> found("key", Level.PROBLEM, key + ": " + reason));
                AdminOperations.INSTALLED.forEach(source ->
                        source.checks(database).forEach(check -> found(check.name(), level(check), check.message())));
            }
            return tables.isUsable();
        } catch (RuntimeException failure) { // also rows that no Parley has written
            found("database", Level.PROBLEM, said(failure));
            return false;
        }
    }

    private static Level level(TaskTables tables) {
        if (tables.isUsable()) {
            return tables.isNewer() ? Level.WARNING : Level.OK;
        }
        return tables.isOlder() ? Level.WARNING : Level.PROBLEM;
    }

    private static String text(TaskTables tables) {
        String schema = "schema " + tables.version();
        if (tables.isOlder()) {
            return schema + "; the next start brings it to " + tables.current();
        }
        if (!tables.isUsable()) {
            return schema
                    + (tables.isNewer()
                            ? ", of a newer Parley (expected: " + tables.current() + ")"
                            : " with rows of a newer Parley, whose upgrade is finished (expected: that release)");
        }
        return tables.isNewer()
                ? schema + ", of a newer Parley; hubs of this release, which has " + tables.current()
                        + ", can use it with --cluster until the upgrade is finished"
                : schema;
    }

    private void tasks() {
        try (Store store = Store.openForReading(data, new EncryptionAtRest(cipher, false))) {
            TaskLog log = store.log();
            clock(log);
            List<Head> unfinished = log.unfinished();
            long end = System.nanoTime() + LONGEST.toNanos();
            int read = 0;
            int damaged = 0;
            for (Head head : unfinished) {
                if (read == MOST_TASKS || System.nanoTime() - end > 0) {
                    break;
                }
                read++;
                UnreadableTask task =
                        Engine.unreadable(log, head.key(), Instant.now()).orElse(null);
                if (task != null) {
                    damaged++;
                    findings.add(new Finding("task", Level.PROBLEM, task.reason(), task));
                }
            }
            String counted = read + " of " + unfinished.size() + " unfinished tasks read, " + damaged + " set aside";
            found("tasks", damaged > 0 ? Level.PROBLEM : read < unfinished.size() ? Level.WARNING : Level.OK, counted);
            names(store.agents(MOST_AGENTS));
            store.damagedWebhooks()
                    .forEach((task, reason) -> found("webhook", Level.PROBLEM, "task " + task + ": " + reason));
        } catch (RuntimeException failure) { // also rows that no Parley has written
            found("database", Level.PROBLEM, said(failure));
        }
    }

    private static Level level(HubCheck check) {
        return !check.passed() ? Level.PROBLEM : check.isWarning() ? Level.WARNING : Level.OK;
    }

    private void names(List<String> agents) {
        var similar = new SimilarNames();
        int pairs = 0;
        for (String agent : agents) {
            String other = similar.add(agent).orElse(null);
            if (other != null) {
                pairs++;
                found(
                        "agents",
                        Level.WARNING,
                        "\"" + other + "\" and \"" + agent
                                + "\" have names that look alike: callers may take one for the other");
            }
        }
        if (pairs == 0) {
            found("agents", Level.OK, agents.size() + " with tasks, no names that look alike");
        }
    }

    private void clock(TaskLog log) {
        Instant newest = log.newest().orElse(null);
        SteadyClock.doubt(Instant.now(), newest)
                .ifPresentOrElse(
                        doubt -> found("clock", Level.WARNING, doubt),
                        () -> found("clock", Level.OK, newest == null ? "no events" : "not before the newest event"));
    }

    private void disk() {
        try {
            FileStore store = Files.getFileStore(data);
            long free = store.getUsableSpace();
            Level level = free < LEAST_FREE ? Level.PROBLEM : free < LITTLE_FREE ? Level.WARNING : Level.OK;
            String database = Files.notExists(data.resolve("parley.db"))
                    ? ""
                    : "; database " + mebibytes(size("parley.db")) + ", write-ahead log "
                            + mebibytes(size("parley.db-wal"));
            found("disk", level, mebibytes(free) + " free" + database);
        } catch (IOException failure) {
            found("disk", Level.PROBLEM, said(failure));
        }
    }

    private long size(String name) {
        return data.resolve(name).toFile().length(); // 0 if it is missing
    }

    private static String mebibytes(long bytes) {
        return ((bytes + MEBIBYTE - 1) / MEBIBYTE) + " MiB";
    }

    /** Returns whether the files are those that the hub has open, if one runs. */
    private boolean hub() {
        try {
            List<String> problems = Database.fileProblems(data);
            if (problems.isEmpty()) {
                found("hub", Level.OK, Database.isInUse(data) ? "runs" : "does not run");
            } else {
                found(
                        "hub",
                        Level.PROBLEM,
                        "runs, and refuses changes: " + String.join(", ", problems)
                                + " (expected: the files that it has open, moved back, or a restart; its log has the details)");
            }
            return problems.isEmpty();
        } catch (IOException failure) {
            found("hub", Level.WARNING, said(failure));
            return true;
        }
    }
}

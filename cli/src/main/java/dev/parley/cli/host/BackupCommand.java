package dev.parley.cli.host;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.admin.DoctorCommand;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.move.DatabaseCopy;
import dev.parley.store.move.DatabaseCopy.Levels;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code parley backup}: saves a data directory in one file, also while a hub runs on it; for operators, not part of A2A. */
public final class BackupCommand {
    private static final String DEFAULT = "~/.parley";
    private static final Set<String> OF_DATABASE =
            Set.of(BackupManifest.LOCK, DatabaseCopy.FILE, DatabaseCopy.FILE + "-wal", DatabaseCopy.FILE + "-shm");

    private BackupCommand() {}

    public static Command command() {
        return Command.of(BackupCommand::run)
                .argument("FILE", "The archive to create, for its owner only.")
                .option("--data", "DIR", "The data directory of a hub, which may be running; default: " + DEFAULT + ".")
                .option(
                        "--secrets",
                        "DIR",
                        "The directory of the hub's secrets, if it has one; they get into the archive.")
                .option(
                        "--encryption-key-file",
                        "FILE",
                        "The keys of the hub, if its key is not in the directory; they do not get into the archive.")
                .flag("--force", "Replace a file.")
                .settings("output", "verbose", "config", "debug")
                .strict()
                .footer(
                        "The archive has all tasks that were acknowledged before the command began, and the secrets of the",
                        "hub: its reader can read everything. Beside it, a copy of the database needs space meanwhile.",
                        "For PostgreSQL see docs/operations.md.");
    }

    private static int run(Invocation call) {
        Path data = call.existingData(requireNonNullElse(call.option("--data"), DEFAULT));
        Path file = call.path(call.requiredArgument(0)).toAbsolutePath().normalize();
        Path parent = file.getParent();
        if (Database.isNamed(data)) {
            throw CommandException.of(
                    Kind.DATA,
                    "directory \"" + data + "\": the database is in PostgreSQL (expected: a database of SQLite)",
                    "copy the database with pg_dump, and the secrets with parley secrets export: docs/operations.md");
        }
        if (parent == null || !Files.isDirectory(parent)) {
            throw CommandException.usage(
                    "file \"" + file + "\": its directory is missing (expected: a directory that exists)", null);
        }
        if (Files.exists(file) && (!call.has("--force") || Files.isDirectory(file))) {
            throw CommandException.usage(
                    "file \"" + file + "\": exists (expected: a new file)",
                    Files.isDirectory(file) ? null : "--force replaces it");
        }
        try {
            if (parent.toRealPath().startsWith(data.toRealPath())) {
                throw CommandException.usage(
                        "file \"" + file + "\": in the data directory (expected: a file elsewhere)",
                        "the next backup would have this one in it");
            }
            try (var staging = Staging.make(parent, file.getFileName().toString(), call)) {
                return run(call, data, staging.path(), file);
            }
        } catch (StoreException failed) {
            throw Problems.of(failed);
        } catch (IOException | IllegalArgumentException failed) {
            throw CommandException.of(
                    Kind.DATA,
                    "file \"" + file + "\": not written: " + failed
                            + " (expected: a directory that can be written, with space for two copies of the data)",
                    "make room, or name another file",
                    failed);
        }
    }

    private static int run(Invocation call, Path data, Path staging, Path file) throws IOException {
        String created = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Path database = staging.resolve(DatabaseCopy.FILE);
        var copying = new CopyReport(call.output());
        DatabaseCopy.write(data, database, (bytes, all) -> copying.bytes("copying the database", bytes, all));
        call.output().progress("checking the copy");
        Levels levels = DatabaseCopy.check(database);
        Path secrets = DoctorCommand.secrets(call);
        ValueCipher keys = DoctorCommand.keys(call);
        CopyChecks checks = CopyChecks.of(
                staging, secrets == null ? SecretDirectory.data(data) : SecretDirectory.mounted(secrets), keys);
        if (!checks.secrets().isEmpty()) {
            throw CommandException.of(
                    Kind.DATA,
                    "no hub would start from the backup: " + String.join("; ", checks.secrets()),
                    "name what the hub was started with: --secrets DIR, --encryption-key-file FILE");
        }
        var leftOut = new ArrayList<String>();
        Map<String, Path> files = files(data, secrets, leftOut);
        files.put(DatabaseCopy.FILE, database);
        long bytes = Files.size(database);
        Path archive = staging.resolve("archive");
        var writing = new CopyReport(call.output());
        BackupManifest manifest = BackupArchive.write(
                archive,
                files,
                members -> new BackupManifest(
                        CliEnvironment.version(), created, levels.schema(), levels.modules(), members),
                done -> writing.bytes("writing the archive", done, bytes));
        var verifying = new CopyReport(call.output());
        try (BackupArchive written = BackupArchive.open(archive)) {
            written.verify(done -> verifying.bytes("verifying the archive", done, bytes));
        }
        OwnersOnly.rename(archive, file, call.has("--force"));
        var done = new LinkedHashMap<String, Object>();
        done.put("file", file.toString());
        done.put("bytes", Files.size(file));
        done.put("created", created);
        done.put("files", manifest.members().size());
        done.put("audit", checks.audit());
        done.put("next", "parley restore " + Invocation.quoted(file.toString()) + " --data DIR");
        call.output().members(done);
        if (keys != null || !files.containsKey(SecretFile.ENCRYPTION)) {
            call.output().warn("the archive has no key of encryption: keep the file of --encryption-key-file, too");
        }
        if (checks.isAuditBroken()) {
            call.output().warn("the audit of the data has been changed: keep earlier backups to compare it with");
        }
        if (!leftOut.isEmpty()) {
            call.output().warn("not in the archive: " + String.join("; ", leftOut));
        }
        return 0;
    }

    /**
     * Files of a data directory by their names in the archive, but for the database and the lock. A link to a file counts as the file.
     *
     * @param leftOut receives the names of files that the archive lacks, with the reasons
     * @throws CommandException if a file cannot be in an archive, or cannot be read
     */
    private static Map<String, Path> files(Path data, @Nullable Path secrets, List<String> leftOut) throws IOException {
        var files = new TreeMap<String, Path>();
        add(files, "", data, leftOut);
        files.keySet().removeIf(OF_DATABASE::contains);
        for (String name : List.copyOf(files.keySet())) {
            if (name.startsWith(DatabaseCopy.FILE) || name.startsWith("." + Staging.RESTORE + ".")) {
                leftOut.add('"' + name + "\" (a file of another database, or of an interrupted restore)");
                files.remove(name);
            }
        }
        files.forEach(BackupCommand::requireFit);
        if (secrets != null) {
            SecretFile.NAMES.stream()
                    .filter(name -> Files.exists(secrets.resolve(name)))
                    .forEach(name -> files.put(name, secrets.resolve(name)));
        }
        return files;
    }

    private static @Nullable String reasonToLeaveOut(Path entry) throws IOException {
        boolean isFile = Files.isRegularFile(entry);
        if (Files.isSymbolicLink(entry)) {
            if (!isFile) {
                return "a link to no file";
            }
            // As root, a link that the hub's user has made to a file of another user would get it into the archive.
            boolean isForeign = !Files.getOwner(entry).equals(Files.getOwner(entry, LinkOption.NOFOLLOW_LINKS));
            return isForeign && RestoreCommand.isRoot() ? "a link to a file of another user" : null;
        }
        if (!isFile && !Files.isDirectory(entry)) {
            return "neither a file nor a directory";
        }
        return !isFile && Files.exists(entry.resolve(BackupManifest.LOCK)) ? "of another hub" : null;
    }

    private static void requireFit(String name, Path file) {
        String problem = Files.isReadable(file) ? BackupManifest.problem(name) : "cannot be read by this user";
        if (problem != null) {
            throw CommandException.of(
                    Kind.DATA,
                    "file \"" + file + "\": " + problem + " (expected: files of the hub only, which its user can read)",
                    "run the command as the user of the hub, or move the file out of the data directory");
        }
    }

    private static void add(Map<String, Path> files, String prefix, Path directory, List<String> leftOut)
            throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                String name = prefix + entry.getFileName();
                String reason = reasonToLeaveOut(entry);
                if (reason != null) {
                    leftOut.add('"' + name + "\" (" + reason + ")");
                } else if (Files.isRegularFile(entry)) {
                    files.put(name, entry);
                } else {
                    requireFit(name, entry);
                    add(files, name + "/", entry, leftOut);
                }
            }
        }
    }
}

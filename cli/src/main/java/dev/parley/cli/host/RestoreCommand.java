package dev.parley.cli.host;

import dev.parley.cli.admin.DoctorCommand;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.hub.HubTables;
import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.database.SqliteSystem;
import dev.parley.store.move.DatabaseCopy;
import dev.parley.store.move.DatabaseCopy.Levels;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipException;

/** {@code parley restore}: makes a data directory of an archive of {@code parley backup}; for operators, not part of A2A. */
public final class RestoreCommand {
    private static final String ROOT = "root";

    private RestoreCommand() {}

    public static Command command() {
        return Command.of(RestoreCommand::run)
                .argument("FILE", "An archive of parley backup.")
                .option("--data", "DIR", "The data directory to make: a new or empty directory. Required.")
                .option(
                        "--encryption-key-file",
                        "FILE",
                        "The keys of the hub, if its key is not in the archive; they are compared with the data.")
                .settings("output", "verbose", "config", "debug")
                .strict()
                .footer(
                        "Run it as the user of the hub. A failure leaves nothing in the directory.",
                        "Do not start the hub beside the one that the backup is of: both would deliver webhooks.");
    }

    private static int run(Invocation call) {
        Path file = call.path(call.requiredArgument(0)).toAbsolutePath().normalize();
        String named = call.option("--data");
        if (named == null) {
            throw CommandException.usage(
                    "no directory named (expected: --data DIR, a new or empty directory)",
                    "such as --data /var/lib/parley-restored");
        }
        Path directory = call.path(named).toAbsolutePath().normalize();
        try (BackupArchive archive = BackupArchive.open(file)) {
            requireLevel(archive.manifest().schema(), archive.manifest().modules(), archive.manifest());
            boolean isNew = !isEmptyDirectory(directory);
            requireOwner(directory);
            try (Closeable lock = DatabaseCopy.hold(directory)) {
                requireUnused(directory);
                try (var staging = Staging.make(directory, Staging.RESTORE, call)) {
                    return run(call, archive, staging.path(), directory);
                } finally {
                    Files.deleteIfExists(directory.resolve(BackupManifest.LOCK));
                }
            } finally {
                if (isNew) {
                    removeIfEmpty(directory);
                }
            }
        } catch (FileAlreadyExistsException other) {
            throw CommandException.of(
                    Kind.DATA,
                    "file \"" + other.getFile() + "\": written by another program meanwhile (expected: no program that"
                            + " uses the directory)",
                    "stop the program, and restore to an empty directory",
                    other);
        } catch (StoreException | IllegalArgumentException refused) {
            throw refused(file, String.valueOf(refused.getMessage()), refused);
        } catch (NoSuchFileException missing) {
            throw CommandException.usage(
                    "file \"" + file + "\": missing (expected: an archive of parley backup)", null);
        } catch (ZipException damaged) {
            throw refused(file, "damaged: " + damaged.getMessage() + " (expected: a whole archive)", damaged);
        } catch (IOException failed) {
            throw refused(
                    file,
                    "cannot be restored: " + failed + " (expected: a file that can be read, and space for it)",
                    failed);
        }
    }

    private static CommandException refused(Path file, String problem, Exception cause) {
        return CommandException.of(
                Kind.DATA,
                "backup \"" + file + "\": " + problem,
                "nothing was restored; take another backup if the archive is damaged",
                cause);
    }

    /** Refuses to write as root into the directory of another user, who can replace files in it by links. */
    private static void requireOwner(Path directory) throws IOException {
        if (isRoot()
                && Files.exists(directory)
                && !Files.getOwner(directory).getName().equals(ROOT)) {
            String owner = Files.getOwner(directory).getName();
            throw CommandException.usage(
                    "--data \"" + directory + "\": belongs to " + owner + " (expected: a directory of the user)",
                    "run the command as " + owner);
        }
    }

    static boolean isRoot() {
        return ROOT.equals(System.getProperty("user.name"));
    }

    /** Refuses a directory that a hub has begun to use before this command had its lock. */
    private static void requireUnused(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            files.filter(file -> !file.endsWith(BackupManifest.LOCK))
                    .findAny()
                    .ifPresent(file -> refuseUsed(directory, file));
        }
    }

    private static void refuseUsed(Path directory, Path file) {
        throw CommandException.usage(
                "--data \"" + directory + "\": not empty: it has \"" + file.getFileName()
                        + "\" (expected: a new or empty directory)",
                "name another directory: a restore replaces nothing");
    }

    /** @throws IllegalArgumentException if a newer Parley has written the data */
    private static void requireLevel(long schema, Map<String, Integer> modules, BackupManifest manifest) {
        requireLevel("the tables of tasks", schema, SqliteSystem.SCHEMA, manifest);
        for (ModuleTables tables : HubTables.of(DatabaseKind.SQLITE, List.of())) {
            Integer version = modules.get(tables.module());
            if (version != null) {
                requireLevel(
                        "the tables of \"" + tables.module() + "\"",
                        version,
                        tables.scripts().size(),
                        manifest);
            }
        }
    }

    private static void requireLevel(String tables, long version, int newest, BackupManifest manifest) {
        if (version > newest) {
            throw new IllegalArgumentException(
                    tables + " have version " + version + " (expected: at most " + newest + "); Parley "
                            + manifest.version() + " wrote the backup: restore it with that version or a newer one");
        }
    }

    /** Returns whether an empty directory is there; false if it is missing. */
    private static boolean isEmptyDirectory(Path directory) throws IOException {
        if (Files.isSymbolicLink(directory)) {
            throw CommandException.usage(
                    "--data \"" + directory + "\": a symbolic link (expected: a new or empty directory)",
                    "name the directory itself");
        }
        if (Files.notExists(directory)) {
            return false;
        }
        if (!Files.isDirectory(directory)) {
            throw CommandException.usage(
                    "--data \"" + directory + "\": a file (expected: a new or empty directory)",
                    "name another directory");
        }
        requireUnused(directory);
        return true;
    }

    private static void removeIfEmpty(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> files = Files.list(directory)) {
            if (files.findAny().isPresent()) {
                return;
            }
        }
        Files.delete(directory);
    }

    private static int run(Invocation call, BackupArchive archive, Path staging, Path directory) throws IOException {
        BackupManifest manifest = archive.manifest();
        var writing = new CopyReport(call.output());
        archive.extract(staging, bytes -> writing.bytes("restoring", bytes, manifest.bytes()));
        call.output().progress("checking the database");
        Levels levels = DatabaseCopy.check(staging.resolve(DatabaseCopy.FILE));
        requireLevel(levels.schema(), levels.modules(), manifest);
        CopyChecks checks = CopyChecks.of(staging, SecretDirectory.data(staging), DoctorCommand.keys(call));
        List<String> secrets = checks.secrets().stream()
                .map(problem -> problem.replace(staging.toString(), directory.toString()))
                .toList();
        move(staging, directory);
        var done = new LinkedHashMap<String, Object>();
        done.put("data", directory.toString());
        done.put("created", manifest.created());
        done.put("version", manifest.version());
        done.put("files", manifest.members().size());
        done.put("audit", checks.audit());
        if (!secrets.isEmpty()) {
            done.put("secrets", secrets);
        }
        String keys = call.option("--encryption-key-file");
        String data = Invocation.quoted(directory.toString())
                + (keys == null ? "" : " --encryption-key-file " + Invocation.quoted(keys));
        done.put(
                "next",
                "stop the other hub; parley doctor --data " + data + "; parley up --data " + data
                        + " and the other settings of that hub");
        call.output().members(done);
        secrets.forEach(problem -> call.output().warn(problem));
        if (checks.isAuditBroken()) {
            call.output().warn("the audit of the data was changed before the backup: compare it with an earlier one");
        }
        if (isRoot()) {
            call.output().warn("the files belong to root: give them to the user of the hub, by chown -R");
        }
        return 0;
    }

    /** Gives the files their places. The lock keeps hubs out of the directory meanwhile. */
    private static void move(Path staging, Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(staging)) {
            files = all.toList();
        }
        var moved = new ArrayList<Path>();
        try {
            for (Path file : files) {
                Path place = directory.resolve(file.getFileName());
                if (Files.isDirectory(file)) {
                    Files.move(file, place);
                } else {
                    OwnersOnly.rename(file, place, false);
                }
                moved.add(place);
            }
        } catch (IOException failure) {
            moved.forEach(Staging::remove);
            throw failure;
        }
    }
}

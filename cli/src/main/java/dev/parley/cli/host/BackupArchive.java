package dev.parley.cli.host;

import dev.parley.cli.host.BackupManifest.Member;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.protocol.support.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * A backup of a data directory: a ZIP file with the files of the directory, and a manifest that has the size and the hash of each. Its
 * reader takes names from the manifest, and writes new regular files only: neither links nor permissions of the archive. See docs/adr/0126-backup-of-a-running-hub.md.
 */
final class BackupArchive implements AutoCloseable {
    private static final int BUFFER = 1 << 16;
    private static final int MOST_MANIFEST_BYTES = 16 << 20;

    private final ZipFile zip;
    private final BackupManifest manifest;

    private BackupArchive(ZipFile zip, BackupManifest manifest) {
        this.zip = zip;
        this.manifest = manifest;
    }

    /**
     * Writes an archive to a new file, for its owner only.
     *
     * @param files by their names in the archive
     * @param describe makes the manifest of the members
     * @param progress receives the bytes that are done
     */
    static BackupManifest write(
            Path file, Map<String, Path> files, Function<List<Member>, BackupManifest> describe, LongConsumer progress)
            throws IOException {
        OwnersOnly.file(file);
        try (var zip = new ZipOutputStream(Files.newOutputStream(file))) {
            zip.setLevel(Deflater.BEST_SPEED);
            var members = new ArrayList<Member>();
            long done = 0;
            for (Map.Entry<String, Path> source : files.entrySet()) {
                zip.putNextEntry(new ZipEntry(source.getKey()));
                try (InputStream in = Files.newInputStream(source.getValue())) {
                    members.add(copy(source.getKey(), in, zip, Long.MAX_VALUE, shifted(progress, done)));
                }
                zip.closeEntry();
                done += members.getLast().bytes();
            }
            BackupManifest manifest = describe.apply(members);
            zip.putNextEntry(new ZipEntry(BackupManifest.NAME));
            zip.write(manifest.json());
            zip.closeEntry();
            return manifest;
        }
    }

    /**
     * Opens an archive, and compares the names of its files with its manifest.
     *
     * @throws IllegalArgumentException if it is not a backup
     * @throws IOException if it cannot be read, or is truncated
     */
    static BackupArchive open(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new NoSuchFileException(file.toString(), null, "not a file");
        }
        var zip = new ZipFile(file.toFile());
        try {
            ZipEntry entry = zip.getEntry(BackupManifest.NAME);
            if (entry == null) {
                throw new IllegalArgumentException(
                        "no " + BackupManifest.NAME + " (expected: an archive of parley backup)");
            }
            BackupManifest manifest;
            try (InputStream in = zip.getInputStream(entry)) {
                manifest = BackupManifest.read(in.readNBytes(MOST_MANIFEST_BYTES));
            }
            var listed = new TreeSet<String>(List.of(BackupManifest.NAME));
            manifest.members().forEach(member -> listed.add(member.name()));
            List<String> names = zip.stream().map(ZipEntry::getName).toList();
            for (String name : names) {
                if (!listed.contains(name)) {
                    throw new IllegalArgumentException("file \"" + name + "\": not in " + BackupManifest.NAME
                            + " (expected: the files that it lists, and no others)");
                }
            }
            listed.removeAll(names);
            if (!listed.isEmpty()) {
                throw new IllegalArgumentException("file \"" + listed.first() + "\": missing (expected: the files that "
                        + BackupManifest.NAME + " lists)");
            }
            return new BackupArchive(zip, manifest);
        } catch (IOException | RuntimeException refused) {
            zip.close();
            throw refused;
        }
    }

    BackupManifest manifest() {
        return manifest;
    }

    /**
     * Reads all files.
     *
     * @throws IllegalArgumentException if one is not as the manifest says
     */
    void verify(LongConsumer progress) throws IOException {
        long done = 0;
        for (Member member : manifest.members()) {
            copy(member, OutputStream.nullOutputStream(), shifted(progress, done));
            done += member.bytes();
        }
    }

    /**
     * Writes all files below an empty directory, for their owner only, and to the disk.
     *
     * @throws IllegalArgumentException if one is not as the manifest says; some of them may have been written
     */
    void extract(Path directory, LongConsumer progress) throws IOException {
        long done = 0;
        for (Member member : manifest.members()) {
            Path file = directory.resolve(member.name());
            OwnersOnly.directory(file.resolveSibling("."));
            if (!Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new FileAlreadyExistsException(file.toString());
            }
            OwnersOnly.file(file);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
                copy(member, Channels.newOutputStream(channel), shifted(progress, done));
                channel.force(true);
            }
            done += member.bytes();
        }
    }

    private void copy(Member member, OutputStream out, LongConsumer progress) throws IOException {
        try (InputStream in = zip.getInputStream(zip.getEntry(member.name()))) {
            Member copied = copy(member.name(), in, out, member.bytes(), progress);
            if (!copied.equals(member)) {
                throw new IllegalArgumentException("file \"" + member.name() + "\": damaged (expected: "
                        + member.bytes() + " bytes with SHA-256 " + member.sha256() + ")");
            }
        }
    }

    /** Copies at most a buffer more than {@code most} bytes. */
    private static Member copy(String name, InputStream in, OutputStream out, long most, LongConsumer progress)
            throws IOException {
        MessageDigest hash = Sha256.digest();
        var buffer = new byte[BUFFER];
        long bytes = 0;
        for (int read = in.read(buffer); read >= 0 && bytes <= most; read = in.read(buffer)) {
            hash.update(buffer, 0, read);
            out.write(buffer, 0, read);
            bytes += read;
            progress.accept(bytes);
        }
        return new Member(name, bytes, HexFormat.of().formatHex(hash.digest()));
    }

    private static LongConsumer shifted(LongConsumer progress, long done) {
        return bytes -> progress.accept(done + bytes);
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}

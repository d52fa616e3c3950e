package dev.parley.store.files;

import dev.parley.store.spi.InUseException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The lock that keeps other hubs out of a data directory. Safe for one thread at a time. */
final class DirectoryLock implements AutoCloseable {
    private static final String NAME = "parley.lock";

    private final Path directory;
    private FileChannel channel;
    private Identity identity;
    private String text = "";

    private DirectoryLock(Path directory, FileChannel channel, Identity identity) {
        this.directory = directory;
        this.channel = channel;
        this.identity = identity;
    }

    /** Whether a hub has the lock of {@code directory}. Takes a shared lock for the moment if none has it. */
    static boolean isTaken(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory.resolve(NAME), StandardOpenOption.READ);
                FileLock free = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return free == null;
        } catch (NoSuchFileException neverUsed) {
            return false;
        } catch (OverlappingFileLockException sameProcess) {
            return true;
        }
    }

    /** @throws InUseException if another hub has it */
    static DirectoryLock take(Path directory) throws IOException {
        FileChannel channel = lock(directory);
        try {
            return new DirectoryLock(directory, channel, Identity.of(directory.resolve(NAME)));
        } catch (IOException failure) {
            channel.close();
            throw failure;
        }
    }

    private static FileChannel lock(Path directory) throws IOException {
        FileChannel channel =
                FileChannel.open(directory.resolve(NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException sameProcess) {
            // falls through: it is in use, be it by this process
        }
        channel.close();
        throw new InUseException(
                "data directory \"" + directory.toAbsolutePath().normalize()
                        + "\" is in use by another hub (expected: one hub per directory; stop the other or name another)");
    }

    /** Replaces the text of the file, which other processes may read. */
    void write(String lines) throws IOException {
        text = lines;
        channel.truncate(0).write(ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8)), 0);
    }

    /** Returns the text that the hub of {@code directory} has written. */
    static String text(Path directory) throws IOException {
        return Files.readString(directory.resolve(NAME));
    }

    /** Takes the lock again if its file was removed, which lets others in. Fails if another file has taken its place. */
    void keep() throws IOException, FileFaultException {
        switch (identity.state()) {
            case SAME -> {}
            case MISSING -> {
                FileChannel earlier = channel;
                try {
                    channel = lock(directory);
                } catch (InUseException taken) {
                    throw replaced();
                }
                identity = Identity.of(identity.path());
                write(text);
                earlier.close();
            }
            case REPLACED -> throw replaced();
        }
    }

    private FileFaultException replaced() {
        return new FileFaultException(identity.name()
                + " was replaced, so another hub may use the directory (expected: one hub per directory; stop the other,"
                + " then restart this one)");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

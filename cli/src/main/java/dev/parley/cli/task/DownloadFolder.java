package dev.parley.cli.task;

import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Directory for downloaded files, which their names cannot leave.
 *
 * <p>The last segment of a name counts, without characters that are special to a shell, a terminal or a file system. Links are
 * not followed, and existing files are overwritten only if the user allows it.
 */
public final class DownloadFolder {
    private static final int LONGEST_NAME = 200;
    private static final Pattern DEVICES = Pattern.compile("con|prn|aux|nul|(com|lpt)[1-9]");

    private final Path directory;
    private final boolean overwrite;

    public DownloadFolder(Path directory, boolean overwrite) {
        this.overwrite = overwrite;
        try {
            Files.createDirectories(directory);
            this.directory = directory.toRealPath();
        } catch (IOException unusable) {
            throw CommandException.usage(
                    "cannot write to " + directory + ": " + unusable, "name another one with --dir");
        }
    }

    /**
     * Writes one file.
     *
     * @param name as the agent wishes; null if it does not
     * @param fallback what to call it otherwise
     * @return where it is
     */
    public Path save(@Nullable String name, String fallback, byte[] content) {
        String safe = name == null ? "" : safe(name);
        if (safe.isEmpty()) {
            safe = safe(fallback);
        }
        if (safe.isEmpty()) {
            safe = "artifact";
        }
        try {
            return overwrite ? replace(safe, content) : create(safe, content);
        } catch (IOException unwritable) {
            throw CommandException.of(
                    Kind.INTERNAL,
                    "cannot write " + safe + " in " + directory + ": " + unwritable,
                    "name another directory with --dir",
                    unwritable);
        }
    }

    private Path create(String name, byte[] content) throws IOException {
        for (int i = 0; ; i++) {
            Path file = inside(i == 0 ? name : numbered(name, i));
            try {
                // The system refuses an existing name, also one that is a link to somewhere else.
                Files.write(file, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                return file;
            } catch (FileAlreadyExistsException taken) {
                if (i == 10_000) {
                    throw taken;
                }
            }
        }
    }

    private Path replace(String name, byte[] content) throws IOException {
        Path file = inside(name);
        if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
            return create(name, content);
        }
        Path complete = Files.createTempFile(directory, ".download", null);
        try {
            Files.write(complete, content);
            // Moving replaces a link itself, never its target.
            return Files.move(complete, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(complete);
        }
    }

    private Path inside(String name) throws IOException {
        Path file = directory.resolve(name).normalize();
        if (!directory.equals(file.getParent())) {
            throw new IOException("outside of the directory");
        }
        return file;
    }

    private static String numbered(String name, int number) {
        int dot = name.lastIndexOf('.');
        return dot <= 0 ? name + "-" + number : name.substring(0, dot) + "-" + number + name.substring(dot);
    }

    /** The part of a name that is harmless; empty if nothing is. */
    public static String safe(String name) {
        String last = name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
        var kept = new StringBuilder();
        last.codePoints()
                .filter(c -> !Character.isISOControl(c)
                        && Character.getType(c) != Character.FORMAT
                        && Character.getType(c) != Character.SURROGATE
                        && "<>:\"|?*".indexOf(c) < 0)
                .forEach(kept::appendCodePoint);
        String safe = kept.toString().strip().replaceFirst("^[.\\s-]+", "").replaceFirst("[.\\s]+$", "");
        String stem = safe.replaceFirst("\\..*", "").strip().toLowerCase(Locale.ROOT);
        return DEVICES.matcher(stem).matches() ? "" : shortened(safe);
    }

    /** File systems count bytes; the extension survives. */
    private static String shortened(String name) {
        int dot = name.lastIndexOf('.');
        String extension = dot > 0 && name.length() - dot <= 16 ? name.substring(dot) : "";
        String stem = name.substring(0, name.length() - extension.length());
        while (stem.getBytes(StandardCharsets.UTF_8).length + extension.getBytes(StandardCharsets.UTF_8).length
                > LONGEST_NAME) {
            stem = stem.substring(0, stem.offsetByCodePoints(stem.length(), -1));
        }
        return stem + extension;
    }
}

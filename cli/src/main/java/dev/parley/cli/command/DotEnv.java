package dev.parley.cli.command;

import dev.parley.command.CommandException;
import dev.parley.protocol.support.OwnersOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A dotenv file: one {@code A2ACLI_NAME=value} per line. Lines of other programs are ignored, nothing is expanded.
 *
 * <p>Source: a2a-cli specification 0.2, section 8.3.
 */
public record DotEnv(Path file, Settings.Source source, Map<String, String> values) {
    private static final Pattern LINE = Pattern.compile("(?:export\\s+)?([A-Za-z_][A-Za-z0-9_.]*)\\s*=(.*)");

    public static DotEnv read(Path file, Settings.Source source) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException unreadable) {
            throw CommandException.usage(
                    "cannot read " + file + ": " + reason(unreadable), "name a readable dotenv file, or leave it out");
        }
        var values = new LinkedHashMap<String, String>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            Matcher setting = LINE.matcher(line);
            if (setting.matches()) {
                if (setting.group(1).startsWith("A2ACLI_")) {
                    values.put(setting.group(1), unquoted(setting.group(2).strip()));
                }
            } else if (line.startsWith("A2ACLI_")) {
                throw CommandException.usage(
                        file + ", line " + (i + 1) + ": " + line + " (expected: A2ACLI_NAME=value)",
                        "correct the line or remove it");
            }
        }
        return new DotEnv(file, source, Map.copyOf(values));
    }

    /** The nearest {@code .env} from {@code directory} upwards. */
    static @Nullable Path findFrom(Path directory) {
        for (Path at = directory; at != null; at = at.getParent()) {
            Path file = at.resolve(".env");
            if (Files.isRegularFile(file)) {
                return file;
            }
        }
        return null;
    }

    /** True if others than its owner may read the file; false where the platform cannot say. */
    boolean readableByOthers() {
        return OwnersOnly.isReadByOthers(file);
    }

    private static String unquoted(String value) {
        return value.matches("\".*\"|'.*'") ? value.substring(1, value.length() - 1) : value;
    }

    private static String reason(IOException unreadable) {
        return unreadable instanceof java.nio.file.NoSuchFileException
                ? "no such file"
                : String.valueOf(unreadable.getMessage());
    }
}

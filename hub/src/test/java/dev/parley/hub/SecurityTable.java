package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * The results of the checks in {@code docs/security.md}: with {@code parley.docs.update} being {@code true} they are written
 * into it, otherwise compared with it. About another server they are printed. A check is named by the beginning of its
 * test's name, up to the colon.
 */
final class SecurityTable implements TestWatcher, AfterAllCallback {
    static final Path DOCUMENT = Path.of("..", "docs", "security.md");

    private final Map<String, String> results = new TreeMap<>();

    /** The lines of the table: id, what is tried, what passes, what shows it, result. */
    static List<List<String>> rows() throws IOException {
        var rows = new ArrayList<List<String>>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            if (line.startsWith("| S")) {
                var cells = new ArrayList<String>();
                for (String cell : line.substring(1, line.length() - 1).split(" \\| ", -1)) {
                    cells.add(cell.strip());
                }
                rows.add(cells);
            }
        }
        return rows;
    }

    @Override
    public void testSuccessful(ExtensionContext context) {
        record(context, "passed");
    }

    @Override
    public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
        record(context, "not run: " + (cause == null ? "" : cause.getMessage()));
    }

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
        record(context, "**failed**");
    }

    private void record(ExtensionContext context, String result) {
        String name = context.getDisplayName();
        for (String id : name.substring(0, Math.max(0, name.indexOf(':'))).split(", ", -1)) {
            results.merge(id, result, (one, other) -> one.equals("passed") ? other : one);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        if (!SecurityTarget.ONE.isInside()) {
            results.forEach((id, result) -> System.out.println(id + " " + result));
            return;
        }
        var lines = new ArrayList<String>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            int end = line.indexOf(" | ", 2);
            String result = end < 0 ? null : results.get(line.substring(2, end));
            lines.add(result == null ? line : line.substring(0, line.lastIndexOf(" | ") + 3) + result + " |");
        }
        String current = String.join("\n", lines) + "\n";
        if (Boolean.getBoolean("parley.docs.update")) {
            Files.writeString(DOCUMENT, current);
        }
        assertThat(Files.readString(DOCUMENT)).isEqualTo(current);
    }
}

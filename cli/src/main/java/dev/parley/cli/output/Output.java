package dev.parley.cli.output;

import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput;
import dev.parley.command.SafeText;
import dev.parley.dialect.Json;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes results to standard output and all other lines to standard error.
 *
 * <p>Results are text or JSON as the caller chose; JSON is always one line per document, so a stream of them is JSONL.
 * Safe for any thread, because a signal may interrupt a command that is writing.
 */
public final class Output implements CommandOutput {
    /** The reader of standard output has closed it. */
    public static final class ReaderGone extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final CliEnvironment around;
    private final boolean json;
    private boolean progressShown;
    /** The block of text that pieces are added to, and the line breaks at its end, which are not written yet. */
    private @Nullable Object growing;

    private int lineBreaks;

    public Output(CliEnvironment around, boolean json) {
        this.around = around;
        this.json = json;
    }

    @Override
    public boolean isJson() {
        return json;
    }

    /** One result, in the format the caller wants. */
    @Override
    public void result(Supplier<byte[]> document, Consumer<Fields> text) {
        if (json) {
            print(new String(document.get(), StandardCharsets.UTF_8) + '\n');
        } else {
            var page = new TextPage();
            text.accept(page);
            print(page.toString());
        }
    }

    /** A result whose lines of text are its members, with their names as labels. */
    public void members(Map<String, ?> members) {
        result(() -> Json.write(members), page -> TextPage.members(page, members));
    }

    /** A result that is JSON in either format: on one line, or laid out for people. */
    public void json(byte[] document) {
        if (json) {
            print(new String(document, StandardCharsets.UTF_8) + '\n');
        } else {
            layout(Json.read(document, Object.class));
        }
    }

    @Override
    public void layout(@Nullable Object value) {
        print(PrettyJson.of(value) + '\n');
    }

    @Override
    public void line(String text) {
        print(SafeText.oneLine(text) + '\n');
    }

    /** A line of the text output, which is a note beside JSON. */
    public void aside(String label, String value) {
        String page = new TextPage().field(label, value).toString();
        if (json) {
            tell(page);
        } else {
            print(page);
        }
    }

    /** Text for standard output: lines, a table or a document, without characters that a terminal takes for commands. */
    @Override
    public void print(String text) {
        help(SafeText.lines(text));
    }

    /** Text of the program itself for standard output, as it is. */
    public void help(String text) {
        lock.lock();
        try {
            endBlock();
            clearProgress();
            write(text);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a piece of text to the block of {@code key}. Another block, and any other output, ends it.
     *
     * @param head writes the fields before the block
     */
    public void grow(Object key, Consumer<Fields> head, String label, String piece) {
        lock.lock();
        try {
            if (!key.equals(growing)) {
                endBlock();
                clearProgress();
                var page = new TextPage();
                head.accept(page);
                write(page.open(label) + TextPage.INDENT);
                growing = key;
            }
            String text = withoutLineBreaks(piece);
            if (!text.isEmpty()) {
                write(("\n" + TextPage.INDENT).repeat(lineBreaks) + TextPage.indented(text));
                lineBreaks = 0;
            }
            lineBreaks += (int) piece.substring(text.length())
                    .chars()
                    .filter(c -> c == '\n')
                    .count();
        } finally {
            lock.unlock();
        }
    }

    private static String withoutLineBreaks(String piece) {
        int end = piece.length();
        while (end > 0 && (piece.charAt(end - 1) == '\n' || piece.charAt(end - 1) == '\r')) {
            end--;
        }
        return piece.substring(0, end);
    }

    /** Ends the block that pieces were added to, if there is one. */
    public void endBlock() {
        lock.lock();
        try {
            if (growing != null) {
                growing = null;
                lineBreaks = 0;
                write("\n\n");
            }
        } finally {
            lock.unlock();
        }
    }

    private void write(String text) {
        PrintStream out = around.out();
        out.print(text);
        out.flush();
        if (out.checkError()) {
            throw new ReaderGone();
        }
    }

    /** A diagnostic line. */
    @Override
    public void note(String text) {
        tell(SafeText.oneLine(text) + '\n');
    }

    /** A diagnostic line for logs; at a terminal {@link #progress} stands for it. */
    public void noteBesideTerminal(String text) {
        if (!around.terminal()) {
            note(text);
        }
    }

    public void warn(String text) {
        tell(coloured("33", "Warning:") + " " + SafeText.oneLine(text) + '\n');
    }

    /** The failure that ends the command: the envelope beside JSON results, otherwise lines of text. */
    public void failure(CommandException problem) {
        if (json) {
            Map<String, @Nullable Object> error = new LinkedHashMap<>();
            error.put("code", problem.code());
            error.put("message", problem.message());
            error.put("hint", problem.hint());
            error.put("a2aCode", problem.a2aCode());
            print(new String(Json.write(Map.of("error", error)), StandardCharsets.UTF_8) + '\n');
            return;
        }
        var lines = new StringBuilder()
                .append(coloured("31", "Error:"))
                .append(' ')
                .append(SafeText.oneLine(problem.message()))
                .append(" (")
                .append(problem.code())
                .append(")\n");
        if (problem.hint() != null) {
            lines.append("Hint: ").append(SafeText.oneLine(problem.hint())).append('\n');
        }
        tell(lines.toString());
    }

    /** A line that overwrites itself, at a terminal only. */
    @Override
    public void progress(String text) {
        if (!around.terminal()) {
            return;
        }
        lock.lock();
        try {
            if (growing != null) {
                return;
            }
            String line = SafeText.oneLine(text);
            around.err().print("\r\u001b[K" + (line.length() > 78 ? line.substring(0, 77) + "…" : line));
            around.err().flush();
            progressShown = true;
        } finally {
            lock.unlock();
        }
    }

    private void tell(String text) {
        lock.lock();
        try {
            endBlock();
            clearProgress();
            around.err().print(text);
            around.err().flush();
        } finally {
            lock.unlock();
        }
    }

    private void clearProgress() {
        if (progressShown) {
            around.err().print("\r\u001b[K");
            around.err().flush();
            progressShown = false;
        }
    }

    private String coloured(String colour, String text) {
        return around.colour() ? "\u001b[" + colour + "m" + text + "\u001b[0m" : text;
    }
}

package dev.parley.cli.output;

import dev.parley.command.SafeText;
import dev.parley.dialect.Json;
import dev.parley.hub.observation.Correlation;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes log records to standard error, one line each, as text or JSON: warnings; with {@code --verbose} also information; with
 * {@code --debug} all levels of Parley's loggers, and stack traces.
 *
 * <p>Public, with a public constructor, because the log manager creates an instance by name; so logging has no cost before the
 * first record, and no configuration file is read.
 */
public final class Logs {
    private static volatile Level level = Level.WARNING;
    private static volatile @Nullable PrintStream err;
    private static volatile boolean json;
    private static volatile @Nullable Consumer<LogRecord> also;
    private static @Nullable Logger installed;

    /** Sets logging up; called by the log manager. */
    public Logs() {
        Logger root = LogManager.getLogManager().getLogger("");
        if (root == null) {
            return;
        }
        root.addHandler(new LineHandler());
        install(root);
    }

    private static synchronized void install(Logger root) {
        installed = root;
        root.setLevel(level);
    }

    /** Has the log manager use this class instead of a file of its own. */
    public static void quiet() {
        System.setProperty("java.util.logging.config.class", Logs.class.getName());
    }

    /** Sets the level and the stream of the log. The log manager may be set up already, if another thread has logged. */
    public static synchronized void configure(boolean debug, boolean verbose, PrintStream stream) {
        level = debug ? Level.FINE : verbose ? Level.INFO : Level.WARNING;
        err = stream;
        json = false;
        also = null;
        if (installed != null) {
            installed.setLevel(level);
        }
    }

    /** Has lines be JSON from now on. */
    public static void json() {
        json = true;
    }

    /** Passes records of the log to {@code other}, too, on the threads that log; null for none. */
    public static void also(@Nullable Consumer<LogRecord> other) {
        also = other;
    }

    /** The text of a record. */
    public static String message(LogRecord logged) {
        return LineHandler.MESSAGES.formatMessage(logged);
    }

    /** Whether the log has the stack traces of exceptions. */
    public static boolean hasStacks() {
        return level.intValue() <= Level.FINE.intValue();
    }

    /** Writes a line at any log level: as a note, or as JSON among the other lines. */
    public static void note(Output output, String text) {
        PrintStream stream = err;
        if (json && stream != null) {
            var logged = new LogRecord(Level.INFO, text);
            logged.setLoggerName("dev.parley.cli");
            stream.println(inJson(logged, false));
        } else {
            output.note(text);
        }
    }

    /** A record as one line of text, in which nothing can look like another line or move the cursor. */
    public static String inText(LogRecord logged, boolean stack) {
        String line =
                LocalTime.ofInstant(logged.getInstant(), ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS)
                        + " " + logged.getLevel() + " " + logged.getLoggerName() + ": "
                        + message(logged);
        Throwable cause = logged.getThrown();
        var text = new StringBuilder(SafeText.oneLine(cause == null ? line : line + ": " + cause));
        if (cause != null && stack) {
            stack(cause)
                    .forEach(each ->
                            text.append(System.lineSeparator()).append("    ").append(SafeText.oneLine(each)));
        }
        return text.toString();
    }

    /** A record as one line of JSON, with task, context and trace of the calling thread. */
    public static String inJson(LogRecord logged, boolean stack) {
        var line = new LinkedHashMap<String, Object>();
        line.put("time", logged.getInstant().truncatedTo(ChronoUnit.MILLIS).toString());
        line.put("level", logged.getLevel().getName());
        line.put("logger", String.valueOf(logged.getLoggerName()));
        line.put("message", message(logged));
        Correlation now = Correlation.current();
        putKnown(line, "task", now.task());
        putKnown(line, "context", now.context());
        putKnown(line, "messageId", now.message());
        SpanContext span = Span.current().getSpanContext();
        if (span.isValid()) {
            line.put("trace", span.getTraceId());
            line.put("span", span.getSpanId());
        }
        Throwable cause = logged.getThrown();
        if (cause != null) {
            line.put("error", cause.toString());
            if (stack) {
                line.put("stack", stack(cause).toList());
            }
        }
        return new String(Json.write(line), StandardCharsets.UTF_8);
    }

    private static void putKnown(Map<String, Object> line, String name, @Nullable String value) {
        if (value != null) {
            line.put(name, value);
        }
    }

    private static Stream<String> stack(Throwable cause) {
        var text = new StringWriter();
        cause.printStackTrace(new PrintWriter(text));
        return text.toString().lines().map(String::strip);
    }

    private static final class LineHandler extends Handler {
        /** Not above: making one starts the log manager, which must not be before {@link #quiet} was called. */
        private static final SimpleFormatter MESSAGES = new SimpleFormatter();

        @Override
        public void publish(LogRecord logged) {
            PrintStream stream = err;
            // Libraries log details that are of no use here.
            boolean ours =
                    logged.getLoggerName() != null && logged.getLoggerName().startsWith("dev.parley");
            if (stream == null
                    || logged.getLevel().intValue() < level.intValue()
                    || !ours && logged.getLevel().intValue() < Level.WARNING.intValue()) {
                return;
            }
            stream.println(json ? inJson(logged, hasStacks()) : inText(logged, hasStacks()));
            stream.flush();
            Consumer<LogRecord> other = also;
            if (other != null) {
                try {
                    other.accept(logged);
                } catch (RuntimeException fault) { // must not fail the caller that logs
                    stream.println("a line of the log could not be sent: " + fault);
                }
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}

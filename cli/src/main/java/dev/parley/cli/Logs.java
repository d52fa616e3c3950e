package dev.parley.cli;

import java.io.PrintStream;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/**
 * Log records as one line each on standard error: warnings, with {@code --verbose} also what happens, with {@code
 * --debug} everything of ours and where exceptions come from.
 *
 * <p>Public, with a public constructor, because the log manager makes one by name; so logging costs nothing until
 * somebody logs, and no file is looked for.
 */
public final class Logs {
    private static volatile Level level = Level.WARNING;
    private static volatile @Nullable PrintStream err;

    /** Sets logging up; called by the log manager. */
    public Logs() {
        Logger root = LogManager.getLogManager().getLogger("");
        if (root == null) {
            return;
        }
        root.addHandler(new LineHandler());
        root.setLevel(level);
    }

    /** Has the log manager use this class instead of a file of its own. */
    static void quiet() {
        System.setProperty("java.util.logging.config.class", Logs.class.getName());
    }

    static void configure(boolean debug, boolean verbose, PrintStream stream) {
        level = debug ? Level.FINE : verbose ? Level.INFO : Level.WARNING;
        err = stream;
    }

    /** Whether a flag is on that decides about logging; a broken value is for the command to report. */
    static boolean wanted(Settings settings, Setting<Boolean> flag) {
        try {
            return settings.isOn(flag);
        } catch (CliException broken) {
            return false;
        }
    }

    private static final class LineHandler extends Handler {
        private final SimpleFormatter messages = new SimpleFormatter();

        @Override
        public void publish(LogRecord logged) {
            PrintStream stream = err;
            // Other people's fine print would drown ours.
            boolean ours =
                    logged.getLoggerName() != null && logged.getLoggerName().startsWith("dev.parley");
            if (stream == null
                    || logged.getLevel().intValue() < level.intValue()
                    || !ours && logged.getLevel().intValue() < Level.WARNING.intValue()) {
                return;
            }
            String line = LocalTime.ofInstant(logged.getInstant(), ZoneId.systemDefault())
                            .truncatedTo(ChronoUnit.MILLIS)
                    + " " + logged.getLevel() + " " + logged.getLoggerName() + ": " + messages.formatMessage(logged);
            Throwable cause = logged.getThrown();
            stream.println(TextPage.oneLine(cause == null ? line : line + ": " + cause));
            if (cause != null && level.intValue() <= Level.FINE.intValue()) {
                cause.printStackTrace(stream);
            }
            stream.flush();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}

package dev.parley.cli.telemetry;

import dev.parley.cli.output.Logs;
import dev.parley.hub.observation.Correlation;
import io.opentelemetry.api.logs.LogRecordBuilder;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.logs.Severity;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;

/**
 * The log of the program as log records of OpenTelemetry, which have the trace and span of the calling thread by themselves. Only puts
 * them into the queue of the SDK, which drops records that it has no room for.
 */
record ExportedLog(LoggerProvider loggers) implements Consumer<LogRecord> {
    @Override
    public void accept(LogRecord logged) {
        LogRecordBuilder exported = loggers.get(String.valueOf(logged.getLoggerName()))
                .logRecordBuilder()
                .setTimestamp(logged.getInstant())
                .setSeverity(severity(logged.getLevel()))
                .setSeverityText(logged.getLevel().getName())
                .setBody(Logs.message(logged));
        Correlation now = Correlation.current();
        put(exported, "a2a.task.id", now.task());
        put(exported, "gen_ai.conversation.id", now.context());
        put(exported, "a2a.message.id", now.message());
        Throwable cause = logged.getThrown();
        if (cause != null) {
            put(exported, "exception.type", cause.getClass().getName());
            put(exported, "exception.message", cause.getMessage());
            put(exported, "exception.stacktrace", Logs.hasStacks() ? stack(cause) : null);
        }
        exported.emit();
    }

    private static void put(LogRecordBuilder exported, String attribute, @Nullable String value) {
        if (value != null) {
            exported.setAttribute(attribute, value);
        }
    }

    private static String stack(Throwable cause) {
        var text = new StringWriter();
        cause.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static Severity severity(Level level) {
        int value = level.intValue();
        if (value >= Level.SEVERE.intValue()) {
            return Severity.ERROR;
        }
        if (value >= Level.WARNING.intValue()) {
            return Severity.WARN;
        }
        return value >= Level.CONFIG.intValue() ? Severity.INFO : Severity.DEBUG;
    }
}

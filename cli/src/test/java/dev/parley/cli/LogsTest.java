package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.output.Logs;
import dev.parley.dialect.Json;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LogsTest {
    private static final String NAME = "echo\r\n2026-01-01 INFO all is well\u001b[2J";

    @Test
    @DisplayName("S62: names that hold line ends or escapes cannot forge lines or move a terminal's cursor")
    void controlCharactersAreEscaped() {
        var logged = new LogRecord(Level.WARNING, "agent {0} failed");
        logged.setLoggerName("dev.parley.test");
        logged.setParameters(new Object[] {NAME});
        logged.setThrown(new IllegalStateException(NAME));

        String text = Logs.inText(logged, true);
        String json = Logs.inJson(logged, true);

        assertThat(text.lines().filter(line -> !line.startsWith("    "))).hasSize(1);
        assertThat(json).hasLineCount(1);
        assertThat(text + json).doesNotContain("\u001b").doesNotContain("\r");
        assertThat(text).contains("echo\\r\\n2026");
        assertThat(Json.read(json.getBytes(StandardCharsets.UTF_8), Object.class))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("level", "WARNING")
                .containsEntry("message", "agent " + NAME + " failed")
                .containsEntry("error", "java.lang.IllegalStateException: " + NAME)
                .containsKeys("time", "logger", "stack")
                .doesNotContainKeys("task", "trace");
    }
}

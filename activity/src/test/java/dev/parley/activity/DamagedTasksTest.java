package dev.parley.activity;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Damaged rows of the database: lists and histories of the other tasks stay readable. */
@Timeout(60)
class DamagedTasksTest {
    @TempDir
    Path data;

    /** Changes rows of a task, and returns how many. */
    private int change(String sql, String taskId) throws Exception {
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"));
                PreparedStatement update = database.prepareStatement(sql)) {
            update.setString(1, taskId);
            return update.executeUpdate();
        }
    }

    private static List<String> ids(Map<?, ?> page) {
        return ((List<?>) requireNonNull(page.get("tasks")))
                .stream()
                        .map(task -> String.valueOf(((Map<?, ?>) task).get("taskId")))
                        .toList();
    }

    @Test
    void otherTasksAreListedCountedAndWatched() throws Exception {
        String early;
        String moved;
        String late;
        try (var hub = ActivityHub.open(Hub.builder().data(data))) {
            early = hub.send("echo", "early", null);
            moved = hub.send("ask", "damaged", null);
            late = hub.send("echo", "late", null);
        }
        assertThat(change("UPDATE task SET state = 17 WHERE task_id = ?", early))
                .isEqualTo(1);
        assertThat(change("UPDATE segment SET state = 17 WHERE task_id = ?", moved))
                .isPositive();

        try (var hub = ActivityHub.open(Hub.builder().data(data))) {
            assertThat(ids(hub.ok("/activity/tasks", null))).containsExactly(late, moved, early);
            assertThat(hub.get("/activity/counts", null).status()).isEqualTo(200);
            try (Stream<String> lines = hub.stream("/activity/changes?after=0", null, null)) {
                assertThat(lines.filter(line -> line.startsWith("data:"))
                                .map(line -> Json.read(line.substring(5).getBytes(UTF_8), Map.class))
                                .anyMatch(change -> late.equals(change.get("taskId"))))
                        .as("the change after the damaged ones")
                        .isTrue();
            }
        }
    }

    @Test
    void aHistoryShowsThatEventsCannotBeRead() throws Exception {
        String task;
        try (var hub = ActivityHub.open(Hub.builder().data(data))) {
            task = hub.send("echo", "hello", null);
        }
        // In the row of the task if it was written once, with its end.
        int damaged = change("UPDATE task SET events = x'00' WHERE events IS NOT NULL AND task_id = ?", task)
                + change("UPDATE segment SET events = x'00' WHERE task_id = ?", task);
        assertThat(damaged).isPositive();

        try (var hub = ActivityHub.open(Hub.builder().data(data))) {
            Map<?, ?> history = hub.ok("/activity/tasks/" + task, null);
            assertThat(((Map<?, ?>) requireNonNull(history.get("task"))).get("taskId"))
                    .isEqualTo(task);
            assertThat(String.valueOf(history.get("events"))).contains("number=1", "damaged=true");
        }
    }
}

package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.testkit.LocalAgent;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The test of {@code docs/testing.md}. */
@Timeout(30)
final class TripAgentTest {
    @Test
    void itAsksForTheDaysAndPlansTheTrip() {
        try (LocalAgent trips = LocalAgent.of(TripAgent.agent())) {
            Task asked = trips.send("Lisbon");
            Task planned = trips.proceed(asked, "3");

            assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(planned.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(planned.text()).isEqualTo("3 days in Lisbon");
        }
    }

    @Test
    void itReportsThatItLooksForTrains() throws InterruptedException {
        try (LocalAgent trips = LocalAgent.of(TripAgent.agent())) {
            Task asked = trips.send("Lisbon");
            Message days = Message.user(Part.text("3")).in(asked.contextId(), asked.id());
            List<TaskEvent> events = trips.events(days);

            assertThat(events)
                    .anyMatch(event -> event instanceof TaskStatusUpdateEvent update
                            && update.status().state() == TaskState.WORKING);
        }
    }

    @Test
    void aQuestionOutlivesARestart() {
        var log = new MemoryTaskLog();
        Task asked;
        try (LocalAgent trips = LocalAgent.of(TripAgent.agent(), log)) {
            asked = trips.send("Lisbon");
        }
        try (LocalAgent restarted = LocalAgent.of(TripAgent.agent(), log)) {
            assertThat(restarted.proceed(asked, "3").text()).isEqualTo("3 days in Lisbon");
        }
    }
}

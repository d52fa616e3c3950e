package dev.parley.agents;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.LocalAgent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class InterviewTest {
    @Test
    void asksTwiceAndSumsUpTheAnswers() {
        try (var interview = LocalAgent.of(Interview.agent())) {
            Task first = interview.send(Part.text("hello"));
            Task second = interview.proceed(first, "Ada");
            Task done = interview.proceed(second, "an engine");

            assertThat(first.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(question(first)).isEqualTo("What is your name?");
            assertThat(question(second)).isEqualTo("What do you want, Ada?");
            assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(done.text()).isEqualTo("Name: Ada\nWish: an engine\n");
            assertThat(done.history())
                    .extracting(Message::text)
                    .containsExactly("hello", "What is your name?", "Ada", "What do you want, Ada?", "an engine");
        }
    }

    @Test
    void doesNotNoticeARestartBetweenTwoAnswers() {
        var log = new MemoryTaskLog();
        Task second;
        try (var before = LocalAgent.of(Interview.agent(), log)) {
            second = before.proceed(before.send(Part.text("hello")), "Ada");
        }

        try (var after = LocalAgent.of(Interview.agent(), log)) {
            assertThat(after.proceed(second, "an engine").text()).isEqualTo("Name: Ada\nWish: an engine\n");
        }
    }

    @Test
    void asksAgainWhereTheAnswerIsBlank() {
        try (var interview = LocalAgent.of(Interview.agent())) {
            Task first = interview.send(Part.text("hello"));
            Task again = interview.proceed(first, "  ");
            Task second = interview.proceed(again, "Ada");

            assertThat(question(again)).isEqualTo("What is your name?");
            assertThat(question(second)).isEqualTo("What do you want, Ada?");
        }
    }

    private static String question(Task task) {
        return requireNonNull(task.status().message()).text();
    }
}

package dev.parley.store.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Questions that share a statement. */
final class PollTest {
    private final List<String> statements = new ArrayList<>();
    private final Poll poll = new Poll();

    PollTest() {
        poll.open(sql -> {
            statements.add(sql);
            return Stream.<@Nullable String>of("a" + statements.size(), null).toList();
        });
    }

    @Test
    void oneStatementAnswersEachQuestionOnce() {
        Poll.Question one = poll.add("SELECT 'a'");
        Poll.Question other = poll.add("SELECT NULL");

        assertThat(one.text()).contains("a1");
        assertThat(other.text()).isEmpty();
        assertThat(statements).containsExactly("SELECT (SELECT 'a'), (SELECT NULL)");

        assertThat(one.text()).as("its first answer was given").contains("a2");
        assertThat(statements).hasSize(2);
    }

    @Test
    void answersFromBeforeAHintAreNotGiven() {
        Poll.Question one = poll.add("SELECT 'a'");
        Poll.Question other = poll.add("SELECT NULL");
        assertThat(other.text()).isEqualTo(Optional.empty());

        poll.renew();

        assertThat(one.text()).contains("a2");
        assertThat(statements).hasSize(2);
    }

    @Test
    void anOldAnswerIsNotGiven() throws InterruptedException {
        Poll.Question one = poll.add("SELECT 'a'");
        Poll.Question other = poll.add("SELECT NULL");
        long begun = other.answer().begun();
        while (System.nanoTime() - begun < 700_000_000) {
            Thread.sleep(100); // the age is what is tested
        }

        assertThat(one.text()).contains("a2");
    }
}

package dev.parley.store.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Questions that share a statement. */
final class PollTest {
    private final List<String> statements = new ArrayList<>();
    private final AtomicLong nanos = new AtomicLong();
    private final Poll poll = new Poll(nanos::get);

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

        nanos.incrementAndGet();
        poll.renew();

        assertThat(one.text()).contains("a2");
        assertThat(statements).hasSize(2);
    }

    @Test
    void anAnswerIsGivenUpToItsLongestAge() {
        Poll.Question one = poll.add("SELECT 'a'");
        Poll.Question other = poll.add("SELECT NULL");
        long longest = Duration.ofMillis(700).toNanos();

        assertThat(other.text()).isEmpty();
        nanos.addAndGet(longest - 1);
        assertThat(one.text()).as("just before").contains("a1");

        assertThat(other.text()).isEmpty();
        nanos.addAndGet(longest);
        assertThat(one.text()).as("at its longest age").contains("a3");
    }
}

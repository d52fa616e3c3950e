package dev.parley.store.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.spi.OutageException;
import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

    @Test
    @Timeout(60)
    void questionsThatAreAskedAtOnceShareAStatement() throws Exception {
        List<Poll.Question> questions = Stream.of("'a'", "'b'", "'c'")
                .map(each -> poll.add("SELECT " + each))
                .toList();
        var begun = new CountDownLatch(1);
        var goesOn = new CountDownLatch(1);
        poll.open(sql -> {
            statements.add(sql);
            begun.countDown();
            try {
                assertThat(goesOn.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            return List.of("a", "b", "c");
        });
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Optional<String>> first = callers.submit(questions.getFirst()::text);
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            var second = new FutureTask<>(questions.get(1)::text);
            Thread waits = Thread.ofPlatform().start(second);
            Eventually.holds("the second question waits", () -> waits.getState() == Thread.State.WAITING);
            goesOn.countDown();

            assertThat(first.get(30, TimeUnit.SECONDS)).contains("a");
            assertThat(second.get(30, TimeUnit.SECONDS)).contains("b");
        }
        assertThat(questions.get(2).text()).contains("c");
        assertThat(statements).hasSize(1);
    }

    @Test
    @Timeout(60)
    void aQuestionIsAskedByItselfIfTheStatementThatItWaitedForFailed() {
        Poll.Question one = poll.add("SELECT 'a'");
        Poll.Question other = poll.add("SELECT 'b'");
        var fails = new AtomicBoolean(true);
        poll.open(sql -> {
            if (fails.getAndSet(false)) {
                throw new OutageException("the server is gone");
            }
            return List.of("a", "b");
        });

        assertThatThrownBy(one::text).isInstanceOf(OutageException.class);

        assertThat(other.text()).contains("b");
    }
}

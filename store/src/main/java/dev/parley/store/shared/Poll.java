package dev.parley.store.shared;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The questions that a hub asks a shared database each second, in one statement: whichever of them is asked first has the others answered,
 * too. An answer is given once, and 0.7 s after it was read at most; so questions that are asked once a second each, at three times within
 * the second, need one statement a second. A question waits for the statement of another one that is under way. Safe for any thread.
 */
public final class Poll {
    /** Of three times within a second, which repeat, one is followed by the other two in so long, whatever the times are. */
    private static final Duration LONGEST = Duration.ofMillis(700);

    private volatile Reader database = sql -> {
        throw new IllegalStateException("questions before the database is open");
    };

    private final LongSupplier clock;
    private final AtomicReference<@Nullable CompletableFuture<?>> reading = new AtomicReference<>();
    private volatile List<Question> questions = List.of();
    private volatile long since;

    public Poll() {
        this(System::nanoTime);
    }

    /** @param clock as {@link System#nanoTime} */
    Poll(LongSupplier clock) {
        this.clock = clock;
        this.since = clock.getAsLong();
    }

    /** Reads from the database. */
    @FunctionalInterface
    public interface Reader {
        /** Returns the columns of a query that has one row of texts, null included; failures are unchecked. */
        List<@Nullable String> row(String sql);
    }

    /**
     * An answer of the database.
     *
     * @param text null for NULL
     * @param begun {@link System#nanoTime} before the statement
     * @param ended the same after it
     */
    public record Answer(@Nullable String text, long begun, long ended) {}

    /** One of the questions. */
    public final class Question {
        private final String sql;
        private final AtomicReference<@Nullable Answer> known = new AtomicReference<>();

        private Question(String sql) {
            this.sql = sql;
        }

        /**
         * Returns an answer that was not returned before and is 0.7 s old at most; reads it if there is none.
         *
         * @throws dev.parley.store.spi.StoreException if it cannot be read
         */
        public Answer answer() {
            return fresh().orElseGet(this::read);
        }

        /** Waits for one statement of another question at most, and then runs its own if that gave no answer. */
        private Answer read() {
            var mine = new CompletableFuture<Void>();
            CompletableFuture<?> others = reading.compareAndExchange(null, mine);
            if (others != null) {
                others.join();
                return fresh().orElseGet(() -> ask(this));
            }
            try {
                return ask(this);
            } finally {
                reading.set(null);
                mine.complete(null);
            }
        }

        private Optional<Answer> fresh() {
            return Optional.ofNullable(known.getAndSet(null))
                    .filter(answer ->
                            answer.begun - since >= 0 && clock.getAsLong() - answer.begun < LONGEST.toNanos());
        }

        /** The text of an {@link #answer}; empty for NULL. */
        public Optional<String> text() {
            return Optional.ofNullable(answer().text);
        }
    }

    /**
     * Adds a question.
     *
     * @param sql query of one row at most, with one column of type text, without parameters
     */
    public synchronized Question add(String sql) {
        var question = new Question(sql);
        var all = new ArrayList<>(questions);
        all.add(question);
        questions = List.copyOf(all);
        return question;
    }

    /** Has all questions read again: something has changed. */
    public void renew() {
        since = clock.getAsLong();
    }

    private Answer ask(Question wanted) {
        List<Question> asked = questions;
        long begun = clock.getAsLong();
        List<@Nullable String> row = database.row(
                asked.stream().map(one -> "(" + one.sql + ")").collect(Collectors.joining(", ", "SELECT ", "")));
        long ended = clock.getAsLong();
        @Nullable Answer found = null;
        for (int i = 0; i < asked.size(); i++) {
            var answer = new Answer(row.get(i), begun, ended);
            if (asked.get(i) == wanted) {
                found = answer;
            } else {
                asked.get(i).known.set(answer);
            }
        }
        if (found == null) {
            throw new IllegalStateException("a question of another poll");
        }
        return found;
    }

    /** @param reader reads from the database */
    public void open(Reader reader) {
        database = reader;
    }
}

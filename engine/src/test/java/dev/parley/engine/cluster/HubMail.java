package dev.parley.engine.cluster;

import dev.parley.engine.cluster.SimulatedDatabase.Letter;
import dev.parley.engine.cluster.SimulatedDatabase.TaskRow;
import dev.parley.engine.spi.TaskMail;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Calls that hubs hand to the owners of tasks, as rows of the database. */
final class HubMail implements TaskMail {
    private final HubLog log;
    private final SimulatedDatabase database;
    private final Map<Long, CompletableFuture<Answer>> waiting = new HashMap<>();
    private Runnable listener = () -> {};

    HubMail(HubLog log, SimulatedDatabase database) {
        this.log = log;
        this.database = database;
    }

    @Override
    public Optional<Outgoing> send(Request request) {
        TaskRow row = log.read(at -> Optional.ofNullable(database.tasks.get(request.task(), at)))
                .orElse(null);
        long owner = row == null ? 0 : row.owner();
        if (owner == 0 || owner == log.stream()) {
            return Optional.empty();
        }
        long number = database.nextLetter();
        var answer = new CompletableFuture<Answer>();
        if (database.isAlive(owner)) {
            waiting.put(number, answer);
            log.later(
                    commit -> database.letters.put(
                            number, commit, new Letter(number, log.stream(), owner, request, false, null)),
                    () -> hint(owner),
                    failure -> {
                        waiting.remove(number);
                        answer.completeExceptionally(failure);
                    });
        } else {
            answer.complete(new Answer.Moved());
        }
        return Optional.of(new Outgoing() {
            @Override
            public CompletableFuture<Answer> answer() {
                return answer;
            }

            @Override
            public void close() {
                if (waiting.remove(number) != null) {
                    remove(number);
                }
            }
        });
    }

    private void remove(long number) {
        log.later(commit -> database.letters.put(number, commit, null), () -> {}, failure -> {});
    }

    private void hint(long stream) {
        HubLog other = log.of(stream);
        if (other != null) {
            other.hear(() -> ((HubMail) other.mail()).listener.run());
        }
    }

    @Override
    public void onHint(Runnable listener) {
        this.listener = listener;
    }

    @Override
    public boolean look() {
        List<Letter> sent = log.read(at -> database.letters
                .values(at)
                .filter(letter -> letter.from() == log.stream())
                .toList());
        for (Letter letter : sent) {
            Answer fate = fate(letter);
            CompletableFuture<Answer> answer = fate == null ? null : waiting.remove(letter.number());
            if (answer != null && fate != null) {
                answer.complete(fate);
                remove(letter.number());
            }
        }
        return database.letters().anyMatch(letter -> database.isDue(letter, log.stream()));
    }

    private @Nullable Answer fate(Letter letter) {
        if (letter.answer() != null || database.isAlive(letter.to())) {
            return letter.answer();
        }
        return letter.isTaken() ? new Answer.Lost() : new Answer.Moved();
    }

    @Override
    public List<Incoming> receive(int limit) {
        return log.written(commit -> database.receive(commit, log.stream(), limit)).stream()
                .map(this::incoming)
                .toList();
    }

    private Incoming incoming(Letter letter) {
        return new Incoming() {
            @Override
            public Request request() {
                return letter.request();
            }

            @Override
            public void answer(Answer answer) {
                log.later(
                        commit -> database.answer(commit, letter.number(), answer),
                        () -> hint(letter.from()),
                        failure -> {});
            }
        };
    }
}

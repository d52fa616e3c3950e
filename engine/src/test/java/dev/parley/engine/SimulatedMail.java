package dev.parley.engine;

import dev.parley.engine.SimulatedLog.Fault;
import dev.parley.engine.SimulatedThreads.Machine;
import dev.parley.engine.spi.TaskMail;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Mail of a simulated log, as the database has it: commits take time and fail now and then, and hints get lost. */
final class SimulatedMail implements TaskMail {
    /** A row, of a process for another one. */
    private static final class Letter {
        private final Machine from;
        private final Machine to;
        private final Request request;
        private boolean isTaken;
        private boolean isRemoved;

        @Nullable
        private Answer answer;

        Letter(Machine from, Machine to, Request request) {
            this.from = from;
            this.to = to;
            this.request = request;
        }
    }

    /** The rows, which survive a crash, and the processes that listen. */
    static final class Box {
        private final List<Letter> letters = new ArrayList<>();
        private final Map<Machine, Runnable> listeners = new HashMap<>();
        private int executed;

        /** Number of calls that another process than that of their caller has executed. */
        int executed() {
            return executed;
        }
    }

    private final SimulatedLog.Disk disk;
    private final SimulatedThreads simulation;
    private final Machine process;
    private final Random random;
    private final Map<Letter, CompletableFuture<Answer>> waiting = new HashMap<>();

    SimulatedMail(SimulatedLog.Disk disk, SimulatedThreads simulation, Machine process, Random random) {
        this.disk = disk;
        this.simulation = simulation;
        this.process = process;
        this.random = random;
    }

    @Override
    public Optional<Outgoing> send(Request request) {
        read();
        Machine owner = disk.runner(request.task());
        if (owner == null || owner.equals(process)) {
            return Optional.empty();
        }
        var letter = new Letter(process, owner, request);
        var answer = new CompletableFuture<Answer>();
        if (owner.isAlive()) {
            waiting.put(letter, answer);
            process.start("mail", () -> post(letter, answer));
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
                waiting.remove(letter);
                letter.isRemoved = true;
            }
        });
    }

    private void post(Letter letter, CompletableFuture<Answer> answer) {
        if (commit()) {
            disk.mail.letters.add(letter);
            hint(letter.to);
        } else {
            answer.completeExceptionally(new Fault("disk full"));
        }
    }

    private boolean commit() {
        try {
            simulation.sleep(process, Duration.ofMillis(random.nextInt(20)));
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
        return !disk.full && random.nextInt(1_000) >= disk.faults;
    }

    private void hint(Machine other) {
        Runnable listener = disk.mail.listeners.get(other);
        if (listener != null && other.isAlive() && random.nextInt(4) > 0) {
            listener.run();
        }
    }

    private void read() {
        simulation.mayYield();
        if (random.nextInt(4_000) < disk.faults) {
            throw new Fault("could not read");
        }
    }

    @Override
    public void onHint(Runnable listener) {
        disk.mail.listeners.put(process, listener);
    }

    @Override
    public boolean look() {
        read();
        disk.mail.letters.removeIf(letter -> letter.isRemoved || !letter.from.isAlive());
        for (Letter letter : List.copyOf(disk.mail.letters)) {
            Answer fate = fate(letter);
            if (letter.from.equals(process) && fate != null) {
                letter.isRemoved = true;
                CompletableFuture<Answer> answer = waiting.remove(letter);
                if (answer != null) {
                    answer.complete(fate);
                }
            }
        }
        return disk.mail.letters.stream().anyMatch(this::isDue);
    }

    private static @Nullable Answer fate(Letter letter) {
        if (letter.answer != null || letter.to.isAlive()) {
            return letter.answer;
        }
        return letter.isTaken ? new Answer.Lost() : new Answer.Moved();
    }

    private boolean isDue(Letter letter) {
        return letter.to.equals(process) && letter.from.isAlive() && !letter.isTaken && !letter.isRemoved;
    }

    @Override
    public List<Incoming> receive(int limit) {
        if (!commit()) {
            throw new Fault("disk full");
        }
        List<Letter> due =
                disk.mail.letters.stream().filter(this::isDue).limit(limit).toList();
        due.forEach(letter -> letter.isTaken = true);
        return due.stream().map(this::incoming).toList();
    }

    private Incoming incoming(Letter letter) {
        return new Incoming() {
            @Override
            public Request request() {
                return letter.request;
            }

            @Override
            public void answer(Answer answer) {
                if (commit()) {
                    disk.mail.executed += answer instanceof Answer.Done ? 1 : 0;
                    letter.answer = answer;
                    hint(letter.from);
                }
            }
        };
    }
}

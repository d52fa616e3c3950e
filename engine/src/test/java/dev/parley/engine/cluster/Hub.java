package dev.parley.engine.cluster;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.SimulatedThreads;
import dev.parley.engine.cluster.History.Violation;
import dev.parley.engine.cluster.SimulatedDatabase.Mutant;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An engine with its log, its lease and the door through which callers come; it ends when it is killed or finds that it was ended. */
final class Hub {
    static final String AGENT = "agent";

    /** Without a renewal for so long a hub answers nothing. */
    private static final Duration SILENCE = Duration.ofSeconds(8);

    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Duration LONGEST_CALL = Duration.ofSeconds(25);

    /** A call that ended without an answer of the agent: its connection broke, or the hub may not answer. */
    static final class CutException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CutException(String reason) {
            super(reason);
        }
    }

    /** A call under way. */
    private static final class Call<T> {
        private final Thread caller = Thread.currentThread();
        private @Nullable T answer;
        private @Nullable Throwable failure;
        private boolean isDone;

        void complete(@Nullable T result, @Nullable Throwable problem) {
            if (!isDone) {
                isDone = true;
                answer = result;
                failure = problem;
                LockSupport.unpark(caller);
            }
        }
    }

    final SimulatedThreads.Machine process;
    final HubLog log;
    final Engine engine;
    final AgentEndpoint agent;
    private final HubSimulation simulation;
    private final int slot;
    private final List<Call<?>> calls = new ArrayList<>();
    private long beat;
    /** History of the database with which the copies of tasks have been compared. */
    private long compared;

    private boolean isEnded;

    Hub(HubSimulation simulation, int slot) {
        this.simulation = simulation;
        this.slot = slot;
        this.process = simulation.threads.process();
        this.beat = simulation.threads.now();
        this.compared = simulation.database.timeline();
        this.log = new HubLog(
                simulation.database,
                simulation.logs,
                simulation.threads,
                process,
                simulation.random,
                simulation::luck,
                this::end);
        this.engine = process.run(Engine.builder(log))
                .clock(simulation.threads)
                .cacheBytes(simulation.random.nextInt(4) == 0 ? 0 : 1 << 20)
                .build();
        this.agent = engine.host(Agent.named(AGENT, "Does what messages say")
                .resumable(simulation.isResumable)
                .concurrency(simulation.concurrency)
                .handle(this::handle));
        process.start("lease", this::renewAll);
        simulation.history.add(() -> "hub " + log.stream() + " begins");
    }

    boolean isAlive() {
        return !isEnded;
    }

    /** Whether the lease holds, as far as this hub can know. */
    private boolean mayAnswer() {
        return simulation.database.mutants.contains(Mutant.NO_LEASE)
                || simulation.threads.now() - beat < SILENCE.toNanos();
    }

    private void renewAll() {
        while (true) {
            long sent = simulation.threads.now();
            SimulatedDatabase database = simulation.database;
            if (!database.isDown()) {
                var unused = log.read(at -> at); // which compares the history of the database
                if (!database.renew(log.stream())) {
                    end("was ended by another hub");
                    return;
                }
                beat = isCompared() ? sent : beat;
                if (database.judge(log.stream())) {
                    simulation.logs.forEach(HubLog::hearOfEnd);
                }
            } else if (!mayAnswer()) {
                end("cannot renew its lease");
                return;
            }
            log.sleep((int) LOOK.toMillis());
        }
    }

    /** Compares the copies of tasks with a database that is another one, as the new connection of a lease does; false if it is down. */
    private boolean isCompared() {
        long timeline = simulation.database.timeline();
        try {
            if (compared != timeline && !simulation.database.mutants.contains(Mutant.NO_COMPARISON)) {
                log.compare();
            }
            compared = timeline;
            return true;
        } catch (SimulatedDatabase.Fault again) {
            return false;
        }
    }

    /** Ends the process; another one begins soon. */
    void end(String reason) {
        if (isEnded) {
            return;
        }
        isEnded = true;
        simulation.history.add(() -> "hub " + log.stream() + " ends: it " + reason);
        process.kill();
        List.copyOf(calls).forEach(call -> call.complete(null, new CutException("connection reset")));
        simulation.restart(slot);
    }

    private void handle(Request request, Reply reply) throws Exception {
        String message = request.message().messageId();
        Runs.Run run = simulation.runs.begin(this, request.context().scope(), request.taskId(), message);
        simulation.history.add(() ->
                "hub " + log.stream() + " runs " + message + " of task " + request.taskId() + ": " + request.text());
        try {
            for (String step : request.text().split(" ", -1)) {
                simulation.threads.mayYield();
                if (step.equals("i") || step.equals("c") || step.equals("f")) {
                    run.end(); // the handler may linger while the task goes on
                }
                step(step, reply);
            }
        } finally {
            run.end();
        }
    }

    private void step(String step, Reply reply) throws Exception {
        switch (step.charAt(0)) {
            case 'w' -> reply.working("busy");
            case 'a' -> reply.artifact("part", "text");
            case 's' -> simulation.threads.sleep(process, Duration.ofMillis(Integer.parseInt(step.substring(1))));
            case 'c' -> reply.complete("done");
            case 'f' -> reply.fail("no");
            case 'i' -> reply.askForInput("and?");
            default -> throw new IllegalArgumentException(step);
        }
    }

    /**
     * Calls this hub from a thread of a caller.
     *
     * @throws CutException if there is no answer
     */
    <T> T call(SimulatedThreads.Machine caller, Function<Hub, T> work) {
        if (isEnded) {
            throw new CutException("connection refused");
        }
        var call = new Call<T>();
        calls.add(call);
        process.start("call", () -> {
            try {
                pass(outcome(call, work));
            } catch (CutException cut) {
                call.complete(null, cut);
            } catch (Throwable problem) {
                simulation.fail(problem);
            }
        });
        boolean isAnswered = simulation.threads.await(caller, () -> call.isDone, LONGEST_CALL);
        calls.remove(call);
        Throwable failure = isAnswered ? call.failure : new CutException("no answer");
        if (failure instanceof RuntimeException refusal) {
            throw refusal;
        }
        T answer = call.answer;
        if (answer == null) {
            throw new CutException("no answer");
        }
        return answer;
    }

    private <T> Runnable outcome(Call<T> call, Function<Hub, T> work) {
        try {
            T result = work.apply(this);
            return () -> call.complete(result, null);
        } catch (A2AException | SimulatedDatabase.Fault | DamagedTaskException refusal) {
            return () -> call.complete(null, refusal);
        }
    }

    /** Lets an answer pass to its caller, unless the lease may be over. */
    void pass(Runnable answer) {
        if (!mayAnswer()) {
            throw new CutException("the lease may be over");
        }
        if (simulation.database.isEnded(log.stream())) {
            simulation.fail(new Violation("hub " + log.stream() + " has ended, and answers nothing after that"));
        }
        answer.run();
    }
}

package dev.parley.testkit;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Agents with one behaviour each, wrong ones included: for tests of engines and servers. */
public final class ScriptedAgents {
    private static final int MANY = 10_000;

    private ScriptedAgents() {}

    /** {@code slow}: says that it works, then waits for {@code gate} to open or for an interruption, then completes. */
    public static Agent slow(CountDownLatch gate) {
        return agent("slow", "Waits until it is let go on, then completes", (request, reply) -> {
            reply.working("waiting");
            gate.await();
            reply.complete("done");
        });
    }

    /** {@code slow}: says that it works, then lets {@code time} pass, or less if it is interrupted, then completes. */
    public static Agent slow(Duration time) {
        return agent("slow", "Waits for " + time + ", then completes", (request, reply) -> {
            reply.working("waiting");
            Thread.sleep(time);
            reply.complete("done");
        });
    }

    /** {@code failing}: throws at once. */
    public static Agent failing() {
        return agent("failing", "Throws an exception", (request, reply) -> {
            throw new IllegalStateException("this agent always fails");
        });
    }

    /** {@code chatty}: as many status updates as the text says (10,000 if it says nothing), then completes. */
    public static Agent chatty() {
        return agent("chatty", "Says a great many things, then completes", (request, reply) -> {
            int count = number(request.text());
            for (int i = 1; i <= count; i++) {
                reply.working(i + " of " + count);
            }
            reply.complete();
        });
    }

    /** {@code chunked}: one artifact in as many pieces as the text says (10,000 if it says nothing), then completes. */
    public static Agent chunked() {
        return agent("chunked", "Produces one artifact in a great many pieces", (request, reply) -> {
            int count = number(request.text());
            try (Reply.ArtifactWriter pieces = reply.stream("pieces")) {
                for (int i = 1; i <= count; i++) {
                    pieces.append(i + "\n");
                }
            }
            reply.complete();
        });
    }

    /** {@code input-required}: asks for input, then completes with the answer. */
    public static Agent inputRequired() {
        return agent("input-required", "Asks one question and completes with the answer", (request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete(request.text());
            } else {
                reply.askForInput("What else?");
            }
        });
    }

    /** {@code auth-required}: asks for credentials, then completes with the next message. */
    public static Agent authRequired() {
        return agent("auth-required", "Asks for credentials, then completes", (request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete(request.text());
            } else {
                reply.askForCredentials("Please sign in");
            }
        });
    }

    /** {@code returns-without-ending}: says that it works, and returns. */
    public static Agent returnsWithoutEnding() {
        return agent(
                "returns-without-ending",
                "Returns before its task has ended",
                (request, reply) -> reply.working("soon"));
    }

    /** {@code emits-after-end}: completes, and then has more to say. */
    public static Agent emitsAfterEnd() {
        return agent("emits-after-end", "Goes on after its task has ended", (request, reply) -> {
            reply.complete("done");
            reply.artifact("late", "too late");
        });
    }

    /** {@code ignores-interruption}: works until {@code gate} opens, ignoring interrupts, and then tries to complete. */
    public static Agent ignoresInterruption(CountDownLatch gate) {
        return agent("ignores-interruption", "Cannot be stopped", (request, reply) -> {
            reply.working("waiting");
            awaitStubbornly(gate);
            reply.complete("done");
        });
    }

    /** {@code message-only}: answers with a message, without a task. */
    public static Agent messageOnly() {
        return agent(
                "message-only",
                "Answers with the text as a message",
                (request, reply) -> reply.message(request.text()));
    }

    /** {@code rejecting}: declines every task. */
    public static Agent rejecting() {
        return agent("rejecting", "Declines every task", (request, reply) -> reply.reject("not this one"));
    }

    private static Agent agent(String name, String description, AgentHandler handler) {
        return Agent.named(name, description).skill(name, description, "test").handle(handler);
    }

    private static int number(String text) {
        return text.isBlank() ? MANY : Integer.parseInt(text.strip());
    }

    private static void awaitStubbornly(CountDownLatch gate) {
        while (true) {
            try {
                gate.await();
                return;
            } catch (InterruptedException ignored) {
                // The purpose of this agent.
            }
        }
    }
}

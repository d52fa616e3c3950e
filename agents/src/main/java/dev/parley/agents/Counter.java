package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/** Counts to the number it is sent, in steps slow enough to watch, cancel or crash it meanwhile. */
final class Counter implements AgentHandler {
    static final int MAX = 10_000;
    static final Duration STEP = Duration.ofMillis(200);

    /** Pause between two steps. */
    interface Pace {
        void pause(Duration duration) throws InterruptedException;
    }

    private final Pace pace;

    private Counter(Pace pace) {
        this.pace = pace;
    }

    static Agent agent(Pace pace) {
        return Agent.named("counter", "Counts to a number, one step every 200 ms; may be watched and canceled")
                .skill(DemoSkill.of(
                        "count",
                        "Count",
                        "Counts from 1 to the number in the message, 1 to " + MAX + ", with progress",
                        List.of("10", "500")))
                .resumable(true)
                .handle(new Counter(pace));
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        OptionalInt limit = parse(request.text());
        if (limit.isEmpty()) {
            reply.reject("count to: \"%s\" (expected: a whole number from 1 to %d)"
                    .formatted(Texts.shorten(request.text(), 60), MAX));
            return;
        }
        int last = limit.getAsInt();
        // Progress lives in the log, not in the history, so after a crash the counter cannot know how far it was.
        reply.progress(0, request.attempt() == 1 ? "Counting to " + last : "Counting to " + last + " once more");
        for (int step = 1; step <= last; step++) {
            pace.pause(STEP);
            reply.progress(step * 100 / last, step + " of " + last);
        }
        reply.complete("Counted to " + last + ".");
    }

    private static OptionalInt parse(String text) {
        String digits = text.strip();
        if (!digits.matches("[0-9]{1,5}")) {
            return OptionalInt.empty();
        }
        int number = Integer.parseInt(digits);
        return number >= 1 && number <= MAX ? OptionalInt.of(number) : OptionalInt.empty();
    }
}

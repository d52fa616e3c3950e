package dev.parley.bench;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentSource;
import dev.parley.testkit.ScriptedAgents;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** The agents that a hub under measurement hosts besides the demo agents. */
public final class MeasuredAgents implements AgentSource {
    private static final int AT_ONCE = 8;
    private static final int LASTING = 100_000;
    private static final long WORK_MS = 20;
    private static final long SHORT_WORK_MS = 2;

    @Override
    public Collection<Agent> agents() {
        return List.of(
                ScriptedAgents.chatty(),
                ScriptedAgents.chunked(),
                ScriptedAgents.inputRequired(),
                guarded(),
                busy(),
                narrow(),
                ticking(),
                lasting());
    }

    /** Agent like {@code ping}, under a name for which authentication can be required. */
    private static Agent guarded() {
        return Agent.named("guarded", "Answers at once with a message, without a task")
                .handle((request, reply) -> reply.message("pong: " + request.text()));
    }

    /** Has room for one task at a time, of 2 ms. */
    private static Agent narrow() {
        return Agent.named("narrow", "Works for 2 ms, at one task at a time")
                .skill("work", "Works")
                .concurrency(1)
                .handle((request, reply) -> {
                    Thread.sleep(SHORT_WORK_MS);
                    reply.complete("done");
                });
    }

    /** Reports "tick 1", "tick 2" and so on, one each 20 ms, up to the number in the message. */
    private static Agent ticking() {
        return Agent.named("ticking", "Counts to a number, slowly").handle((request, reply) -> {
            int last = Integer.parseInt(request.text().strip());
            for (int i = 1; i <= last; i++) {
                Thread.sleep(WORK_MS);
                reply.working("tick " + i);
            }
            reply.complete("done");
        });
    }

    /** Works until its hub ends. */
    private static Agent lasting() {
        return Agent.named("lasting", "Works until the hub ends")
                .concurrency(LASTING)
                .handle((request, reply) -> {
                    Thread.sleep(Duration.ofDays(1));
                    reply.complete("done");
                });
    }

    /** Has room for eight tasks at once, each of which takes 20 ms, as if it asked a model. */
    private static Agent busy() {
        return Agent.named("busy", "Works for 20 ms, at eight tasks at once")
                .concurrency(AT_ONCE)
                .handle((request, reply) -> {
                    Thread.sleep(WORK_MS);
                    reply.complete("done");
                });
    }
}

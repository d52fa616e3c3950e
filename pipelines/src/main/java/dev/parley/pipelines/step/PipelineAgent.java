package dev.parley.pipelines.step;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.support.FairPool;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Makes agents of pipelines. */
public final class PipelineAgent {
    private static final Duration TIME_LIMIT = Duration.ofMinutes(2);

    /** Parsers and comparisons compute for longer than a virtual thread may. */
    private static final FairPool POOL = new FairPool("pipeline", 4, 64);

    /** Work of an agent. */
    @FunctionalInterface
    public interface Work {
        /**
         * Does the work and ends the task, unless it throws.
         *
         * @throws StepInput.Unusable to reject the input
         */
        void on(StepInput input, Reply reply) throws IOException, SQLException, InterruptedException;
    }

    private PipelineAgent() {}

    /** An agent of one skill, which computes. It takes JSON and files. */
    public static Agent computing(String name, String skill, String description, List<String> outputModes, Work work) {
        return agent(name, skill, description, outputModes)
                .handle((request, reply) -> POOL.call(request.context().scope().group(), TIME_LIMIT, () -> {
                    work(work, request, reply);
                    return null;
                }));
    }

    /** An agent of one skill, which waits for others. It takes JSON and files. */
    public static Agent waiting(String name, String skill, String description, List<String> outputModes, Work work) {
        return agent(name, skill, description, outputModes).handle((request, reply) -> work(work, request, reply));
    }

    private static void work(Work work, Request request, Reply reply) {
        try {
            work.on(StepInput.of(request), reply);
        } catch (StepInput.Unusable unusable) {
            reply.reject(String.valueOf(unusable.getMessage()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (IOException | SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Agent.Builder agent(String name, String skill, String description, List<String> outputModes) {
        return Agent.named(name, description)
                .inputModes(
                        "application/json",
                        "application/x-ndjson",
                        "application/pdf",
                        "application/octet-stream",
                        "image/png",
                        "text/csv",
                        "text/html",
                        "text/markdown",
                        "text/plain")
                .outputModes(outputModes.toArray(String[]::new))
                .skill(new Skill(
                        skill, skill, description, List.of("pipeline"), List.of(), List.of(), List.of(), List.of()))
                .resumable(true) // the same input leads to the same result
                .timeLimit(TIME_LIMIT.plusSeconds(10))
                .concurrency(8);
    }
}

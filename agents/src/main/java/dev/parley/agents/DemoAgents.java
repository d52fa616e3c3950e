package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.knowledge.api.SharedKnowledge;
import java.util.List;
import java.util.stream.Stream;

/**
 * The demo agents: {@code ping}, {@code echo}, {@code counter}, {@code interview}, {@code analyst}, and
 * {@code sensor}, {@code diagnosis} and {@code watchdog}, which share a knowledge graph.
 */
public final class DemoAgents {
    private DemoAgents() {}

    /** One of each, in the order in which a hub lists them. */
    public static List<Agent> all() {
        return Stream.of(
                        ping(),
                        echo(),
                        Counter.agent(Thread::sleep),
                        Interview.agent(),
                        Analyst.agent(),
                        Sensor.agent(),
                        Diagnosis.agent(),
                        Watchdog.agent())
                .map(agent -> agent.using(SharedKnowledge.VIEW))
                .toList();
    }

    private static Agent ping() {
        return Agent.named("ping", "Answers at once with a message, without a task")
                .skill(DemoSkill.of("ping", "Ping", "Says pong and what it was sent", List.of("ping", "hello")))
                .handle((request, reply) -> {
                    String text = request.text();
                    reply.message(text.isEmpty() ? "pong" : "pong: " + text);
                });
    }

    private static Agent echo() {
        return Agent.named("echo", "Returns at once a completed task that holds the text it was sent")
                .skill(DemoSkill.of("echo", "Echo", "Gives the text back as an artifact", List.of("Say it again")))
                .handle((request, reply) -> reply.complete(request.text()));
    }
}

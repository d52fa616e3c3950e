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
        return Agent.named("ping", "Answers with a message, without a task")
                .skill(DemoSkill.of(
                        "ping", "Ping", "Returns pong and the text of the message", List.of("ping", "hello")))
                .handle((request, reply) -> {
                    String text = request.text();
                    reply.message(text.isEmpty() ? "pong" : "pong: " + text);
                });
    }

    private static Agent echo() {
        return Agent.named("echo", "Returns a completed task with the text of the message")
                .skill(DemoSkill.of("echo", "Echo", "Returns the text as an artifact", List.of("Say it again")))
                .handle((request, reply) -> reply.complete(request.text()));
    }
}

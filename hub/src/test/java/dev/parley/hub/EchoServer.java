package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import java.util.List;
import java.util.Map;

/** The echo server of the documentation. */
public final class EchoServer {
    public static void main(String[] args) {
        Hub.builder().port(8000).inMemory().agents(agent()).start().closeOnShutdown();
    }

    static Agent agent() {
        return Agent.named("echo", "Echoes what it is sent")
                .skill("echo", "Gives every part back", "echo")
                .handle((request, reply) -> {
                    reply.artifact(new Artifact(
                            "artifact-0", "Echo", "Echo of the message", request.parts(), Map.of(), List.of()));
                    reply.move(TaskState.COMPLETED, Message.agent(Part.text("Echoed")), Map.of());
                });
    }
}

package dev.parley.hub;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;

/** A program that embeds a hub, reads settings from its environment, and has configured no log. */
final class QuietHub {
    private QuietHub() {}

    public static void main(String[] args) throws Exception {
        Agent echo = Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));
        try (Hub hub = Hub.builder()
                        .environment()
                        .inMemory()
                        .port(0)
                        .agents(echo)
                        .start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            System.out.println("url " + hub.url());
            client.send("hello");
            client.send("again");
        }
    }
}

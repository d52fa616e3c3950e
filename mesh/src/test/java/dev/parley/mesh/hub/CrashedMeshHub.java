package dev.parley.mesh.hub;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A hub in a process of its own, to be killed. Prints "ready URL", and "begun" for each message to the agent that never ends. */
final class CrashedMeshHub {
    private CrashedMeshHub() {}

    public static void main(String[] args) throws InterruptedException {
        Agent echo = Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> reply.complete("x"));
        Agent endless = Agent.named("endless", "Never ends")
                .skill("say", "Says")
                .resumable(true)
                .handle((request, reply) -> {
                    System.out.println("begun");
                    new CountDownLatch(1).await();
                });
        Hub hub = Hub.builder()
                .data(Path.of(args[0]))
                .port(0)
                .agents(echo, endless)
                .start();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}

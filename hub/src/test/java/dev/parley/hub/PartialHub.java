package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.knowledge.api.SharedKnowledge;
import java.nio.file.Path;

/** A hub with a graph in a process of its own, whose class path may lack libraries. Says "ready URL" once it answers. */
final class PartialHub {
    private PartialHub() {}

    public static void main(String[] args) throws InterruptedException {
        Hub hub = Hub.builder()
                .data(Path.of(args[0]))
                .port(0)
                .agents(Agent.named("echo", "Says it again")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())))
                .start();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}

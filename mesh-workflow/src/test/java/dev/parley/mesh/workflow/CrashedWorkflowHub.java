package dev.parley.mesh.workflow;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * A hub in a process of its own, to be killed. Says "ready URL" once it answers, and "ended" for each step; lets as many steps end as
 * the number of its second argument. The third one, if there is one, is the URL of a database that it shares.
 */
final class CrashedWorkflowHub {
    private CrashedWorkflowHub() {}

    public static void main(String[] args) throws InterruptedException {
        var permits = new Semaphore(Integer.parseInt(args[1]));
        Agent work = Agent.named("work", "Waits for a permit").resumable(true).handle((request, reply) -> {
            permits.acquire();
            reply.complete(request.text() + ".");
            System.out.println("ended");
        });
        Agent bomb = Agent.named("bomb", "Kills the process when it is canceled first")
                .resumable(true)
                .handle((request, reply) -> {
                    try {
                        new Semaphore(0).acquire();
                    } finally {
                        if (request.attempt() == 1 && request.isCanceled()) {
                            Runtime.getRuntime().halt(1);
                        }
                    }
                });
        HubBuilder builder = Hub.builder()
                .data(Path.of(args[0]))
                .port(0)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(work, bomb);
        if (args.length > 2) {
            builder.database(args[2]).set("cluster", "true");
        }
        Hub hub = builder.start();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}

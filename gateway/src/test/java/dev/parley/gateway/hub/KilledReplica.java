package dev.parley.gateway.hub;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * A replica in a process of its own, to be killed. Arguments: name, data directory, port. Its tasks say its name, then wait for the
 * message "release" in their context, or for the next start.
 */
final class KilledReplica {
    private KilledReplica() {}

    public static void main(String[] args) throws Exception {
        var ends = new ConcurrentHashMap<String, CountDownLatch>();
        Agent agent = Agent.named("worker", "Waits")
                .resumable(true)
                .concurrency(100)
                .handle((request, reply) -> {
                    var end = ends.computeIfAbsent(request.contextId(), context -> new CountDownLatch(1));
                    if (request.text().equals("release")) {
                        end.countDown();
                        reply.message("released");
                        return;
                    }
                    if (request.text().equals("quick")) {
                        reply.message(args[0]);
                        return;
                    }
                    if (request.attempt() == 1) {
                        reply.artifact("begun", args[0]);
                        end.await();
                    }
                    reply.artifact("done", args[0] + " attempt " + request.attempt());
                    reply.complete();
                });
        Hub hub = Hub.builder()
                .data(Path.of(args[1]))
                .port(Integer.parseInt(args[2]))
                .drain(Duration.ZERO)
                .agents(agent)
                .start();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}

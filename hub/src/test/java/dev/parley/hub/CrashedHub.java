package dev.parley.hub;

import dev.parley.engine.Agent;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A hub in a process of its own, to be killed. Says "ready PORT" once it answers. */
final class CrashedHub {
    /** How many events a task of the agent {@code steps} has, if nothing stops it. */
    static final int STEPS = 40;

    private CrashedHub() {}

    public static void main(String[] args) throws InterruptedException {
        Hub hub = Hub.builder()
                .data(Path.of(args[0]))
                .port(Integer.parseInt(args[1]))
                .agents(
                        Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text())),
                        Agent.named("steps", "Takes its time").handle((request, reply) -> {
                            for (int i = 1; i <= STEPS && !request.isCanceled(); i++) {
                                reply.progress(100 * i / STEPS, "step " + i);
                                LockSupport.parkNanos(25_000_000);
                            }
                            reply.complete("done");
                        }))
                .start();
        hub.closeOnShutdown();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}

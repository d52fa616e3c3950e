package dev.parley.cli;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A program whose hub, with all extensions, stops soon after its start, again and again. */
final class ShortHub {
    private static final int TIMES = 16;

    private ShortHub() {}

    public static void main(String[] args) {
        for (int i = 0; i < TIMES; i++) {
            Hub hub = Hub.builder()
                    .port(0)
                    .data(Path.of(args[0], String.valueOf(i % 2)))
                    .drain(Duration.ofMillis(100))
                    .agents(DemoAgents.all().toArray(Agent[]::new))
                    .start();
            LockSupport.parkNanos((i / 2) * 20_000_000L); // a later moment of the start in each pair of turns
            hub.close();
        }
        System.out.println("closed");
    }
}

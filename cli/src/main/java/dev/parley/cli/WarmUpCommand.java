package dev.parley.cli;

import dev.parley.agents.DemoAgents;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/**
 * {@code parley warm-up}: does once what a hub and a client do first, and ends; the launcher has the JVM remember the
 * classes that this needed.
 */
final class WarmUpCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {}

    @Override
    public List<Setting<?>> relevant() {
        return List.of(Setting.OUTPUT);
    }

    @Override
    public int run(Invocation call) {
        Path data = temporary();
        try (Hub hub = Hub.builder()
                .port(0)
                .data(data)
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start()) {
            try (AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
                client.send("hello");
                try (var events = client.stream("hello")) {
                    events.forEachRemaining(event -> {});
                }
            }
        } finally {
            delete(data);
        }
        Commands.parser(call.around()).getUsageMessage();
        return 0;
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("parley");
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void delete(Path directory) {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException left) {
            throw new UncheckedIOException(left);
        }
    }
}

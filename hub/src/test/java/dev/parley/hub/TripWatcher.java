package dev.parley.hub;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;

/** The client of {@code docs/calling.md} that watches its task. */
public final class TripWatcher {
    public static void main(String[] args) {
        try (AgentClient agent = AgentClient.connect(args[0]);
                TaskStream events = agent.stream(args[1])) {
            while (events.hasNext()) {
                TaskEvent event = events.next();
                System.out.println(
                        switch (event) {
                            case Task task -> "task " + task.state();
                            case TaskStatusUpdateEvent update ->
                                "status " + update.status().state();
                            case TaskArtifactUpdateEvent update ->
                                "artifact " + update.artifact().parts();
                            case Message message -> "message " + message.text();
                        });
            }
        }
    }
}

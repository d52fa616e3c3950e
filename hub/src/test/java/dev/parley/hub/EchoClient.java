package dev.parley.hub;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.protocol.Task;

/** The client of {@code docs/kernel.md}. */
public final class EchoClient {
    public static void main(String[] args) throws Exception {
        try (AgentClient client = AgentClient.connect(args[0])) {
            System.out.println(client.card().name());
            Task task = (Task) client.send("hello");
            System.out.println(task.state() + ": " + task.text());
            try (TaskStream events = client.stream("hello again")) {
                events.forEachRemaining(System.out::println);
            }
            System.out.println(client.task(task.id()).state());
        }
    }
}

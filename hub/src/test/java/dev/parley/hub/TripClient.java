package dev.parley.hub;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.Iterator;
import java.util.List;

/** The first client of {@code docs/calling.md}. */
public final class TripClient {
    public static void main(String[] args) {
        Iterator<String> texts = List.of(args).iterator();
        try (AgentClient agent = AgentClient.connect(texts.next())) {
            SendResult result = agent.send(texts.next());
            while (result instanceof Task task && task.state() == TaskState.INPUT_REQUIRED) {
                if (!texts.hasNext()) {
                    result = agent.cancel(task.id());
                    break;
                }
                Message answer = Message.user(Part.text(texts.next()));
                result = agent.send(answer.in(task.contextId(), task.id()));
            }
            System.out.println(
                    switch (result) {
                        case Task task -> task.state() + ": " + task.text();
                        case Message message -> message.text();
                    });
        } catch (A2AException refusal) {
            System.out.println("refused, " + refusal.error() + ": " + refusal.getMessage());
        } catch (ClientException failure) {
            System.out.println("no answer, " + failure.problem() + ": " + failure.getMessage());
        }
    }
}

package dev.parley.server;

import dev.parley.dialect.served.ServedAgent;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** An agent that answers every message with its text, and every subscription with the events of the test. */
final class ScriptedAgent implements AgentEndpoint {
    final BlockingQueue<Operation> asked = new ArrayBlockingQueue<>(100);
    final ScriptedEvents events = new ScriptedEvents();
    volatile Feed<LoggedEvent> stream = events;
    /** What it does before it answers a message. */
    volatile Runnable before = () -> {};

    static AgentCard card(String name, String url) {
        return new AgentCard(
                name,
                "The agent " + name,
                List.of(new AgentCard.Interface(url, AgentCard.Interface.JSONRPC, null, "1.0")),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, false, List.of(), false),
                Map.of(),
                List.of(),
                List.of("text/plain"),
                List.of("text/plain"),
                List.of(),
                List.of(),
                null);
    }

    ServedAgent served(Server server, String name) {
        return new ServedAgent(name, this, card(name, server.agentUrl(name)));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        asked.offer(operation);
        if (operation instanceof Operation.SendMessage send) {
            before.run();
            return (R) Message.user(Part.text(send.message().text()));
        }
        throw new UnsupportedOperationException(operation.toString());
    }

    @Override
    @SuppressWarnings("unchecked") // only operations of A2A come here
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        asked.offer(operation);
        return (Feed<E>) stream;
    }
}

package dev.parley.mcp.command;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.mcp.hub.OfferedAgents;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.LruMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;

/** Remote agents as tools, with the credentials of the program. Each connection is open until the end. Safe for any thread. */
final class ConnectedAgents implements OfferedAgents, AutoCloseable {
    private static final int MOST_TASKS = 10_000;

    private final Map<String, AgentClient> clients;
    private final CountDownLatch end;
    /** Agents of recent tasks. */
    private final Map<String, String> tasks = Collections.synchronizedMap(new LruMap<>(MOST_TASKS));

    private ConnectedAgents(Map<String, AgentClient> clients, CountDownLatch end) {
        this.clients = clients;
        this.end = end;
    }

    /**
     * Connects to agents. Agents of several that do not answer are left out with a note.
     *
     * @throws RuntimeException as from {@link CommandCall#connect}, if none answers
     */
    static ConnectedAgents open(CommandCall call, List<String> urls) {
        var end = new CountDownLatch(1);
        var opening = new LinkedHashMap<String, CompletableFuture<AgentClient>>();
        urls.forEach(url -> opening.put(url, connecting(call, url, end)));
        var clients = new TreeMap<String, AgentClient>();
        RuntimeException failure = CommandException.usage("there is no agent", null);
        for (var each : opening.entrySet()) {
            try {
                AgentClient client = each.getValue().join();
                clients.put(name(each.getKey(), client.card()), client);
            } catch (CompletionException refused) {
                failure = refused.getCause() instanceof RuntimeException cause ? cause : refused;
                call.output().note("without " + each.getKey() + ": " + failure.getMessage());
            }
        }
        if (clients.isEmpty()) {
            end.countDown();
            throw failure;
        }
        return new ConnectedAgents(clients, end);
    }

    private static CompletableFuture<AgentClient> connecting(CommandCall call, String url, CountDownLatch end) {
        var client = new CompletableFuture<AgentClient>();
        Thread.ofVirtual().name("mcp-agent").start(() -> {
            try {
                call.connect(url, opened -> {
                    client.complete(opened);
                    end.await();
                    return 0;
                });
                client.completeExceptionally(new IllegalStateException("no connection"));
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error refused) {
                client.completeExceptionally(refused);
            }
        });
        return client;
    }

    /** Name of an agent in tools: the end of its address below a hub; else the one on its card. */
    private static String name(String url, AgentCard card) {
        int agents = url.indexOf("/agents/");
        return agents < 0
                ? card.name()
                : url.substring(agents + "/agents/".length()).replaceFirst("[/?#].*", "");
    }

    @Override
    public Map<String, AgentCard> cards(CallContext caller) {
        var cards = new TreeMap<String, AgentCard>();
        clients.forEach((name, client) -> cards.put(name, client.card()));
        return cards;
    }

    @Override
    public AgentEndpoint endpoint(String agent) {
        AgentClient client = clients.get(agent);
        if (client == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "agent \"" + agent + "\": unknown");
        }
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                try {
                    R result = client.call(operation, context);
                    if (result instanceof Task task) {
                        tasks.put(task.id(), agent);
                    }
                    return result;
                } catch (ClientException unanswered) {
                    throw failed(unanswered);
                }
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                try {
                    return client.watch(operation, context);
                } catch (ClientException unanswered) {
                    throw failed(unanswered);
                }
            }
        };
    }

    /** A failed tool, whose message the user of the program may read. */
    private static A2AException failed(ClientException unanswered) {
        return A2AException.of(A2AError.INVALID_AGENT_RESPONSE, String.valueOf(unanswered.getMessage()))
                .causedBy(unanswered);
    }

    /** The agent of a recent task; for others the first that has one of that id. */
    @Override
    public Optional<String> agentOf(String taskId, CallContext caller) {
        String recent = tasks.get(taskId);
        return recent != null || clients.size() == 1
                ? Optional.of(recent == null ? clients.keySet().iterator().next() : recent)
                : clients.entrySet().stream()
                        .filter(each -> has(each.getValue(), taskId))
                        .map(Map.Entry::getKey)
                        .findFirst();
    }

    private static boolean has(AgentClient client, String taskId) {
        try {
            client.call(GetTask.of(taskId), CallContext.anonymous());
            return true;
        } catch (A2AException | ClientException missing) {
            return false;
        }
    }

    @Override
    public void close() {
        end.countDown();
    }
}

package dev.parley.mcp.agent;

import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.Tools;
import dev.parley.extension.HubAgents;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.Tool;
import dev.parley.mcp.client.Elicitation;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tools for one request: each call is a task of the server's agent, begun on behalf of the caller of the request. So authorization,
 * limits, audit and metrics apply to it as to calls over the network.
 */
final class AgentTools implements Tools {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HubAgents agents;
    private final Map<String, HostedServer> servers;
    private final Request request;
    private final Reply reply;

    AgentTools(HubAgents agents, Map<String, HostedServer> servers, Request request, Reply reply) {
        this.agents = agents;
        this.servers = servers;
        this.request = request;
        this.reply = reply;
    }

    @Override
    public List<Description> list() {
        var list = new ArrayList<Description>();
        servers.forEach((name, server) -> {
            if (agents.knows(request.context(), name)) {
                for (Tool tool : server.tools()) {
                    String description = tool.description() == null ? "" : tool.description();
                    list.add(new Description(name, tool.name(), description, tool.inputSchema()));
                }
            }
        });
        return list;
    }

    @Override
    public Result call(String server, String tool, Map<String, ? extends @Nullable Object> arguments)
            throws InterruptedException {
        Message message = Message.user(Part.data(new LinkedHashMap<>(arguments)));
        return send(server, message, Map.of("skillId", tool));
    }

    @Override
    public Result answer(Description tool, Result question, Map<String, ? extends @Nullable Object> content)
            throws InterruptedException {
        Message message = Message.user(Part.data(new LinkedHashMap<>(content))).in(null, question.id());
        return send(tool.server(), message, Map.of());
    }

    @Override
    public Result decline(Description tool, Result question) throws InterruptedException {
        Part refusal = Part.data(Map.of(Elicitation.DATA, Map.of("action", InputResponse.DECLINE)));
        return send(tool.server(), Message.user(refusal).in(null, question.id()), Map.of());
    }

    private Result send(String server, Message message, Map<String, @Nullable Object> metadata)
            throws InterruptedException {
        AgentEndpoint endpoint = agents.endpoint(server);
        var run = new Run();
        var send = new SendStreamingMessage(null, message, SendConfiguration.DEFAULTS, metadata);
        try (Feed<LoggedEvent> events = endpoint.watch(send, request.context())) {
            for (List<LoggedEvent> next = events.next(PATIENCE); next != null; next = events.next(PATIENCE)) {
                next.forEach(event -> run.add(event.event()));
            }
        } catch (A2AException refused) {
            if (refused.error() != A2AError.UNAVAILABLE) {
                throw refused;
            }
            return new Result(Outcome.FAILED, List.of(Part.text(String.valueOf(refused.getMessage()))), "");
        } catch (InterruptedException stop) {
            String id = run.id;
            if (id != null) {
                Thread.ofVirtual()
                        .name("mcp-cancel")
                        .start(() -> endpoint.call(new CancelTask(null, id, Map.of()), request.context()));
            }
            throw stop;
        }
        return run.result();
    }

    /** The events of a call, whose progress becomes that of the request. */
    private final class Run {
        private final Map<String, List<Part>> artifacts = new LinkedHashMap<>();
        private @Nullable String id;
        private @Nullable TaskStatus status;

        void add(TaskEvent event) {
            switch (event) {
                case Task task -> {
                    id = task.id();
                    status = task.status();
                    task.artifacts().forEach(artifact -> artifacts.put(artifact.artifactId(), artifact.parts()));
                }
                case TaskStatusUpdateEvent update -> {
                    status = update.status();
                    report(update);
                }
                case TaskArtifactUpdateEvent update ->
                    artifacts.merge(
                            update.artifact().artifactId(), update.artifact().parts(), (before, more) -> {
                                var all = new ArrayList<>(update.append() ? before : List.of());
                                all.addAll(more);
                                return all;
                            });
                case Message message -> {}
            }
        }

        private void report(TaskStatusUpdateEvent update) {
            Message message = update.status().message();
            if (update.status().state().isTerminal() || update.status().state().isInterrupted()) {
                return;
            }
            String note = message == null ? null : message.text();
            long percent = Trees.number(update.metadata(), "progress", -1);
            if (percent >= 0) {
                reply.progress((int) percent, note);
            } else if (note != null) {
                reply.working(note);
            }
        }

        Result result() {
            TaskStatus last = status;
            if (last == null || id == null) {
                return new Result(Outcome.FAILED, List.of(Part.text("the server gives no answer")), "");
            }
            Message message = last.message();
            List<Part> said = message == null ? List.of() : message.parts();
            return switch (last.state()) {
                case COMPLETED ->
                    new Result(
                            Outcome.COMPLETED,
                            artifacts.values().stream().flatMap(List::stream).toList(),
                            id);
                case INPUT_REQUIRED, AUTH_REQUIRED -> new Result(Outcome.QUESTION, said, id);
                default -> new Result(Outcome.FAILED, said, id);
            };
        }
    }
}

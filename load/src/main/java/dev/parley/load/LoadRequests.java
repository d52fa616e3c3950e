package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.spi.Binding;
import dev.parley.load.LoadTarget.Answer;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The requests of a run, made once with the client's own encoder and tried once before the load begins. */
final class LoadRequests {
    private final LoadTarget target;
    private final Binding binding;
    private final @Nullable String tenant;
    private final Message message;

    private LoadRequests(LoadTarget target, Binding binding, String text) {
        this.target = target;
        this.binding = binding;
        this.tenant = target.agent().tenant();
        this.message = message(text);
    }

    private static Message message(String text) {
        String id = "load-" + UUID.randomUUID().toString().substring(0, 8) + "-" + LoadRequest.NUMBER;
        return Message.of(Role.USER, List.of(Part.text(text))).withId(id);
    }

    /**
     * Returns the requests that each connection shall send in turn.
     *
     * @throws LoadProblem if the agent does not answer, or refuses
     */
    static List<LoadRequest> of(LoadTarget target, LoadPlan plan) {
        if (target.binding() == null) {
            return List.of(overGrpc(target, plan));
        }
        var requests = new LoadRequests(target, target.binding(), plan.text());
        return switch (plan.kind()) {
            case SEND -> requests.send();
            case STREAM -> requests.stream();
            case GET -> requests.get(plan.tasks());
            case LIST -> requests.list(plan.pageSize());
            case CALL -> requests.call(plan.bodies());
        };
    }

    private static LoadRequest overGrpc(LoadTarget target, LoadPlan plan) {
        if (plan.kind() != LoadKind.SEND || target.agent().url().startsWith("https")) {
            throw new LoadProblem(Kind.USAGE, "--transport grpc goes with send, and with http");
        }
        var send = new SendMessage(null, message(plan.text()), SendConfiguration.DEFAULTS, Map.of());
        LoadRequest request = LoadGrpc.request(target.agent(), send, target.headers());
        try (LoadConnection connection = target.connect(16 << 10)) {
            connection.send(request.numbered(-1));
            connection.receive(new LoadAnswer(false, 0));
            return request;
        } catch (IOException problem) {
            throw new LoadProblem(Kind.REFUSED, "the first request fails: " + LoadTarget.reason(problem), problem);
        }
    }

    private List<LoadRequest> send() {
        SendMessage send = new SendMessage(tenant, message, SendConfiguration.DEFAULTS, Map.of());
        LoadRequest request = encode(send);
        var unused = results(send, List.of(request.numbered(-1)));
        return List.of(request);
    }

    private List<LoadRequest> stream() {
        return List.of(encode(new SendStreamingMessage(tenant, message, SendConfiguration.DEFAULTS, Map.of())));
    }

    private List<LoadRequest> get(int tasks) {
        SendMessage send = new SendMessage(tenant, message, SendConfiguration.DEFAULTS, Map.of());
        var sends = new ArrayList<ByteBuffer>();
        for (int i = 1; i <= tasks; i++) {
            sends.add(encode(send).numbered(-i));
        }
        List<LoadRequest> gets = results(send, sends).stream()
                .map(result -> encode(new Operation.GetTask(tenant, idOf(result), null)))
                .toList();
        var unused = results(
                new Operation.GetTask(tenant, "any", null),
                List.of(gets.getFirst().numbered(0)));
        return gets;
    }

    private static String idOf(SendResult result) {
        if (result instanceof Task task) {
            return task.id();
        }
        throw new LoadProblem(
                Kind.REFUSED, "the agent answers with messages (expected: tasks, so that there are some to get)");
    }

    private List<LoadRequest> list(int pageSize) {
        var list = new ListTasks(tenant, null, null, pageSize, null, null, null, false);
        LoadRequest request = encode(list);
        var unused = results(list, List.of(request.numbered(0)));
        return List.of(request);
    }

    private List<LoadRequest> call(List<String> bodies) {
        List<LoadRequest> calls = bodies.stream()
                .map(body -> target.request(new Binding.Outgoing(
                        "POST", target.agent().url(), Map.of(), body.getBytes(StandardCharsets.UTF_8))))
                .toList();
        Answer answer = target.ask(List.of(calls.getFirst().numbered(-1))).getFirst();
        String problem = answer.status() == 200
                ? LoadAnswer.rpcError(answer.body(), answer.body().length)
                : "http " + answer.status();
        if (problem != null) {
            throw new LoadProblem(
                    Kind.REFUSED,
                    "the first request fails: " + problem + ": " + new String(answer.body(), StandardCharsets.UTF_8));
        }
        return calls;
    }

    private LoadRequest encode(Operation operation) {
        return target.request(binding.request(operation, CallContext.anonymous(), target.agent()));
    }

    private <R> List<R> results(Operation.Call<R> operation, List<ByteBuffer> requests) {
        var results = new ArrayList<R>();
        for (Answer answer : target.ask(requests)) {
            try {
                results.add(binding.result(operation, answer.status(), answer.body()));
            } catch (A2AException refusal) {
                throw new LoadProblem(
                        Kind.REFUSED,
                        operation.name() + " to " + target.agent().url() + " fails: " + refusal.error() + ": "
                                + refusal.getMessage(),
                        refusal);
            }
        }
        return results;
    }
}

package dev.parley.hub.extensions;

import dev.parley.dialect.Json;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answers messages that carry an operation of an extension, and leaves the others to the agent. So a client that can only send
 * messages can use extensions.
 *
 * <p>Such a message names the extension, and has one data part with the parameters, whose metadata names the method. The
 * answer is an artifact with a data part; a stream adds to its artifact until it ends or the task is canceled.
 *
 * @param operations answers the operations of the extensions
 */
public record ExtensionCarrier(AgentHandler agent, List<ExtensionProtocol> extensions, AgentEndpoint operations)
        implements AgentHandler {
    /** Only for the thread's sake: nothing happens when it has passed. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    public ExtensionCarrier {
        extensions = List.copyOf(extensions);
    }

    private record Carried(ExtensionProtocol extension, String uri, String method, Part.Data part) {
        /** The answer, marked as the request was. */
        Part answer(@Nullable Object tree) {
            return new Part.Data(
                    tree instanceof Map<?, ?> object ? Json.read(Json.write(object), Map.class) : tree,
                    null,
                    null,
                    Map.of(uri + "/method", method));
        }

        @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
        ExtensionMethod<Operation.Extension, Object> row() {
            return (ExtensionMethod<Operation.Extension, Object>) extension.methods().stream()
                    .filter(row -> row.mediaType() == null && row.name().equals(method))
                    .findFirst()
                    .orElseThrow(() -> A2AException.of(A2AError.METHOD_NOT_FOUND));
        }
    }

    @Override
    public void handle(Request request, Reply reply) throws Exception {
        Carried carried = carried(request.message());
        if (carried == null) {
            agent.handle(request, reply);
            return;
        }
        try {
            answer(carried, request, reply);
        } catch (A2AException problem) {
            var error = new LinkedHashMap<String, @Nullable Object>();
            error.put("code", problem.error().code());
            error.put("message", problem.error().defaultMessage());
            error.put("data", data(problem));
            emit(carried, Map.of("error", error), reply);
            reply.fail(String.valueOf(problem.getMessage()));
        }
    }

    private @Nullable Carried carried(Message message) {
        for (String uri : message.extensions()) {
            for (ExtensionProtocol extension : extensions) {
                if (!extension.isUri(uri)) {
                    continue;
                }
                for (Part part : message.parts()) {
                    if (part instanceof Part.Data data
                            && data.metadata().get(uri + "/method") instanceof String method) {
                        return new Carried(extension, uri, method, data);
                    }
                }
            }
        }
        return null;
    }

    private void answer(Carried carried, Request request, Reply reply) throws InterruptedException {
        ExtensionMethod<Operation.Extension, Object> row = carried.row();
        Operation.Extension operation = row.ofTask(read(row, carried.part().data()), request.taskId());
        switch (operation) {
            case Operation.ExtensionCall<?> call -> {
                Object result = operations.call(call, request.context());
                emit(carried, row.answer().toJson(result), reply);
                reply.complete();
            }
            case Operation.ExtensionWatch<?> watch -> {
                try (Feed<?> feed = operations.watch(watch, request.context())) {
                    reply.working("Watching");
                    stream(carried, row, feed, reply);
                }
                reply.complete();
            }
        }
    }

    private static Operation.Extension read(ExtensionMethod<Operation.Extension, Object> row, @Nullable Object params) {
        try {
            return row.request().fromJson(params);
        } catch (InvalidField invalid) {
            throw A2AException.invalidParams(invalid.field(), invalid.problem());
        }
    }

    private static void emit(Carried carried, @Nullable Object result, Reply reply) {
        String name = carried.method().replaceFirst("/.*", "");
        reply.artifact(new Artifact(
                name, carried.method(), null, List.of(carried.answer(result)), Map.of(), List.of(carried.uri())));
    }

    private static void stream(
            Carried carried, ExtensionMethod<Operation.Extension, Object> row, Feed<?> feed, Reply reply)
            throws InterruptedException {
        try (Reply.ArtifactWriter artifact = reply.stream(carried.method())) {
            for (List<?> next = feed.next(PATIENCE); next != null; next = feed.next(PATIENCE)) {
                if (!next.isEmpty()) {
                    artifact.append(next.stream()
                            .map(element -> carried.answer(row.answer().toJson(element)))
                            .toArray(Part[]::new));
                }
            }
        }
    }

    private static Map<String, @Nullable Object> data(A2AException problem) {
        var data = new LinkedHashMap<String, @Nullable Object>();
        data.put("reason", problem.error().name());
        data.put("metadata", problem.metadata());
        if (!problem.violations().isEmpty()) {
            data.put(
                    "violations",
                    problem.violations().stream()
                            .map(one -> Map.of("field", one.field(), "description", one.description()))
                            .toList());
        }
        return data;
    }
}

package dev.parley.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.KnowledgeExtension;
import dev.parley.dialect.ServedKnowledge;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answers messages that carry an operation of the knowledge graph, and leaves the others to the agent. So a client can
 * use the extension that knows nothing but to send messages.
 *
 * <p>Such a message names the extension, and has one data part with the parameters, whose metadata names the method. The
 * answer is an artifact with a data part; a subscription adds to its artifact until the task is canceled.
 *
 * <p>Source: knowledge graph extension, "Inside messages".
 */
final class KnowledgeCarrier implements AgentHandler {
    /** Only for the thread's sake: nothing happens when it has passed. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private record Carried(String uri, String method, Part.Data part) {
        /** The answer, marked as the question was. */
        Part answer(Object value) {
            var tree = Json.read(Json.write(value), Map.class);
            return new Part.Data(tree, null, null, Map.of(uri + "/method", method));
        }
    }

    private final AgentHandler agent;
    private final ServedKnowledge knowledge;

    KnowledgeCarrier(AgentHandler agent, ServedKnowledge knowledge) {
        this.agent = agent;
        this.knowledge = knowledge;
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

    private static @Nullable Carried carried(Message message) {
        for (String uri : message.extensions()) {
            for (Part part : message.parts()) {
                if (KnowledgeExtension.isUri(uri)
                        && part instanceof Part.Data data
                        && data.metadata().get(uri + "/method") instanceof String method) {
                    return new Carried(uri, method, data);
                }
            }
        }
        return null;
    }

    private void answer(Carried carried, Request request, Reply reply) throws InterruptedException {
        byte[] params = Json.write(carried.part().data());
        switch (carried.method()) {
            case KnowledgeOperation.QUERY -> {
                emit(carried, knowledge.query(Json.read(params, Query.class), request.context()), reply);
                reply.complete();
            }
            case KnowledgeOperation.UPDATE -> {
                Update update = Json.read(params, Update.class);
                Update ofTask = update.taskId() == null ? update.forTask(request.taskId()) : update;
                emit(carried, knowledge.update(ofTask, request.context()), reply);
                reply.complete();
            }
            case KnowledgeOperation.SUBSCRIBE -> {
                Subscribe subscription = Json.read(params, Subscribe.class);
                try (Feed<Change> changes = knowledge.subscribe(subscription, request.context())) {
                    reply.working("Watching");
                    watch(carried, changes, reply);
                }
            }
            default -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }
    }

    private static void emit(Carried carried, Object result, Reply reply) {
        reply.artifact(new Artifact(
                "knowledge",
                carried.method(),
                null,
                List.of(carried.answer(result)),
                Map.of(),
                List.of(carried.uri())));
    }

    private static void watch(Carried carried, Feed<Change> changes, Reply reply) throws InterruptedException {
        try (Reply.ArtifactWriter artifact = reply.stream(carried.method())) {
            for (List<Change> next = changes.next(PATIENCE); next != null; next = changes.next(PATIENCE)) {
                if (!next.isEmpty()) {
                    artifact.append(next.stream().map(carried::answer).toArray(Part[]::new));
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

package dev.parley.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Request;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The agent that the official A2A conformance kit (branch {@code 1.0-dev}) drives: what it does follows from how the
 * message's id begins. The kit of 0.3 (branch {@code 0.3.x}) gives no such hints and wants tasks that stay open, so to
 * callers of older versions this agent always has another question.
 *
 * <p>Beyond that the kit wants two things of an agent. It sends the same message id again and again and wants each of them
 * worked on, so nothing is deduplicated; and it wants a part of a made-up media type to be taken.
 */
public final class ConformanceAgent {
    private static final Part FILE = Part.file("output.txt", "text/plain", "tck".getBytes(UTF_8));
    private static final Part LINK = Part.link("https://example.com/output.txt", "output.txt", "text/plain");
    private static final Part DATA = Part.data(Map.of("key", "value", "count", 42));

    private ConformanceAgent() {}

    /** The agent, called {@code conformance}. */
    public static Agent create() {
        return create(Duration.ofSeconds(4));
    }

    /** @param pause how long the task that is there to be subscribed to again stays in state working */
    static Agent create(Duration pause) {
        List<Rule> rules = rules(pause);
        return Agent.named(
                        "conformance",
                        "Gives the answers that the A2A conformance kit requests by the ids of its messages")
                .skill("conformance", "Gives the answer that the beginning of the message's id stands for", "test")
                .inputModes("*/*")
                .outputModes("text/plain", "application/json")
                .deduplicate(false)
                .handle((request, reply) -> behaviour(rules, request).handle(request, reply));
    }

    /** Behaviour for messages whose id begins with {@code prefix}. */
    private record Rule(String prefix, AgentHandler behaviour) {}

    private static List<Rule> rules(Duration pause) {
        return Stream.of(
                        new Rule("tck-complete-task", completes("Hello from TCK")),
                        new Rule("tck-input-required", moves(TaskState.INPUT_REQUIRED)),
                        new Rule("tck-reject-task", (request, reply) -> reply.reject("rejected")),
                        new Rule("tck-message-response", (request, reply) -> reply.message("Direct message response")),
                        new Rule("tck-artifact-text", produces(Part.text("Generated text content"))),
                        new Rule("tck-artifact-file", produces(FILE)),
                        new Rule("tck-artifact-file-url", produces(LINK)),
                        new Rule("tck-artifact-data", produces(DATA)),
                        new Rule("tck-stream-001", worksAndProduces(Part.text("Stream hello from TCK"))),
                        new Rule("tck-stream-002", moves(TaskState.COMPLETED)),
                        new Rule("tck-stream-003", worksAndProduces(Part.text("Stream task lifecycle"))),
                        new Rule("tck-stream-ordering-001", worksAndProduces(Part.text("Ordered output"))),
                        new Rule("tck-stream-artifact-text", worksAndProduces(Part.text("Streamed text content"))),
                        new Rule("tck-stream-artifact-file", worksAndProduces(FILE)),
                        new Rule("tck-stream-artifact-chunked", worksInPieces("chunk-1 ", "chunk-2")),
                        new Rule("test-resubscribe-message-id", worksFor(pause)),
                        new Rule("", completes("No behaviour belongs to the id of this message")))
                // The longest prefix is the most particular one.
                .sorted(Comparator.comparingInt((Rule rule) -> rule.prefix().length())
                        .reversed())
                .toList();
    }

    private static AgentHandler behaviour(List<Rule> rules, Request request) {
        if (!request.context().dialect().equals(CallContext.V1)) {
            return (asked, reply) -> reply.askForInput("What else?");
        }
        String id = request.message().messageId();
        return rules.stream()
                .filter(rule -> id.startsWith(rule.prefix()))
                .findFirst()
                .orElseThrow()
                .behaviour();
    }

    private static AgentHandler completes(String note) {
        return (request, reply) -> reply.move(TaskState.COMPLETED, Message.agent(Part.text(note)), Map.of());
    }

    private static AgentHandler moves(TaskState state) {
        return (request, reply) -> reply.move(state, null, Map.of());
    }

    private static AgentHandler produces(Part part) {
        return (request, reply) -> reply.complete(part);
    }

    private static AgentHandler worksAndProduces(Part part) {
        return (request, reply) -> {
            reply.move(TaskState.WORKING, null, Map.of());
            reply.complete(part);
        };
    }

    private static AgentHandler worksInPieces(String first, String last) {
        return (request, reply) -> {
            reply.move(TaskState.WORKING, null, Map.of());
            try (var artifact = reply.stream("chunks")) {
                artifact.append(first);
                artifact.last(Part.text(last));
            }
            reply.complete();
        };
    }

    private static AgentHandler worksFor(Duration pause) {
        return (request, reply) -> {
            reply.move(TaskState.WORKING, null, Map.of());
            Thread.sleep(pause);
            reply.complete();
        };
    }
}

package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** The agents that the rows of the feature matrix are shown with, and what tests have to do with them. */
final class MatrixAgents {
    /** What {@code echo} was asked. */
    final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();

    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();

    /** What {@code gated} waits for between the halves of its work: another gate for each text. */
    CountDownLatch gate(String text) {
        return gates.computeIfAbsent(text, any -> new CountDownLatch(1));
    }

    Agent[] all() {
        return new Agent[] {
            Agent.named("echo", "Says it again")
                    .provider("Example", "https://example.com")
                    .skill("repeat", "Says a text again", "text")
                    .extendedCard(true)
                    .handle((request, reply) -> {
                        requests.add(request);
                        reply.complete(request.text());
                    }),
            Agent.named("parts", "Gives back what it gets")
                    .inputModes("*/*")
                    .outputModes("*/*")
                    .handle((request, reply) -> reply.complete(request.parts().toArray(new Part[0]))),
            Agent.named("asks", "Asks until it hears that it is enough").handle((request, reply) -> {
                if (request.text().equals("enough")) {
                    reply.complete("thanks");
                } else {
                    reply.askForInput("what else?");
                }
            }),
            Agent.named("states", "Goes where it is told").handle(MatrixAgents::move),
            Agent.named("gated", "Works in two halves").handle((request, reply) -> {
                reply.working("first half");
                reply.artifact("one", "the first half");
                gate(request.text()).await();
                reply.artifact("two", "the second half");
                reply.complete();
            }),
            Agent.named("vague", "Does not know how it stands").handle((request, reply) -> {
                reply.move(TaskState.UNSPECIFIED, null, Map.of());
                gate(request.text()).await();
                reply.complete();
            }),
            Agent.named("chunks", "Produces an artifact in pieces").handle((request, reply) -> {
                try (Reply.ArtifactWriter pieces = reply.stream("story")) {
                    pieces.append("once upon ");
                    pieces.last(Part.text("a time"));
                }
                reply.complete();
            }),
            Agent.named("says", "Answers with a message alone")
                    .handle((request, reply) -> reply.message("well: " + request.text())),
            Agent.named("plain", "Has neither streams nor webhooks")
                    .streaming(false)
                    .pushNotifications(false)
                    .handle((request, reply) -> reply.complete(request.text()))
        };
    }

    private static void move(Request request, Reply reply) throws InterruptedException {
        switch (request.text()) {
            case "input" -> reply.askForInput("which?");
            case "credentials" -> reply.askForCredentials("log in");
            case "reject" -> reply.reject("not today");
            case "fail" -> reply.fail("no luck");
            case "throw" -> throw new IllegalStateException("a detail that nobody is told");
            case "wait" -> {
                reply.working("waiting");
                new CountDownLatch(1).await(); // until it is canceled
            }
            default -> {
                reply.move(TaskState.SUBMITTED, null, Map.of());
                reply.working("soon");
                reply.complete();
            }
        }
    }
}

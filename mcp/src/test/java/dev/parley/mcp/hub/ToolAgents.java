package dev.parley.mcp.hub;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Agents with all kinds of answers. */
final class ToolAgents {
    /** A slow task goes on with each permit. */
    final Semaphore permits = new Semaphore(0);

    final AtomicInteger answers = new AtomicInteger();
    final Map<String, CountDownLatch> begun = new ConcurrentHashMap<>();
    final Map<String, CountDownLatch> interrupted = new ConcurrentHashMap<>();

    static Skill skill(String id, String description, Map<String, Object> declared, String... examples) {
        return new Skill(
                id,
                id,
                description,
                List.of(),
                List.of(examples),
                List.of(),
                List.of(),
                List.of(),
                Map.of("urn:parley:mcp:tool:v1", declared));
    }

    Agent[] all() {
        return new Agent[] {
            Agent.named("echo", "Echoes")
                    .skill(skill("say", "Says it again", Map.of(), "hello", "good evening"))
                    .skill("shout", "Says it louder")
                    .handle((request, reply) -> reply.complete(request.text() + " by "
                            + request.message().metadata().get("skillId"))),
            Agent.named("direct", "Answers without a task")
                    .skill("answer", "Answers")
                    .handle((request, reply) -> reply.message("at once")),
            Agent.named("asker", "Asks").skill("order", "Orders a pizza").handle((request, reply) -> {
                Part said = request.message().parts().getFirst();
                if (request.task().isEmpty()) {
                    reply.askForInput("Which size?");
                } else if (said instanceof Part.Data data) {
                    answers.incrementAndGet();
                    reply.complete("ordered: " + data.data());
                } else {
                    reply.askForInput(Message.agent(
                            Part.text("Which topping?"),
                            Part.data(Map.of(
                                    "type", "object", "properties", Map.of("topping", Map.of("type", "string"))))));
                }
            }),
            Agent.named("slow", "Takes its time")
                    .skill("work", "Works")
                    .resumable(true)
                    .handle(this::work),
            Agent.named("mute", "Takes its time, without streams")
                    .skill("work", "Works")
                    .streaming(false)
                    .handle(this::work),
            Agent.named("files", "Makes files")
                    .skill(skill(
                            "make",
                            "Makes files",
                            Map.of(
                                    "inputSchema",
                                    Map.of("type", "object", "properties", Map.of("size", Map.of("type", "integer"))),
                                    "annotations",
                                    Map.of("readOnlyHint", true, "invented", "x"))))
                    .inputModes("application/json")
                    .handle((request, reply) -> {
                        reply.artifact(Artifact.of("picture", Part.file("a.png", "image/png", new byte[] {1})));
                        reply.artifact(Artifact.of("sound", Part.file("a.wav", "audio/wav", new byte[] {2})));
                        reply.artifact(Artifact.of("small", Part.file("a.bin", "application/x", new byte[] {3})));
                        reply.artifact(
                                Artifact.named("large", "big", Part.file("b.bin", "application/x", new byte[100_000])));
                        reply.artifact(Artifact.of("link", Part.link("https://example.com/x", "x", null)));
                        reply.artifact(Artifact.of(
                                "data",
                                Part.data(Map.of(
                                        "got",
                                        ((Part.Data) request.message().parts().getFirst()).data()))));
                        reply.complete();
                    }),
            Agent.named("failing", "Fails").skill("fail", "Fails").handle((request, reply) -> {
                if (request.text().equals("bug")) {
                    throw new IllegalStateException("secret of the program");
                }
                reply.fail("no luck");
            }),
            Agent.named("vault", "Requires a credential")
                    .skill("open", "Opens")
                    .handle((request, reply) -> request.credential()
                            .ifPresentOrElse(
                                    credential -> reply.complete("opened with " + credential.length() + " characters"),
                                    () -> reply.askForCredentials("a key, please"))),
        };
    }

    /** The latch for a text. */
    static CountDownLatch latch(Map<String, CountDownLatch> latches, String text) {
        return latches.computeIfAbsent(text, key -> new CountDownLatch(1));
    }

    private void work(Request request, Reply reply) throws InterruptedException {
        reply.progress(10, "begun");
        latch(begun, request.text()).countDown();
        try {
            permits.acquire();
        } catch (InterruptedException stopped) {
            latch(interrupted, request.text()).countDown();
            throw stopped;
        }
        reply.complete("worked: " + request.text());
    }
}

package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.Message;
import dev.parley.protocol.Role;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks two questions, then sums up the answers.
 *
 * <p>Keeps nothing between its calls: where it stands follows from the history, so it does not notice a restart.
 */
final class Interview implements AgentHandler {
    private static final List<String> QUESTIONS = List.of("What is your name?", "What do you want, %s?");

    private Interview() {}

    static Agent agent() {
        return Agent.named("interview", "Asks for a name and a wish, and sums them up")
                .skill(DemoSkill.of(
                        "interview",
                        "Interview",
                        "Begins with any message, asks two questions, completes with a summary",
                        List.of("Hello", "Let us begin")))
                .resumable(true)
                .handle(new Interview());
    }

    @Override
    public void handle(Request request, Reply reply) {
        List<String> answers = answers(request);
        if (answers.size() < QUESTIONS.size()) {
            reply.askForInput(QUESTIONS.get(answers.size()).formatted(answers.toArray()));
            return;
        }
        reply.artifact(
                "summary", "Name: %s%nWish: %s%n".formatted(answers.toArray()).replace("\r\n", "\n"));
        reply.complete();
    }

    /** Returns the answers of the caller, after its first message. Blank messages are no answers, so the question is repeated. */
    private static List<String> answers(Request request) {
        var said = new ArrayList<Message>(request.history());
        said.add(request.message());
        return said.stream()
                .filter(message -> message.role() == Role.USER)
                .skip(1)
                .map(message -> Texts.shorten(message.text(), 200))
                .filter(text -> !text.isEmpty())
                .toList();
    }
}

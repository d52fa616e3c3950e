package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Subscribes to the knowledge graph and raises an alarm when a machine overheats. */
final class Watchdog implements AgentHandler {
    static final String ALARM = "ex:alarm";

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String CONDITIONS = "subscription($predicate: String!) {"
            + " knowledgeChanged(filter: {predicates: [$predicate]}) { changeId } }";

    static Agent agent() {
        return Agent.named("watchdog", "Watches the knowledge graph, and raises an alarm when a machine overheats")
                .skill(DemoSkill.of(
                        "watch",
                        "Watch",
                        "Waits for the number of alarms in the message, or until it is canceled",
                        List.of("1", "watch")))
                .handle(new Watchdog());
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        String text = request.text().strip();
        int left = text.matches("[0-9]{1,4}") ? Integer.parseInt(text) : Integer.MAX_VALUE;
        try (Feed<Change> changes = request.extension(SharedKnowledge.VIEW)
                        .subscribe(CONDITIONS, Map.of("predicate", Diagnosis.CONDITION));
                Reply.ArtifactWriter alarms = reply.stream("alarms")) {
            reply.working("Watching");
            while (left > 0) {
                List<Change> next = changes.next(PATIENCE);
                if (next == null) {
                    reply.fail("The knowledge graph was closed");
                    return;
                }
                for (Change change : next) {
                    if (isAlarming(change) && left > 0) {
                        raise(change.statement(), request, alarms);
                        left--;
                    }
                }
            }
        }
        reply.complete();
    }

    private static boolean isAlarming(Change change) {
        return change.op() != Patch.Op.REMOVE && change.statement().object().equals(Literal.of(Diagnosis.OVERHEATING));
    }

    private static void raise(Statement condition, Request request, Reply.ArtifactWriter alarms) {
        String machine = condition.subject().id();
        request.extension(SharedKnowledge.VIEW)
                .update(
                        "the machine overheats",
                        Patch.replace(
                                Statement.of(machine, ALARM, Literal.of(true)).withCertainty(condition.certainty())));
        alarms.append("ALARM: " + machine + " is overheating (certainty " + condition.certainty() + ")\n");
    }
}

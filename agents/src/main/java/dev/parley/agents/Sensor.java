package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes the temperatures of its messages to the knowledge graph. */
final class Sensor implements AgentHandler {
    static final String MACHINE = "ex:Machine";
    static final String TEMPERATURE = "ex:temperature";

    /** Certainty of a reading. */
    private static final double CERTAINTY = 0.95;

    private static final Pattern READING = Pattern.compile("([A-Za-z0-9_-]{1,60})\\s+(-?[0-9]{1,4}(?:\\.[0-9]{1,3})?)");

    static Agent agent() {
        return Agent.named("sensor", "Writes the temperatures of machines into the knowledge graph")
                .skill(DemoSkill.of("read", "Read", "Writes the temperature of a machine, in °C", List.of("pump-1 92")))
                .handle(new Sensor());
    }

    static String id(String machine) {
        return "ex:" + machine;
    }

    @Override
    public void handle(Request request, Reply reply) {
        Matcher reading = READING.matcher(request.text().strip());
        if (!reading.matches()) {
            reply.reject("reading: \"%s\" (expected: a machine and its temperature, such as pump-1 92)"
                    .formatted(Texts.shorten(request.text(), 60)));
            return;
        }
        var said = new Statement(
                new Resource(id(reading.group(1)), MACHINE),
                TEMPERATURE,
                Literal.of(new BigDecimal(reading.group(2))),
                null,
                CERTAINTY,
                Map.of());
        UpdateResult result =
                request.extension(SharedKnowledge.VIEW).update("read from the machine", Patch.replace(said));
        reply.complete("%s has %s °C: %s".formatted(reading.group(1), reading.group(2), result.verificationStatus()));
    }
}

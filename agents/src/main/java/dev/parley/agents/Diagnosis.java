package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Infers: tells from the temperatures in the knowledge graph how machines are, and notes it there. */
final class Diagnosis implements AgentHandler {
    static final String CONDITION = "ex:condition";
    static final String OVERHEATING = "overheating";

    private static final double TOO_HOT = 80;

    /** A conclusion is less certain than its premise. */
    private static final double CONFIDENCE = 0.9;

    private static final String READINGS = "query($predicate: String!) {"
            + " statements(filter: {predicates: [$predicate]}, first: 100) {"
            + " nodes { subject { id } object { value } certainty } } }";

    static Agent agent() {
        return Agent.named("diagnosis", "Infers the condition of machines from temperatures in the knowledge graph")
                .skill(DemoSkill.of(
                        "diagnose",
                        "Diagnose",
                        "Examines each machine with a temperature in the graph",
                        List.of("look")))
                .handle(new Diagnosis());
    }

    @Override
    public void handle(Request request, Reply reply) {
        QueryResult found =
                request.extension(SharedKnowledge.VIEW).query(READINGS, Map.of("predicate", Sensor.TEMPERATURE));
        var conclusions = new ArrayList<Patch>();
        var lines = new ArrayList<String>();
        for (Map<?, ?> reading : nodes(found)) {
            Map<?, ?> machine = (Map<?, ?>) reading.get("subject");
            Map<?, ?> object = (Map<?, ?>) reading.get("object");
            if (machine == null || object == null || !(object.get("value") instanceof Number degrees)) {
                continue;
            }
            String condition = degrees.doubleValue() > TOO_HOT ? OVERHEATING : "normal";
            double certainty = reading.get("certainty") instanceof Number sure ? CONFIDENCE * sure.doubleValue() : 0.5;
            conclusions.add(Patch.replace(new Statement(
                    new Resource(String.valueOf(machine.get("id")), Sensor.MACHINE),
                    CONDITION,
                    Literal.of(condition),
                    null,
                    Math.round(certainty * 1000) / 1000.0,
                    Map.of("derivedFrom", Sensor.TEMPERATURE))));
            lines.add(machine.get("id") + " is " + condition);
        }
        if (conclusions.isEmpty()) {
            reply.complete("No temperature is known of any machine.");
            return;
        }
        request.extension(SharedKnowledge.VIEW)
                .update("hotter than " + (int) TOO_HOT + " °C is overheating", conclusions.toArray(Patch[]::new));
        reply.complete(String.join("\n", lines));
    }

    private static List<Map<?, ?>> nodes(QueryResult found) {
        var nodes = new ArrayList<Map<?, ?>>();
        if (found.data() instanceof Map<?, ?> data
                && data.get("statements") instanceof Map<?, ?> page
                && page.get("nodes") instanceof List<?> all) {
            all.forEach(one -> nodes.add((Map<?, ?>) one));
        }
        return nodes;
    }
}

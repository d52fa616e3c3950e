package dev.parley.agents;

import dev.parley.protocol.AgentCard.Skill;
import java.util.List;

/** Skills of the demo agents. */
final class DemoSkill {
    private DemoSkill() {}

    /** Returns a skill in the card's default modes. */
    static Skill of(String id, String name, String description, List<String> examples) {
        return new Skill(id, name, description, List.of("demo"), examples, List.of(), List.of(), List.of());
    }
}

package dev.parley.mcp.hub;

import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.support.Sha256;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A skill of an agent as a tool. Source: MCP 2026-07-28, Tools; the skill may declare schemas and hints in a member {@value #DECLARED}.
 *
 * @param agent name of the agent
 * @param skill null for an agent without skills
 */
record SkillTool(
        String name, String agent, AgentCard card, @Nullable Skill skill) {
    /** Member of a skill with {@code inputSchema}, {@code outputSchema} and {@code annotations}, and of the metadata of messages. */
    static final String DECLARED = "urn:parley:mcp:tool:v1";

    /** Skill of an agent that has more tools than its card names. */
    private static final String REST = "tools.list";

    private static final String BETWEEN = "__";
    private static final int LONGEST = 48;
    private static final int HASH = 10;
    private static final Pattern UNSAFE = Pattern.compile("[^A-Za-z0-9_.-]");
    private static final List<String> HINTS = List.of("readOnlyHint", "destructiveHint", "idempotentHint");

    /** Tools of agents by their names, the same for the same cards. */
    static Map<String, SkillTool> of(Map<String, AgentCard> cards) {
        var tools = new LinkedHashMap<String, SkillTool>();
        new TreeMap<>(cards).forEach((agent, card) -> {
            var skills = new LinkedHashMap<String, @Nullable Skill>();
            card.skills().forEach(skill -> skills.putIfAbsent(skill.id(), skill));
            if (skills.isEmpty()) {
                skills.put("message", null);
            }
            skills.forEach((id, skill) -> add(tools, agent, id, card, skill));
        });
        return tools;
    }

    /** The tool of a name among those of agents. Reads only agents whose tools can have the name. */
    static Optional<SkillTool> named(String name, Map<String, AgentCard> cards) {
        var candidates = new HashMap<>(cards);
        candidates.keySet().removeIf(agent -> !name.startsWith(begin(safe(agent + BETWEEN))));
        return Optional.ofNullable(of(candidates).get(name)).or(() -> unlisted(name, candidates));
    }

    /** A tool that is not a skill on the card of its agent, which declares that it has more. */
    private static Optional<SkillTool> unlisted(String name, Map<String, AgentCard> cards) {
        return cards.entrySet().stream()
                .filter(agent -> name.startsWith(agent.getKey() + BETWEEN)
                        && agent.getValue().skills().stream()
                                .anyMatch(skill -> skill.id().equals(REST)
                                        && skill.others().containsKey(DECLARED)))
                .findFirst()
                .map(agent -> new SkillTool(
                        name,
                        agent.getKey(),
                        agent.getValue(),
                        skill(name.substring(agent.getKey().length() + BETWEEN.length()))));
    }

    private static Skill skill(String id) {
        return new Skill(
                id,
                id,
                id,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(DECLARED, Map.of("inputSchema", Map.of("type", "object"))));
    }

    private static String safe(String name) {
        return UNSAFE.matcher(name).replaceAll("_");
    }

    /** As much of a name as stands before a hash. */
    private static String begin(String name) {
        return name.substring(0, Math.min(name.length(), LONGEST - HASH - 1));
    }

    private static void add(
            Map<String, SkillTool> tools, String agent, String id, AgentCard card, @Nullable Skill skill) {
        String name = name(agent, id, "");
        for (int again = 2; tools.containsKey(name); again++) {
            name = name(agent, id, "#" + again);
        }
        tools.put(name, new SkillTool(name, agent, card, skill));
    }

    /** The plain name if it can be read in one way only; else the begin of it with a hash. */
    private static String name(String agent, String skill, String again) {
        String plain = agent + BETWEEN + skill;
        String safe = safe(plain);
        boolean isUnique = safe.equals(plain)
                && plain.length() <= LONGEST
                && plain.indexOf(BETWEEN) == plain.lastIndexOf(BETWEEN)
                && again.isEmpty();
        if (isUnique) {
            return plain;
        }
        String hash = Sha256.hex(agent.length() + ":" + plain + again).substring(0, HASH);
        return begin(safe) + "_" + hash;
    }

    /** Declaration of the agent about the tool; empty for none. */
    Map<String, @Nullable Object> declared() {
        return skill == null ? Map.of() : Trees.map(skill.others(), DECLARED);
    }

    /** Schema of the arguments that the agent declares; empty for none. */
    Map<String, @Nullable Object> declaredInput() {
        return schema("inputSchema");
    }

    /** Schema of the data that the agent declares to answer; empty for none. */
    Map<String, @Nullable Object> declaredOutput() {
        return schema("outputSchema");
    }

    private Map<String, @Nullable Object> schema(String name) {
        Map<String, @Nullable Object> schema = Trees.map(declared(), name);
        return "object".equals(schema.get("type")) ? schema : Map.of();
    }

    /** The tool as clients see it. Texts and hints are those of the agent. */
    Tool shown() {
        String description =
                ForeignText.of(skill == null ? card.description() : skill.description(), ForeignText.DESCRIPTION);
        var annotations = new LinkedHashMap<String, @Nullable Object>(Map.of("openWorldHint", true));
        Map<String, @Nullable Object> hints = Trees.map(declared(), "annotations");
        HINTS.stream()
                .filter(hint -> hints.get(hint) instanceof Boolean)
                .forEach(hint -> annotations.put(hint, hints.get(hint)));
        return new Tool(
                name,
                ForeignText.of(skill == null ? card.name() : skill.name(), ForeignText.TITLE),
                (description == null ? "" : description + "\n") + "Agent: " + agent,
                declaredInput().isEmpty() ? Inputs.SCHEMA : declaredInput(),
                declaredOutput().isEmpty() ? null : declaredOutput(),
                annotations);
    }

    /** Examples of the skill that a prompt can show. */
    List<String> examples() {
        return skill == null
                ? List.of()
                : skill.examples().stream()
                        .map(example -> ForeignText.of(example, ForeignText.DESCRIPTION))
                        .filter(example -> example != null)
                        .toList();
    }
}

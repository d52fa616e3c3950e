package dev.parley.mcp.agent;

import dev.parley.engine.Request;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Part;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Excerpt;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tools of a server as skills: as many as a card has room for, so that a server with thousands of tools costs no more than others; the
 * others can be called by their names too, and are listed in pages by the skill {@value #REST}.
 */
final class ToolSkills {
    /** Skill that lists tools; a server may have a tool of this name, which it then calls. */
    static final String REST = "tools.list";

    /** Member of a skill that states schemas and hints of a tool. */
    private static final String DECLARATION = "urn:parley:mcp:tool:v1";

    private static final int MOST_SKILLS = 200;
    private static final int LARGEST_CARD = 256 * 1024;
    private static final int LARGEST_PAGE = 256 * 1024;
    private static final int MOST_OF_PAGE = 100;
    private static final int MAX_TITLE = 100;
    private static final int MAX_TEXT = 1_000;

    private static final Map<String, @Nullable Object> DECLARED = Trees.json("""
            {"inputSchema": {"type": "object", "properties": {
              "cursor": {"type": "string", "description": "nextCursor of the page before; none for the first"}}},
             "annotations": {"readOnlyHint": true}}""");

    private ToolSkills() {}

    /** Skills of the first tools that fit on a card. Texts of the server are cut. */
    static List<Skill> of(List<Tool> tools) {
        var skills = new ArrayList<Skill>();
        long size = 0;
        for (Tool tool : tools) {
            if (skills.size() == MOST_SKILLS) {
                break;
            }
            long length = JsonText.write(Codecs.STRUCT, shown(tool)).length;
            if (size + length <= LARGEST_CARD) {
                size += length;
                skills.add(skill(tool));
            }
        }
        return skills;
    }

    private static Skill skill(Tool tool) {
        Map<String, @Nullable Object> shown = shown(tool);
        Map<String, @Nullable Object> declared = ToolTable.json(tool);
        declared.keySet().retainAll(List.of("inputSchema", "outputSchema", "annotations"));
        return skill(
                tool.name(),
                String.valueOf(shown.getOrDefault("title", tool.name())),
                String.valueOf(shown.getOrDefault("description", tool.name())),
                declared);
    }

    private static Skill skill(String id, String name, String description, Map<String, @Nullable Object> declaration) {
        return new Skill(
                id,
                name,
                description,
                List.of("mcp"),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(DECLARATION, declaration));
    }

    /** The skill that lists tools. */
    static Skill rest(int number) {
        return skill(
                REST,
                "List of tools",
                "Lists the tools of the server in pages"
                        + (number == 0 ? "" : ", of which " + number + " are no skills here")
                        + "; each is called by its name as skillId",
                DECLARED);
    }

    /** A page of tools, if the message asks for one. */
    static Optional<Part> page(Request request, List<Tool> tools) {
        Object skill = request.message()
                .metadata()
                .getOrDefault(ToolCall.SKILL, request.metadata().get(ToolCall.SKILL));
        if (!REST.equals(skill) || tools.stream().anyMatch(tool -> tool.name().equals(REST))) {
            return Optional.empty();
        }
        String cursor = request.parts().stream()
                .filter(Part.Data.class::isInstance)
                .flatMap(part ->
                        Optional.ofNullable(Trees.filled(Trees.map(((Part.Data) part).data()), "cursor")).stream())
                .findFirst()
                .orElse("");
        var page = new ArrayList<Map<String, @Nullable Object>>();
        long size = 0;
        String last = null;
        for (Tool tool : tools) { // in the order of their names
            if (tool.name().compareTo(cursor) <= 0) {
                continue;
            }
            Map<String, @Nullable Object> shown = shown(tool);
            size += JsonText.write(Codecs.STRUCT, shown).length;
            if (page.size() == MOST_OF_PAGE || !page.isEmpty() && size > LARGEST_PAGE) {
                return Optional.of(Part.data(Trees.with(Map.of("tools", page), "nextCursor", last)));
            }
            page.add(shown);
            last = tool.name();
        }
        return Optional.of(Part.data(Map.of("tools", page)));
    }

    private static Map<String, @Nullable Object> shown(Tool tool) {
        Map<String, @Nullable Object> shown = ToolTable.json(tool);
        shown.computeIfPresent("title", (name, title) -> visible(String.valueOf(title), MAX_TITLE));
        shown.computeIfPresent("description", (name, text) -> visible(String.valueOf(text), MAX_TEXT));
        return shown;
    }

    /** A text of the server, which models read, without controls and invisible formats. */
    private static String visible(String text, int characters) {
        return Excerpt.of(text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}&&[^\n\t]]", ""), characters);
    }
}

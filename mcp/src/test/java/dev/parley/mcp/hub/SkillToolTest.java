package dev.parley.mcp.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.Tool;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Names and texts of tools, of cards that third parties wrote. */
final class SkillToolTest {
    private static AgentCard card(String... skills) {
        return new AgentCard(
                "card",
                "Describes",
                List.of(new AgentCard.Interface("http://a.example", "JSONRPC", null, "1.0")),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, false, List.of(), false),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                Stream.of(skills)
                        .map(id -> new Skill(id, id, id, List.of(), List.of(), List.of(), List.of(), List.of()))
                        .toList(),
                List.of(),
                null);
    }

    @Test
    @DisplayName("names are agent and skill, and end with a hash if they are long, unsafe or can be read in two ways")
    void names() {
        Map<String, AgentCard> cards = Map.of(
                "a", card("b", "b__c", "_b", "x y", "<script>", "über", "s".repeat(500), "b"),
                "a__b", card("c"),
                "a_", card("b"),
                "empty", card());
        Map<String, SkillTool> tools = SkillTool.of(cards);

        assertThat(tools).containsKeys("a__b", "empty__message").hasSize(10);
        tools.forEach((name, tool) -> assertThat(SkillTool.named(name, cards)).contains(tool));
        assertThat(SkillTool.named("a__none", cards)).isEmpty();
        assertThat(SkillTool.named("a", cards)).isEmpty();
        assertThat(tools.keySet()).allMatch(name -> name.matches("[A-Za-z0-9_.-]{1,48}"));
        assertThat(tools.values().stream()
                        .map(tool -> tool.agent() + "/"
                                + (tool.skill() == null ? "" : tool.skill().id())))
                .doesNotHaveDuplicates();
        assertThat(SkillTool.of(Map.of("a", card("b__c"))).keySet())
                .isEqualTo(SkillTool.of(Map.of("a", card("b__c"), "b", card("x"))).entrySet().stream()
                        .filter(each -> each.getValue().agent().equals("a"))
                        .map(Map.Entry::getKey)
                        .collect(java.util.stream.Collectors.toSet()));
    }

    @Test
    @DisplayName("texts are cut and have no controls, tags and changes of direction")
    void texts() {
        String hostile = "Adds\u202e\u0000\u200b\u001b[31m numbers\n" + new String(Character.toChars(0xE0041))
                + "x".repeat(5_000);
        Tool tool = SkillTool.of(Map.of("a", card(hostile)))
                .values()
                .iterator()
                .next()
                .shown();

        assertThat(tool.description())
                .startsWith("Adds[31m numbers\nxxx")
                .endsWith("…\nAgent: a")
                .hasSizeLessThan(1_020);
        assertThat(tool.title()).hasSizeLessThan(105).doesNotContain("\u202e");
    }

    @Test
    @DisplayName("URIs of resources are read as they are written, and other URIs are not resources")
    void uris() {
        assertThat(ResourceUri.of(ResourceUri.artifact("a b", "t/1", "ü+%")))
                .contains(new ResourceUri("a b", "t/1", "ü+%"));
        assertThat(ResourceUri.of("parley://agents/a/card")).contains(new ResourceUri("a", null, null));
        for (String other :
                List.of("file:///etc/passwd", "parley://agents/a/../card", "parley://agents/%zz/card", "")) {
            assertThat(ResourceUri.of(other)).as(other).isEmpty();
        }
    }
}

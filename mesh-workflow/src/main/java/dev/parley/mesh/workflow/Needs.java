package dev.parley.mesh.workflow;

import dev.parley.extension.HubAgents;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.MeshViews.RankAgents;
import dev.parley.mesh.MeshViews.RankedAgent;
import dev.parley.mesh.MeshViews.Wanted;
import dev.parley.mesh.workflow.Workflow.Need;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CallContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Agents of the hub for the needs of steps, by the ranking of the mesh. For one thread. */
final class Needs {
    private static final String SEND = "SendMessage";
    private static final int MOST_OTHERS = 5;

    private final HubAgents hub;
    private final CallContext caller;
    private final CallContext inside;

    /** @param inside context for the views of the agent {@code one} */
    Needs(HubAgents hub, CallContext caller, CallContext inside) {
        this.hub = hub;
        this.caller = caller;
        this.inside = inside;
    }

    /**
     * An agent that meets a need.
     *
     * @param task id of its skill, or the words of the need for an agent without skills
     */
    record Ranked(String agent, String task, Object score, Map<String, @Nullable Object> reasons) {}

    /** @throws A2AException METHOD_NOT_FOUND if no agent meets the need */
    Choice choose(Workflow.Step step, Need need, List<String> participants, int attempt) {
        String task = step.task().isEmpty() ? null : step.task();
        List<Ranked> ranked = ranked(need, task, participants);
        if (ranked.isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, need + ": no agent of the hub meets it");
        }
        // Another attempt goes to another agent, if there is one.
        Ranked first = ranked.get((attempt - 1) % ranked.size());
        List<String> others = ranked.stream()
                .filter(one -> !one.equals(first))
                .map(Ranked::agent)
                .limit(MOST_OTHERS)
                .toList();
        return new Choice(first.agent(), first.task(), attempt, first.score(), first.reasons(), others);
    }

    /**
     * Agents that meet a need, the best first, of those that the caller may call.
     *
     * @param task that they have to do; null for that of the need
     */
    List<Ranked> ranked(Need need, @Nullable String task, List<String> participants) {
        String skill = task == null ? need.capability() : task;
        var rank = new RankAgents(new Wanted(need.capability(), null, need.words()));
        Map<String, AgentCard> cards = hub.cards(caller);
        var ranked = new ArrayList<Ranked>();
        for (RankedAgent agent :
                hub.within(WorkflowProtocol.AGENT).call(rank, inside).agents()) {
            String name = agent.agentId();
            AgentCard card = cards.get(name);
            boolean takesPart = participants.isEmpty() || participants.contains(name);
            if (card != null && takesPart && !name.equals(WorkflowProtocol.AGENT)) {
                add(ranked, card, need, skill, agent);
            }
        }
        return ranked;
    }

    private void add(List<Ranked> ranked, AgentCard card, Need need, @Nullable String task, RankedAgent agent) {
        String name = agent.agentId();
        Skill skill = task == null
                ? card.skills().stream()
                        .max(Comparator.comparingLong(one -> matches(one, need)))
                        .orElse(null)
                : Delegations.skill(card, task).orElse(null);
        boolean fits = skill != null || card.skills().isEmpty() && need.capability() == null;
        if (fits && hub.allows(caller, name, SEND, skill == null ? null : skill.id())) {
            String does = skill != null ? skill.id() : task != null ? task : String.valueOf(need.words());
            ranked.add(new Ranked(name, does, agent.score(), agent.reasons().members()));
        }
    }

    private static long matches(Skill skill, Need need) {
        String text = (skill.id() + " " + skill.name() + " " + skill.description() + " "
                        + String.join(" ", skill.tags()))
                .toLowerCase(Locale.ROOT);
        String words = need.words() == null ? "" : need.words();
        return List.of(words.toLowerCase(Locale.ROOT).split("[^\\p{L}\\p{N}]+", -1)).stream()
                .filter(word -> !word.isEmpty() && text.contains(word))
                .count();
    }
}

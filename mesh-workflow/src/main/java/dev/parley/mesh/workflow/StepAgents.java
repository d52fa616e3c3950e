package dev.parley.mesh.workflow;

import dev.parley.extension.HubAgents;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.workflow.Workflow.Need;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The agents of the steps of a run, on behalf of its caller. For one thread at a time. */
final class StepAgents {
    /** An agent of a step: of the hub, or elsewhere. */
    sealed interface StepAgent permits StepAgent.OfHub, ForeignAgents.Foreign {
        /** An agent of the hub. */
        record OfHub(AgentEndpoint endpoint, AgentCard card) implements StepAgent {}

        AgentEndpoint endpoint();

        AgentCard card();

        default boolean streams() {
            return Boolean.TRUE.equals(card().capabilities().streaming());
        }

        default boolean isForeign() {
            return this instanceof ForeignAgents.Foreign;
        }
    }

    private final HubAgents hub;
    private final ForeignAgents foreign;
    private final CallContext caller;
    private @Nullable Map<String, AgentCard> cards;

    StepAgents(HubAgents hub, ForeignAgents foreign, CallContext caller) {
        this.hub = hub;
        this.foreign = foreign;
        this.caller = caller;
    }

    /**
     * Requires that the hub has the agents of all steps, except those with a URL, and that they can do their tasks.
     *
     * @throws InvalidField with the place in the document
     */
    void check(List<Workflow.Draft> drafts, List<String> participants) {
        for (int i = 0; i < drafts.size(); i++) {
            Need need = drafts.get(i).need();
            if (need != null
                    && needs().ranked(need, drafts.get(i).task(), participants).isEmpty()) {
                throw InvalidField.of(
                        Workflow.place(i, "agent"), need + " (expected: a need that an agent of the hub meets)");
            }
            String task = drafts.get(i).task();
            String placeOfTask = Workflow.place(i, "task");
            Workflow.agents(drafts.get(i), i).forEach((place, name) -> {
                StepAgent agent = find(name);
                if (agent == null) {
                    throw InvalidField.of(
                            place,
                            '"' + name + "\" (expected: one of the agents of the hub: "
                                    + String.join(", ", cards().keySet()) + ")");
                }
                if (!agent.isForeign() && task != null) {
                    requireSkill(placeOfTask, name, task, agent.card());
                }
            });
        }
    }

    /** @throws InvalidField if the agent cannot do the task */
    static void requireSkill(String place, String agent, String task, AgentCard card) {
        if (!card.skills().isEmpty() && Delegations.skill(card, task).isEmpty()) {
            throw InvalidField.of(
                    place,
                    '"' + task + "\" (expected: id, tag or name of a skill of \"" + agent + "\": "
                            + String.join(
                                    ", ",
                                    card.skills().stream()
                                            .map(AgentCard.Skill::id)
                                            .toList())
                            + ")");
        }
    }

    /**
     * Chooses an agent for a step that names a need.
     *
     * @throws A2AException METHOD_NOT_FOUND if no agent meets it
     */
    Choice choose(Workflow.Step step, Need need, List<String> participants, int attempt) {
        return needs().choose(step, need, participants, attempt);
    }

    private Needs needs() {
        return new Needs(hub, caller, toward(WorkflowProtocol.AGENT));
    }

    /** @throws A2AException METHOD_NOT_FOUND if there is no such agent */
    StepAgent get(String agent) {
        StepAgent found = find(agent);
        if (found == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "agent \"" + agent + "\": unknown");
        }
        return found;
    }

    @Nullable
    StepAgent find(String agent) {
        if (Workflow.isUrl(agent)) {
            return foreign.at(agent, caller.scope().group());
        }
        AgentCard card = cards().get(agent);
        if (card == null) {
            cards = null; // agents may be added
            card = cards().get(agent);
        }
        return card == null ? null : new StepAgent.OfHub(hub.endpoint(agent), card);
    }

    private Map<String, AgentCard> cards() {
        Map<String, AgentCard> known = cards;
        if (known == null) {
            known = hub.cards(caller);
            cards = known;
        }
        return known;
    }

    /** Context of a call of an agent. A run of a run is a call of the same agent, which is not a loop: documents are finite. */
    CallContext toward(String agent) {
        if (Workflow.isUrl(agent)) {
            return CallContext.anonymous().withTraceparent(caller.traceparent()).through(caller.chain());
        }
        CallChain chain = caller.chain();
        if (agent.equals(WorkflowProtocol.AGENT) && !chain.agents().isEmpty()) {
            chain = new CallChain(chain.agents().subList(0, chain.agents().size() - 1));
        }
        return caller.withDeadline(null)
                .withDialect(CallContext.V1, false)
                .withTasksOnly()
                .withExtensions(Set.of())
                .through(chain);
    }
}

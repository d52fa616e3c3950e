package dev.parley.trust;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.trust.Policy.Attempt;
import dev.parley.trust.Policy.Refusal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stands before an agent and lets through what its callers may do: by the policy of the hub, and by the scopes that the
 * skills on its card ask for. Safe for any thread.
 *
 * <p>A forbidden operation on a task that the caller cannot see is answered as if there were no such task.
 */
public final class Guard {
    /** The member of a message's, or a request's, metadata that names the skill for which it is. */
    public static final String SKILL = "skillId";

    private final String agent;
    private final AgentCard card;
    private final List<Skill> more;
    private final Policy policy;
    private final boolean enforces;
    private final int mostAgents;
    private final Denials denials;
    private final OpenOperations open;

    /** Operations for callers without credentials. */
    @FunctionalInterface
    interface OpenOperations {
        /** @throws A2AException UNAUTHENTICATED if the caller has no credentials, and the operation requires some */
        void require(String agent, String operation, CallContext context);
    }

    /**
     * The agent that a guard protects.
     *
     * @param card the public card
     * @param more skills that only the extended card has
     */
    record Guarded(String agent, AgentCard card, List<Skill> more) {}

    /**
     * @param enforces false if callers are not authenticated, and so have no scopes
     * @param mostAgents through which a call may go, this one included
     */
    Guard(Guarded guarded, Policy policy, boolean enforces, int mostAgents, Denials denials, OpenOperations open) {
        this.agent = guarded.agent();
        this.card = guarded.card();
        this.more = List.copyOf(guarded.more());
        this.policy = policy;
        this.enforces = enforces;
        this.mostAgents = mostAgents;
        this.denials = denials;
        this.open = open;
    }

    /** The endpoint that this guard protects: operations of A2A and of extensions alike. */
    public AgentEndpoint before(AgentEndpoint endpoint) {
        return new AgentEndpoint() {
            @Override
            @SuppressWarnings("unchecked") // the extended card is what its operation brings
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                require(operation, context);
                return operation instanceof Operation.GetExtendedAgentCard && !more.isEmpty()
                        ? (R) extendedCard(context)
                        : endpoint.call(operation, context);
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                require(operation, context);
                return endpoint.watch(operation, context);
            }
        };
    }

    private void require(Operation operation, CallContext context) {
        try {
            admit(operation, context);
        } catch (A2AException refusal) {
            if (operation instanceof Operation.Extension extension && refusal.error() == A2AError.PERMISSION_DENIED) {
                throw extension.denied(refusal);
            }
            throw refusal;
        }
    }

    private void admit(Operation operation, CallContext context) {
        String task = requireNonNullElse(operation.aboutTask(), "");
        open.require(agent, operation.name(), context);
        if (operation instanceof Operation.Send send) {
            String skill = skill(send);
            requireEnd(operation.name(), context);
            requireScopes(send, skill, context);
            for (@Nullable String one : taken(skill)) {
                require(operation.name(), one, context, task);
            }
        } else {
            require(operation.name(), null, context, task);
            if (operation instanceof Operation.Extension extension && extension.runsAgent()) {
                requireEnd(operation.name(), context);
            }
        }
    }

    /** Skills that a message may be for: all, if it names none. */
    private List<@Nullable String> taken(@Nullable String named) {
        List<Skill> all = all();
        return named != null || all.isEmpty()
                ? Collections.singletonList(named)
                : all.stream().<@Nullable String>map(Skill::id).toList();
    }

    /** Operations that run an agent, which may then call others; reads cannot form loops. */
    private void requireEnd(String operation, CallContext context) {
        try {
            context.chain().check(mostAgents);
        } catch (A2AException refused) {
            // Names of the chain are recorded where an erasure finds them.
            String reason = String.valueOf(refused.getMessage()).replace(": " + context.chain(), "");
            denials.note(context, agent, operation, "", reason);
            throw refused;
        }
    }

    private void require(String operation, @Nullable String skill, CallContext context, String task) {
        Refusal refusal = policy.refusal(new Attempt(Principal.of(context), agent, operation, skill));
        if (refusal == null) {
            return;
        }
        denials.note(context, agent, operation, task, refusal.reason());
        if (!refusal.missing().isEmpty()) {
            throw lacking(refusal.missing(), context);
        }
        if (!task.isEmpty()) {
            throw A2AException.taskNotFound(task);
        }
        throw A2AException.of(A2AError.PERMISSION_DENIED, refusal.reason());
    }

    /**
     * A message for a skill needs the scopes of its entry on the card. A message without a skill may be for any, so it
     * needs what all of them ask for.
     */
    private void requireScopes(Operation.Send send, @Nullable String named, CallContext context) {
        if (!enforces && policy.equals(Policy.OPEN)) {
            return;
        }
        var missing = new TreeSet<String>();
        boolean known = named == null;
        for (Skill skill : all()) {
            if (named == null || skill.id().equals(named)) {
                known = true;
                missing.addAll(enforces ? missing(skill, context.grants()) : Set.of());
            }
        }
        if (!missing.isEmpty()) {
            String operation = send.name();
            denials.note(context, agent, operation, "", "scopes of a skill: " + String.join(" ", missing));
            throw lacking(missing, context);
        }
        if (named != null && !known) {
            throw A2AException.invalidParams(
                    "metadata." + SKILL,
                    Denials.shortened(named) + " (expected: the id of a skill on the card, or none)");
        }
    }

    private List<Skill> all() {
        var all = new ArrayList<>(card.skills());
        all.addAll(more);
        return all;
    }

    /** Scopes missing for the alternative that needs the fewest more; empty if one is fulfilled. */
    static Set<String> missing(Skill skill, Set<String> grants) {
        Set<String> least = null;
        for (SecurityRequirement one : skill.securityRequirements()) {
            var missing = new TreeSet<String>();
            one.schemes().values().forEach(missing::addAll);
            missing.removeAll(grants);
            if (least == null || missing.size() < least.size()) {
                least = missing;
            }
        }
        return least == null ? Set.of() : least;
    }

    /** The challenge has the granted scopes, too: clients request those that it names, and no others. */
    static A2AException lacking(Set<String> missing, CallContext caller) {
        var needed = new TreeSet<>(missing);
        needed.addAll(caller.grants());
        return A2AException.refused(
                A2AError.PERMISSION_DENIED,
                "Not all of these scopes were granted: " + String.join(" ", missing),
                "Bearer realm=\"parley\", error=\"insufficient_scope\", scope=\"" + String.join(" ", needed) + '"');
    }

    /**
     * The public card with the further skills that the caller may use. An agent that authenticates its callers refuses anonymous ones; otherwise
     * every caller gets it.
     */
    private AgentCard extendedCard(CallContext context) {
        if (enforces && context.caller().equals(CallContext.anonymous().caller())) {
            throw A2AException.refused(A2AError.UNAUTHENTICATED, "Authentication required", "Bearer realm=\"parley\"");
        }
        return card.withSkills(Stream.concat(
                        card.skills().stream(),
                        more.stream()
                                .filter(skill -> !enforces
                                        || missing(skill, context.grants()).isEmpty()))
                .toList());
    }

    /** Returns the skill of a request, null for none; refuses two, of which the agent could use the one not authorized. */
    private static @Nullable String skill(Operation.Send send) {
        String ofMessage = skill("message.metadata.", send.message().metadata());
        String ofRequest = skill("metadata.", send.metadata());
        if (ofMessage != null && ofRequest != null && !ofMessage.equals(ofRequest)) {
            throw A2AException.invalidParams(
                    "metadata." + SKILL, Denials.shortened(ofRequest) + " (expected: the one of the message)");
        }
        return ofMessage == null ? ofRequest : ofMessage;
    }

    private static @Nullable String skill(String where, Map<String, ?> metadata) {
        Object named = metadata.get(SKILL);
        if (named != null && !(named instanceof String)) {
            throw A2AException.invalidParams(where + SKILL, "is no text (expected: the id of a skill)");
        }
        return (String) named;
    }
}

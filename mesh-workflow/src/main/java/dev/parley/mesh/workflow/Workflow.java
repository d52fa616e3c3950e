package dev.parley.mesh.workflow;

import static dev.parley.protocol.json.Codecs.TEXT;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.mesh.RetryPolicy;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A workflow that has been checked: its steps by their ids, each after those on which it depends.
 *
 * @param coordinator agent that answers for the workflow; null if none is named
 * @param participants names or addresses of the agents that take part
 * @param inputs values of the run, to which parameters refer
 */
public record Workflow(
        @Nullable String coordinator,
        List<String> participants,
        Map<String, @Nullable Object> inputs,
        Map<String, Step> steps) {
    /**
     * Need of a step that names no agent: the hub chooses one.
     *
     * @param capability id, tag or name of a skill; null if only words are given
     * @param words words of the description of the agent or its skills; null for none
     */
    public record Need(
            @Nullable String capability, @Nullable String words) {
        /** JSON of needs. */
        static final Codec<Need> CODEC = ObjectCodec.<Need>of()
                .optional("capability", TEXT, Need::capability)
                .optional("words", TEXT, Need::words)
                .as(v -> new Need(v.next(), v.next()))
                .closed();

        public Need {
            capability = capability == null || capability.isBlank() ? null : capability.strip();
            words = words == null || words.isBlank() ? null : words.strip();
            if (capability == null && words == null) {
                throw InvalidField.of("capability", "missing (expected: a capability, or words)");
            }
        }

        @Override
        public String toString() {
            return capability == null ? "words \"" + words + '"' : "capability \"" + capability + '"';
        }
    }

    /** Most steps of a workflow. */
    public static final int MAX_STEPS = 1000;

    /** Treatment of a step that failed. */
    public enum OnError {
        /** The workflow fails; steps that depend on this one are skipped. */
        FAIL,
        /** Steps that depend on this one run without its result. */
        CONTINUE,
        /** The step is repeated as its retry policy says, and then as for {@link #FAIL}. */
        RETRY
    }

    /**
     * A step as its document has it.
     *
     * @param id null if the document names none
     * @param agent null for a vote, or a need
     * @param need instead of an agent; null for none
     * @param task null for a vote of agents whatever their skills, or a need that says it
     * @param parameters null for the results of the steps in {@code depends}
     * @param depends ids of steps, or names of agents that have one step
     * @param vote null for a step of an agent
     */
    public record Draft(
            @Nullable String id,
            @Nullable String agent,
            @Nullable Need need,
            @Nullable String task,
            @Nullable Map<String, @Nullable Object> parameters,
            List<String> depends,
            OnError onError,
            @Nullable Duration timeout,
            RetryPolicy retryPolicy,
            @Nullable Vote vote) {
        /** Name of the agent, by which other steps may refer to the step. */
        String name() {
            if (need != null) {
                return need.capability() == null ? "" : need.capability();
            }
            return vote != null || agent == null ? WorkflowProtocol.AGENT : agent;
        }
    }

    /**
     * A step. One that is a vote is a step for each voter, which is named {@code <id>/<voter>}, and the count after them.
     *
     * @param place in the document
     * @param agent empty before one is chosen for the need
     * @param need for which an agent is chosen; null if the document names the agent
     * @param task empty before a skill is chosen for the need
     * @param parameters with references; null for the results of the steps on which this one depends
     * @param depends ids of the steps that end before, those to which parameters refer among them
     * @param vote of which the step is the count, or a ballot; null for other steps
     */
    public record Step(
            String id,
            String place,
            String agent,
            @Nullable Need need,
            String task,
            @Nullable Map<String, @Nullable Object> parameters,
            List<String> depends,
            OnError onError,
            @Nullable Duration timeout,
            RetryPolicy retryPolicy,
            @Nullable Vote vote) {
        /** True if the step asks a voter. */
        boolean isBallot() {
            return vote != null && !agent.equals(WorkflowProtocol.AGENT);
        }

        /** This step with the agent and the skill that were chosen for it. */
        Step chosen(Choice choice) {
            return new Step(
                    id,
                    place,
                    choice.agent(),
                    need,
                    choice.task(),
                    parameters,
                    depends,
                    onError,
                    timeout,
                    retryPolicy,
                    vote);
        }

        /** The vote that the step counts; null if it is not one. */
        @Nullable
        Vote counted() {
            return isBallot() ? null : vote;
        }

        /** The steps of a vote. */
        private List<Step> withBallots() {
            if (vote == null) {
                return List.of(this);
            }
            var all = new ArrayList<Step>();
            for (String voter : vote.voters()) {
                all.add(new Step(
                        id + "/" + voter,
                        place,
                        voter,
                        null,
                        task,
                        parameters,
                        depends,
                        OnError.CONTINUE,
                        timeout,
                        retryPolicy,
                        vote));
            }
            all.add(new Step(
                    id,
                    place,
                    WorkflowProtocol.AGENT,
                    null,
                    task,
                    Map.of(),
                    all.stream().map(Step::id).toList(),
                    onError,
                    null,
                    retryPolicy,
                    vote));
            return all;
        }
    }

    private static final String STEPS = "workflow.steps";

    /**
     * Checks a document.
     *
     * @param participants none if all agents of the steps take part
     * @param inputs null for a document that is not run, and so has none yet
     * @throws InvalidField if it is ambiguous, cyclic, or names strangers; with the place in the document
     */
    public static Workflow of(
            @Nullable String coordinator,
            List<String> participants,
            @Nullable Map<String, @Nullable Object> inputs,
            List<Draft> drafts) {
        if (drafts.isEmpty() || drafts.size() > MAX_STEPS) {
            throw InvalidField.of(STEPS, drafts.size() + " steps (expected: 1 to " + MAX_STEPS + ")");
        }
        var ofAgent = new HashMap<String, List<Integer>>();
        var named = new LinkedHashSet<String>();
        for (int i = 0; i < drafts.size(); i++) {
            Draft draft = drafts.get(i);
            requireKind(draft, i);
            agents(draft, i).forEach((place, agent) -> {
                requireParticipant(participants, place, agent);
                named.add(agent);
            });
            ofAgent.computeIfAbsent(draft.name(), name -> new ArrayList<>()).add(i);
        }
        List<String> ids = ids(drafts, ofAgent);
        var steps = new LinkedHashMap<String, Step>();
        for (int i = 0; i < drafts.size(); i++) {
            Draft draft = drafts.get(i);
            var depends = new ArrayList<String>();
            for (int j = 0; j < draft.depends().size(); j++) {
                String id = resolved(draft.depends().get(j), i, j, ids, ofAgent);
                if (!depends.contains(id)) {
                    depends.add(id);
                }
            }
            addReferences(draft.parameters(), place(i, "parameters"), ids, inputs, depends);
            var step = new Step(
                    ids.get(i),
                    STEPS + "[" + i + "]",
                    draft.need() == null ? draft.name() : "",
                    draft.need(),
                    task(draft),
                    draft.parameters(),
                    List.copyOf(depends),
                    draft.onError(),
                    draft.timeout(),
                    draft.retryPolicy(),
                    draft.vote());
            for (Step each : step.withBallots()) {
                if (steps.putIfAbsent(each.id(), each) != null) {
                    throw InvalidField.of(
                            place(i, "id"), '"' + each.id() + "\" (expected: no id that a vote has for a voter)");
                }
            }
        }
        if (steps.size() > MAX_STEPS) {
            throw InvalidField.of(STEPS, steps.size() + " steps with voters (expected: 1 to " + MAX_STEPS + ")");
        }
        return new Workflow(
                coordinator,
                List.copyOf(participants.isEmpty() ? named : participants),
                inputs == null ? Map.of() : inputs,
                inOrder(steps, ids));
    }

    private static void requireParticipant(List<String> participants, String place, String agent) {
        if (isUrl(agent)) {
            requireUrl(place, agent);
        }
        if (!participants.isEmpty() && !participants.contains(agent)) {
            throw InvalidField.of(
                    place,
                    '"' + agent + "\" (expected: one of the participants: " + String.join(", ", participants) + ")");
        }
    }

    /** Adds the steps to which parameters refer. */
    private static void addReferences(
            @Nullable Map<String, @Nullable Object> parameters,
            String place,
            List<String> ids,
            @Nullable Map<String, @Nullable Object> inputs,
            List<String> depends) {
        References.each(parameters, place, (reference, at) -> {
            References.Target target = References.target(reference, at, ids);
            if (!target.step().equals(References.INPUT)) {
                if (!depends.contains(target.step())) {
                    depends.add(target.step());
                }
            } else if (inputs != null) {
                var unused = References.at(inputs, target.path(), reference, at);
            }
        });
    }

    private static String task(Draft draft) {
        if (draft.task() != null) {
            return draft.task();
        }
        return draft.need() == null ? "vote" : requireNonNullElse(draft.need().capability(), "");
    }

    /** This workflow with the agents that were chosen for needs, by steps. */
    Workflow chosen(Map<String, Choice> choices) {
        if (choices.isEmpty()) {
            return this;
        }
        var chosen = new LinkedHashMap<>(steps);
        choices.forEach((id, choice) -> chosen.computeIfPresent(id, (same, step) -> step.chosen(choice)));
        return new Workflow(coordinator, participants, inputs, Collections.unmodifiableMap(chosen));
    }

    private static void requireKind(Draft draft, int step) {
        Vote vote = draft.vote();
        if (draft.need() != null && vote == null) {
            if (draft.id() == null && draft.need().capability() == null) {
                throw InvalidField.of(place(step, "id"), "missing (expected: an id, because the step names no agent)");
            }
            return;
        }
        if (vote == null) {
            require(place(step, "agent"), draft.agent());
            require(place(step, "task"), draft.task());
            return;
        }
        vote.checked(place(step, "vote"));
        if (draft.agent() != null || draft.need() != null) {
            throw InvalidField.of(place(step, "agent"), "present (expected: none beside vote)");
        }
        if (draft.onError() == OnError.RETRY) {
            throw InvalidField.of(place(step, "onError"), "retry (expected: fail or continue for a vote)");
        }
        int own = vote.voters().indexOf(WorkflowProtocol.AGENT);
        if (own >= 0) {
            throw InvalidField.of(place(step, "vote.voters[" + own + "]"), "\"one\" (expected: another agent)");
        }
    }

    private static void require(String place, @Nullable String member) {
        if (member == null) {
            throw InvalidField.of(place, "missing");
        }
    }

    /** The agents of a step by their places in the document. */
    static Map<String, String> agents(Draft draft, int step) {
        var agents = new LinkedHashMap<String, String>();
        if (draft.need() != null) {
            return agents;
        }
        if (draft.vote() == null) {
            agents.put(place(step, "agent"), draft.name());
        } else {
            for (int i = 0; i < draft.vote().voters().size(); i++) {
                agents.put(
                        place(step, "vote.voters[" + i + "]"),
                        draft.vote().voters().get(i));
            }
        }
        return agents;
    }

    /** True if no other step depends on this one: its result is part of that of the workflow. */
    public boolean isLast(String step) {
        return steps.values().stream().noneMatch(other -> other.depends().contains(step));
    }

    private static List<String> ids(List<Draft> drafts, Map<String, List<Integer>> ofAgent) {
        var ids = new ArrayList<String>();
        var places = new HashMap<String, Integer>();
        for (int i = 0; i < drafts.size(); i++) {
            Draft draft = drafts.get(i);
            int steps = ofAgent.getOrDefault(draft.name(), List.of()).size();
            if (draft.id() == null && steps > 1) {
                throw InvalidField.of(
                        place(i, "id"),
                        "missing (expected: an id, because \"" + draft.name() + "\" has " + steps + " steps)");
            }
            String id = draft.id() == null ? draft.name() : draft.id();
            if (id.equals(References.INPUT)) {
                throw InvalidField.of(place(i, "id"), "\"input\" (expected: another id, as ${input.NAME} is an input)");
            }
            Integer before = places.putIfAbsent(id, i);
            if (before != null) {
                throw InvalidField.of(
                        place(i, "id"),
                        '"' + id + "\" (expected: an id other than that of " + STEPS + "[" + before + "])");
            }
            ids.add(id);
        }
        return ids;
    }

    private static String resolved(
            String name, int step, int index, List<String> ids, Map<String, List<Integer>> ofAgent) {
        if (ids.contains(name)) {
            return name;
        }
        List<Integer> steps = ofAgent.getOrDefault(name, List.of());
        if (steps.size() == 1) {
            return ids.get(steps.getFirst());
        }
        String expected = steps.isEmpty()
                ? "the id of a step, or an agent with one step"
                : "the id of one of the " + steps.size() + " steps of this agent";
        throw InvalidField.of(place(step, "depends[" + index + "]"), '"' + name + "\" (expected: " + expected + ")");
    }

    /** The steps in an order in which each stands after those on which it depends. */
    private static Map<String, Step> inOrder(Map<String, Step> steps, List<String> ids) {
        var waiting = new HashMap<String, Integer>();
        var dependants = new HashMap<String, List<String>>();
        var ready = new ArrayDeque<String>();
        steps.forEach((id, step) -> {
            waiting.put(id, step.depends().size());
            step.depends()
                    .forEach(before -> dependants
                            .computeIfAbsent(before, name -> new ArrayList<>())
                            .add(id));
            if (step.depends().isEmpty()) {
                ready.add(id);
            }
        });
        var ordered = new LinkedHashMap<String, Step>();
        for (String id = ready.poll(); id != null; id = ready.poll()) {
            Step step = steps.get(id);
            if (step != null) {
                ordered.put(id, step);
            }
            for (String next : dependants.getOrDefault(id, List.of())) {
                if (waiting.merge(next, -1, Integer::sum) == 0) {
                    ready.add(next);
                }
            }
        }
        if (ordered.size() < steps.size()) {
            List<String> cycle = cycle(steps, ordered.keySet());
            int first = cycle.stream()
                    .mapToInt(ids::indexOf)
                    .filter(at -> at >= 0)
                    .findFirst()
                    .orElse(0);
            throw InvalidField.of(place(first, "depends"), String.join(" → ", cycle) + " (expected: no cycle)");
        }
        return Collections.unmodifiableMap(ordered);
    }

    /** A cycle among the steps that no order has: each of them depends on one of the others. */
    private static List<String> cycle(Map<String, Step> steps, Set<String> ordered) {
        var path = new ArrayList<String>();
        var seen = new HashSet<String>();
        String at = steps.keySet().stream()
                .filter(id -> !ordered.contains(id))
                .findFirst()
                .orElseThrow();
        while (seen.add(at)) {
            path.add(at);
            at = requireNonNull(steps.get(at)).depends().stream()
                    .filter(id -> !ordered.contains(id))
                    .findFirst()
                    .orElseThrow();
        }
        List<String> cycle = new ArrayList<>(path.subList(path.indexOf(at), path.size()));
        cycle.add(at);
        return cycle;
    }

    static String place(int step, String member) {
        return STEPS + "[" + step + "]." + member;
    }

    /** Whether the agent of a step is named by its URL. */
    static boolean isUrl(String agent) {
        return agent.regionMatches(true, 0, "http://", 0, 7) || agent.regionMatches(true, 0, "https://", 0, 8);
    }

    /** @throws InvalidField if this is not a URL of an agent */
    private static void requireUrl(String field, String agent) {
        try {
            URI url = new URI(agent);
            if (url.getHost() != null && url.getRawUserInfo() == null) {
                return;
            }
        } catch (URISyntaxException malformed) {
            // as a URL without a host
        }
        throw InvalidField.of(field, '"' + agent + "\" (expected: a URL with a host, without user name and password)");
    }
}

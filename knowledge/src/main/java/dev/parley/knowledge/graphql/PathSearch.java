package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.protocol.InvalidField;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds a shortest path of statements between two entities: breadth first, one read per step. */
final class PathSearch {
    private static final int MAX_LENGTH = 8;
    private static final int BRANCHES = 200;
    private static final int STEP = 500;

    /** Limit of statements kept in memory, in characters. */
    private static final long MAX_CHARACTERS = 16L << 20;

    private final View view;
    private final int maxNodes;
    private final Map<String, Fact> reachedBy = new HashMap<>();
    private boolean complete = true;
    private long characters;

    PathSearch(View view, int maxNodes) {
        this.view = view;
        this.maxNodes = maxNodes;
    }

    /** False if an entity has so many statements that not all were followed. */
    boolean isComplete() {
        return complete;
    }

    /**
     * Returns the statements of a path in its order; null if there is none.
     *
     * @throws InvalidField if the search would visit too many entities
     */
    @Nullable
    List<Fact> find(String from, String to, int maxLength) {
        if (maxLength < 0 || maxLength > MAX_LENGTH) {
            throw InvalidField.of("maxLength", maxLength + " (expected: 0 to " + MAX_LENGTH + ")");
        }
        String start = Term.expand(from);
        String goal = Term.expand(to);
        if (start.equals(goal)) {
            return List.of();
        }
        List<String> frontier = List.of(start);
        for (int length = 1; length <= maxLength && !frontier.isEmpty(); length++) {
            var next = new LinkedHashSet<String>();
            for (int at = 0; at < frontier.size(); at += STEP) {
                if (step(frontier.subList(at, Math.min(at + STEP, frontier.size())), start, goal, next)) {
                    return way(start, goal);
                }
            }
            frontier = List.copyOf(next);
        }
        return null;
    }

    private boolean step(Collection<String> frontier, String start, String goal, Collection<String> next) {
        var pages = view.about(frontier, Pattern.ALL, null, BRANCHES);
        for (String subject : frontier) {
            StatementPage<Fact> page = pages.getOrDefault(subject, StatementPage.empty());
            complete &= page.next() == null;
            for (Fact fact : page.items()) {
                if (!(fact.statement().object() instanceof Term.Resource object)
                        || object.id().equals(start)
                        || reachedBy.putIfAbsent(object.id(), fact) != null) {
                    continue;
                }
                if (object.id().equals(goal)) {
                    return true;
                }
                characters += Characters.of(fact.statement());
                if (reachedBy.size() > maxNodes || characters > MAX_CHARACTERS) {
                    throw InvalidField.of(
                            "path", "more than " + maxNodes + " things, or too much text, lie on the way");
                }
                next.add(object.id());
            }
        }
        return false;
    }

    private List<Fact> way(String start, String goal) {
        var way = new ArrayDeque<Fact>();
        for (String at = goal; !at.equals(start); ) {
            Fact step = reachedBy.get(at);
            if (step == null) {
                throw new IllegalStateException("no step leads to " + at);
            }
            way.addFirst(step);
            at = step.statement().subject().id();
        }
        return List.copyOf(way);
    }
}

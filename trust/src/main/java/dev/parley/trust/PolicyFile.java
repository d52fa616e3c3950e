package dev.parley.trust;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.Nearest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A policy that is written down: rules, of which the first that fits decides, as {@code docs/authorization.md} shows. Immutable.
 */
public final class PolicyFile implements Policy {
    private static final Set<String> MEMBERS = Set.of("rules", "otherwise", "shared", "limits");
    private static final Set<String> RULE_MEMBERS =
            Set.of("effect", "groups", "principals", "agents", "operations", "skills", "scopes");

    private enum Effect {
        /** It may be done. */
        ALLOW,
        /** It may not be done, and this is said. */
        DENY,
        /** The agent is not there for this caller. */
        HIDE,
        /** It may be done with these scopes; whether it may at all is said by other rules. */
        SCOPES
    }

    /** Empty lists fit everything. */
    private record Rule(
            Effect effect,
            List<String> groups,
            List<String> principals,
            List<String> agents,
            List<String> operations,
            List<String> skills,
            Set<String> scopes) {
        boolean fits(Principal caller, String agent) {
            return any(groups, caller.group()) && any(principals, caller.name()) && any(agents, agent);
        }

        boolean fits(Attempt attempt) {
            return fits(attempt.caller(), attempt.agent())
                    && any(operations, attempt.operation())
                    && (skills.isEmpty() || attempt.skill() != null && any(skills, attempt.skill()));
        }

        boolean namesAdministration() {
            return operations.stream().anyMatch(pattern -> pattern.startsWith(ADMINISTRATION));
        }

        private static boolean any(List<String> patterns, String name) {
            return patterns.isEmpty() || patterns.stream().anyMatch(pattern -> matches(pattern, name));
        }

        private static boolean matches(String pattern, String name) {
            return pattern.endsWith("*")
                    ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                    : name.equals(pattern);
        }
    }

    private static final String ADMINISTRATION = "admin/";

    private final List<Rule> rules;
    private final List<Rule> administration;
    private final boolean otherwise;
    private final List<String> shared;
    private final LimitSettings limits;

    private PolicyFile(List<Rule> rules, boolean otherwise, List<String> shared, LimitSettings limits) {
        this.rules = List.copyOf(rules);
        this.administration = rules.stream().filter(Rule::namesAdministration).toList();
        this.otherwise = otherwise;
        this.shared = List.copyOf(shared);
        this.limits = limits;
    }

    /**
     * Reads a policy.
     *
     * @throws UncheckedIOException if the file cannot be read
     * @throws IllegalArgumentException if it holds anything else, with what and where
     */
    public static PolicyFile read(Path file) {
        try {
            return of(Json.read(Files.readAllBytes(file), Map.class));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        } catch (A2AException | IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    static PolicyFile of(Map<?, ?> members) {
        requireMembers("policy", members, MEMBERS);
        var rules = new ArrayList<Rule>();
        if (members.get("rules") instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                rules.add(rule("rules[" + i + "]", list.get(i)));
            }
        } else if (members.get("rules") != null) {
            throw new IllegalArgumentException("rules (expected: a list)");
        }
        boolean otherwise = switch (String.valueOf(members.get("otherwise"))) {
            case "null", "allow" -> true;
            case "deny" -> false;
            default -> throw new IllegalArgumentException("otherwise (expected: allow or deny)");
        };
        return new PolicyFile(
                rules, otherwise, texts("shared", members.get("shared")), LimitSettings.of(members.get("limits")));
    }

    private static Rule rule(String where, @Nullable Object value) {
        if (!(value instanceof Map<?, ?> members)) {
            throw new IllegalArgumentException(where + " (expected: an object)");
        }
        requireMembers(where, members, RULE_MEMBERS);
        Effect effect = switch (String.valueOf(members.get("effect"))) {
            case "allow" -> Effect.ALLOW;
            case "deny" -> Effect.DENY;
            case "hide" -> Effect.HIDE;
            case "scopes" -> Effect.SCOPES;
            default -> throw new IllegalArgumentException(where + ".effect (expected: allow, deny, hide or scopes)");
        };
        var rule = new Rule(
                effect,
                texts(where + ".groups", members.get("groups")),
                texts(where + ".principals", members.get("principals")),
                texts(where + ".agents", members.get("agents")),
                texts(where + ".operations", members.get("operations")),
                texts(where + ".skills", members.get("skills")),
                new TreeSet<>(texts(where + ".scopes", members.get("scopes"))));
        if ((effect == Effect.SCOPES) == rule.scopes().isEmpty()) {
            throw new IllegalArgumentException(where + ".scopes (expected: some, only with the effect scopes)");
        }
        rule.scopes().forEach(Authentication::requireScope);
        if (effect == Effect.HIDE
                && !(rule.operations().isEmpty() && rule.skills().isEmpty())) {
            throw new IllegalArgumentException(where + " (expected: neither operations nor skills, to hide an agent)");
        }
        return rule;
    }

    static void requireMembers(String where, Map<?, ?> members, Set<String> known) {
        for (Object member : members.keySet()) {
            if (!known.contains(String.valueOf(member))) {
                throw new IllegalArgumentException(
                        where + ": " + member + " (expected: " + String.join(", ", new TreeSet<>(known)) + ")");
            }
        }
    }

    private static List<String> texts(String where, @Nullable Object value) {
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list && !list.isEmpty() && list.stream().allMatch(String.class::isInstance)) {
            return list.stream().map(String.class::cast).toList();
        }
        throw new IllegalArgumentException(where + " (expected: a list of at least one text)");
    }

    /**
     * Refuses rules for operations that do not exist, which would silently never match.
     *
     * @param methods names of operations of extensions and of the agents' own methods
     * @throws IllegalArgumentException if no operation or method matches an entry of {@code operations}; names the nearest
     */
    public void requireOperations(Collection<String> methods) {
        var names = new TreeSet<>(methods);
        names.addAll(Operation.NAMES);
        for (int i = 0; i < rules.size(); i++) {
            for (String pattern : rules.get(i).operations()) {
                if (names.stream().noneMatch(name -> Rule.matches(pattern, name))) {
                    throw new IllegalArgumentException("policy: rules[" + i + "].operations \"" + pattern
                            + "\": unknown operation (expected: a name of A2A 1.0, of an extension or of an agent's"
                            + " own method; nearest: " + Nearest.to(pattern, names) + ")");
                }
            }
        }
    }

    /** Limits of callers. */
    public LimitSettings limits() {
        return limits;
    }

    @Override
    public boolean knows(Principal caller, String agent) {
        for (Rule rule : rules) {
            if (rule.effect() == Effect.HIDE && rule.fits(caller, agent)) {
                return false;
            }
            // A caller with any permission for an agent may see it.
            if (rule.effect() == Effect.ALLOW && rule.fits(caller, agent)) {
                return true;
            }
        }
        return true;
    }

    @Override
    public @Nullable Refusal refusal(Attempt attempt) {
        return refusal(rules, attempt, otherwise);
    }

    /** Considers only rules that name operations of the administration: a rule for agents must not lock operators out. */
    @Override
    public @Nullable Refusal administration(Attempt attempt) {
        return refusal(administration, attempt, true);
    }

    private static @Nullable Refusal refusal(List<Rule> rules, Attempt attempt, boolean otherwise) {
        var missing = new TreeSet<String>();
        for (Rule rule : rules) {
            if (rule.effect() == Effect.SCOPES && rule.fits(attempt)) {
                missing.addAll(rule.scopes());
            }
        }
        missing.removeAll(attempt.caller().scopes());
        if (!missing.isEmpty()) {
            return new Refusal("Not all of these scopes were granted", missing);
        }
        for (Rule rule : rules) {
            if (rule.effect() != Effect.SCOPES && rule.fits(attempt)) {
                return rule.effect() == Effect.ALLOW ? null : denied();
            }
        }
        return otherwise ? null : denied();
    }

    private static Refusal denied() {
        return new Refusal("The policy of this hub does not allow it", Set.of());
    }

    @Override
    public boolean isShared(String agent) {
        return shared.stream().anyMatch(pattern -> Rule.matches(pattern, agent));
    }
}

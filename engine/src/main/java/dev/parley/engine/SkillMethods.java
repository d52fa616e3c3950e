package dev.parley.engine;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Role;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Handler that calls the {@link Skill} methods of a class: the one that the message names by the member {@code skillId} of
 * its metadata, or of the metadata of its request. A message that names none continues the skill that the task began with,
 * or is for the only skill. Safe for any thread if the methods are.
 */
final class SkillMethods implements AgentHandler {
    /** Member of the metadata that names the skill; authorization by skill reads the same one. */
    private static final String SKILL = "skillId";

    private final Map<String, SkillMethod> methods = new TreeMap<>();

    /** @throws IllegalArgumentException if there is no such method, or one that cannot be called for a message */
    SkillMethods(Class<?> type, Agent.SkillCall call) {
        for (Method method : type.getDeclaredMethods()) {
            Skill skill = method.getAnnotation(Skill.class);
            if (skill != null && !method.isBridge()) { // the compiler copies annotations to bridges
                String id = skill.id().isEmpty() ? method.getName() : skill.id();
                if (methods.putIfAbsent(id, new SkillMethod(id, skill, call, method)) != null) {
                    throw new IllegalArgumentException("skill \"" + id + "\": duplicate id");
                }
            }
        }
        if (methods.isEmpty()) {
            throw new IllegalArgumentException(
                    type.getName() + ": no skills (expected: methods annotated with @Skill)");
        }
    }

    /** Skills for the card, by id. */
    List<AgentCard.Skill> cards() {
        return methods.values().stream().map(SkillMethod::card).toList();
    }

    /** True if a skill reads a data part. */
    boolean readsData() {
        return methods.values().stream().anyMatch(SkillMethod::readsData);
    }

    @Override
    public void handle(Request request, Reply reply) throws Exception {
        SkillMethod method;
        @Nullable Object[] arguments;
        try {
            method = method(request);
            arguments = method.arguments(request, reply);
        } catch (Unfit unfit) {
            reply.reject(unfit.reason());
            return;
        }
        method.call(arguments, reply);
    }

    private SkillMethod method(Request request) throws Unfit {
        Object id = id(request);
        String expected = methods.size() == 1 ? firstId() : "one of " + String.join(", ", methods.keySet());
        if (id == null) {
            if (methods.size() > 1) {
                throw new Unfit("metadata." + SKILL + ": missing (expected: " + expected + ")");
            }
            id = firstId();
        }
        SkillMethod method = id instanceof String text ? methods.get(text) : null;
        if (method == null) {
            throw new Unfit(
                    "metadata." + SKILL + " " + Unfit.shown(id) + ": unknown skill (expected: " + expected + ")");
        }
        return method;
    }

    private String firstId() {
        return methods.keySet().iterator().next();
    }

    private static @Nullable Object id(Request request) {
        Object id = request.message().metadata().get(SKILL);
        if (id == null) {
            id = request.metadata().get(SKILL);
        }
        for (Message earlier : id == null ? request.history().reversed() : List.<Message>of()) {
            if (earlier.role() == Role.USER && earlier.metadata().get(SKILL) != null) {
                return earlier.metadata().get(SKILL);
            }
        }
        return id;
    }

    /** A message does not fit the skills of the agent. */
    static final class Unfit extends Exception {
        private static final long serialVersionUID = 1L;
        private static final int MAX_SHOWN = 200;

        private final String reason;

        Unfit(String reason) {
            super(reason);
            this.reason = reason;
        }

        String reason() {
            return reason;
        }

        /** A value of a message in a reason: cut, for it may be as long as the message. */
        static String shown(@Nullable Object value) {
            String text = value instanceof String string ? '"' + string + '"' : String.valueOf(value);
            return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "…";
        }
    }
}

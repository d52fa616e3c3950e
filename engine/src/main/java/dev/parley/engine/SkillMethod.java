package dev.parley.engine;

import dev.parley.engine.SkillMethods.Unfit;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Part;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One {@link Skill} method of a class: its card, its arguments from a message, and its result as an answer. */
final class SkillMethod {
    private final AgentCard.Skill card;
    private final Agent.SkillCall invocation;
    private final Method method;
    private final List<Parameter> parameters;
    private final List<Parameter> members;
    private final boolean readsText;

    /** @throws IllegalArgumentException if the method cannot be called for a message */
    SkillMethod(String id, Skill skill, Agent.SkillCall invocation, Method method) {
        this.invocation = invocation;
        this.method = method;
        this.parameters = List.of(method.getParameters());
        List<Parameter> bound = parameters.stream()
                .filter(parameter -> parameter.getType() != Request.class && parameter.getType() != Reply.class)
                .toList();
        this.readsText = bound.size() == 1 && bound.getFirst().getType() == String.class;
        this.members = readsText ? List.of() : bound;
        this.card = new AgentCard.Skill(
                id,
                skill.name().isEmpty() ? id : skill.name(),
                skill.description(),
                List.of(skill.tags()),
                List.of(),
                readsData() ? List.of("application/json") : List.of(),
                Map.class.isAssignableFrom(method.getReturnType()) ? List.of("application/json") : List.of(),
                List.of());
        checkSignature();
    }

    private void checkSignature() {
        for (Parameter member : members) {
            if (!member.isNamePresent()) {
                throw unusable("names of parameters are missing (expected: a class compiled with -parameters)");
            }
            if (ParameterTypes.expected(member.getParameterizedType()) == null) {
                throw unusable("parameter \"" + member.getName() + "\" has type "
                        + member.getParameterizedType().getTypeName()
                        + " (expected: String, int, long, double, boolean, List, Map, Object, Request or Reply)");
            }
        }
        Class<?> result = method.getReturnType();
        boolean parts = result == List.class && ParameterTypes.isListOfParts(method.getGenericReturnType());
        if (result != void.class
                && result != String.class
                && !Part.class.isAssignableFrom(result)
                && !Map.class.isAssignableFrom(result)
                && !parts) {
            throw unusable("returns " + method.getGenericReturnType().getTypeName()
                    + " (expected: String, Part, List<Part>, Map or void)");
        }
        if (!method.trySetAccessible()) {
            throw unusable("is not accessible (expected: a package that is open to module dev.parley.engine)");
        }
    }

    private IllegalArgumentException unusable(String problem) {
        return new IllegalArgumentException(
                "skill method " + method.getDeclaringClass().getName() + "." + method.getName() + ": " + problem);
    }

    AgentCard.Skill card() {
        return card;
    }

    /** True if it gets members of a data part. */
    boolean readsData() {
        return !members.isEmpty();
    }

    /** Binds a message to the parameters. */
    @Nullable
    Object[] arguments(Request request, Reply reply) throws Unfit {
        Map<?, ?> data = readsData() ? data(request) : Map.of();
        @Nullable Object[] arguments = new Object[parameters.size()];
        for (int i = 0; i < arguments.length; i++) {
            Parameter parameter = parameters.get(i);
            if (parameter.getType() == Request.class) {
                arguments[i] = request;
            } else if (parameter.getType() == Reply.class) {
                arguments[i] = reply;
            } else if (readsText) {
                arguments[i] = text(parameter, request);
            } else {
                arguments[i] = member(parameter, data);
            }
        }
        return arguments;
    }

    private static String text(Parameter parameter, Request request) throws Unfit {
        if (request.parts().stream().noneMatch(Part.Text.class::isInstance)) {
            throw new Unfit(
                    "parameter \"" + parameter.getName() + "\": no text in the message (expected: a text part)");
        }
        return request.text();
    }

    private Map<?, ?> data(Request request) throws Unfit {
        List<Part.Data> parts = request.parts().stream()
                .filter(Part.Data.class::isInstance)
                .map(Part.Data.class::cast)
                .toList();
        if (parts.size() == 1 && parts.getFirst().data() instanceof Map<?, ?> data) {
            return data;
        }
        String names =
                String.join(", ", members.stream().map(Parameter::getName).toList());
        String value =
                parts.size() == 1 ? Unfit.shown(parts.getFirst().data()) : parts.size() + " data parts in the message";
        throw new Unfit("parameters of skill \"" + card.id() + "\": " + value
                + " (expected: one data part, an object with the members " + names + ")");
    }

    private static Object member(Parameter parameter, Map<?, ?> data) throws Unfit {
        String name = parameter.getName();
        Type type = parameter.getParameterizedType();
        if (!data.containsKey(name)) {
            throw new Unfit("parameter \"" + name + "\": missing (expected: " + ParameterTypes.expected(type) + ")");
        }
        Object value = data.get(name);
        Object converted = ParameterTypes.converted(type, value);
        if (converted == null) {
            throw new Unfit("parameter \"" + name + "\": " + Unfit.shown(value) + " (expected: "
                    + ParameterTypes.expected(type) + ")");
        }
        return converted;
    }

    /** Calls the method and answers with its result. */
    void call(@Nullable Object[] arguments, Reply reply) throws Exception {
        Object result;
        try {
            result = invocation.call(method, arguments);
        } catch (InvocationTargetException thrown) {
            switch (thrown.getCause()) {
                case Exception exception -> throw exception;
                case Error error -> throw error;
                case null, default -> throw thrown;
            }
        }
        switch (result) {
            case String text -> reply.complete(text);
            case Part part -> reply.complete(part);
            case List<?> parts when parts.isEmpty() -> reply.complete();
            case List<?> parts -> reply.complete(parts.toArray(Part[]::new));
            case Map<?, ?> data -> reply.complete(Part.data(data));
            case null, default -> ended(reply);
        }
    }

    private void ended(Reply reply) {
        if (method.getReturnType() != void.class) {
            throw new IllegalStateException("skill \"" + card.id() + "\": returned null");
        }
        if (!Arrays.asList(method.getParameterTypes()).contains(Reply.class)) {
            reply.complete();
        }
    }
}

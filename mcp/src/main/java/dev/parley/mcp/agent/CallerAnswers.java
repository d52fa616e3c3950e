package dev.parley.mcp.agent;

import dev.parley.mcp.InputResponse;
import dev.parley.mcp.client.Elicitation;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.Part;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Answers of a caller to open questions of a server. A message that refuses never accepts, a message that answers nothing is a problem, and
 * nothing is added to an answer except the defaults of the form. Source: MCP 2026-07-28, Elicitation.
 *
 * @param given answers by the keys of their questions; it may be some of them
 * @param problem of the message; null for none
 */
record CallerAnswers(
        Map<String, InputResponse> given, @Nullable String problem) {
    private static final String ACTION = "action";

    /** Texts that refuse, with their actions. */
    private static final Map<String, String> REFUSALS = Map.of(
            "decline", InputResponse.DECLINE,
            "declined", InputResponse.DECLINE,
            "cancel", InputResponse.CANCEL,
            "canceled", InputResponse.CANCEL,
            "cancelled", InputResponse.CANCEL);

    /** Texts that accept a question without content: to open an address, or a form without properties. */
    private static final Set<String> CONSENTS =
            Set.of("accept", "accepted", "agree", "agreed", "continue", "done", "ok", "opened", "y", "yes");

    /** Reads a message. */
    static CallerAnswers of(Map<String, Elicitation> open, String text, List<Part> parts) {
        List<Part.Data> data = parts.stream()
                .filter(Part.Data.class::isInstance)
                .map(Part.Data.class::cast)
                .toList();
        String refusal = refusal(open, text.strip());
        if (refusal != null) {
            return all(open, InputResponse.of(refusal));
        }
        if (data.isEmpty()) {
            return open.size() == 1 ? text(open, text.strip()) : unclear(open);
        }
        return data.size() == 1 && data.getFirst().data() instanceof Map<?, ?> members
                ? members(open, Trees.map(members))
                : unclear(open);
    }

    private static @Nullable String refusal(Map<String, Elicitation> open, String text) {
        boolean isValue = open.size() == 1
                && open.values().stream()
                        .anyMatch(question -> question.only()
                                .filter(property -> question.offers(property, text))
                                .isPresent());
        return isValue ? null : REFUSALS.get(text.toLowerCase(Locale.ROOT).replaceAll("[.!]+$", ""));
    }

    private static CallerAnswers text(Map<String, Elicitation> open, String text) {
        Map.Entry<String, Elicitation> only = open.entrySet().iterator().next();
        Elicitation question = only.getValue();
        boolean hasContent =
                !question.isUrl() && !Trees.map(question.schema(), "properties").isEmpty();
        Optional<InputResponse> answer = hasContent
                ? question.content(text).map(question::accept)
                : CONSENTS.contains(text.toLowerCase(Locale.ROOT))
                        ? Optional.of(accepted(question, Map.of()))
                        : Optional.empty();
        return answer.map(given -> new CallerAnswers(Map.of(only.getKey(), given), null))
                .orElseGet(() -> unclear(open));
    }

    private static InputResponse accepted(Elicitation question, Map<String, @Nullable Object> content) {
        return question.isUrl() ? InputResponse.of(InputResponse.ACCEPT) : question.accept(content);
    }

    private static CallerAnswers members(Map<String, Elicitation> open, Map<String, @Nullable Object> data) {
        boolean isNamed = data.get(Elicitation.DATA) instanceof Map<?, ?>
                && open.values().stream().noneMatch(question -> question.has(Elicitation.DATA));
        if (isNamed) {
            Map<String, @Nullable Object> named = Trees.map(data, Elicitation.DATA);
            return named.get(ACTION) instanceof String action && named.size() == 1 && isRefusal(action)
                    ? all(open, InputResponse.of(action.toLowerCase(Locale.ROOT)))
                    : keyed(open, named, CallerAnswers::explicit);
        }
        if (open.size() > 1) {
            return keyed(open, data, CallerAnswers::answer);
        }
        String key = open.keySet().iterator().next();
        boolean isKeyed = data.size() == 1
                && data.get(key) instanceof Map<?, ?>
                && !open.values().iterator().next().has(key);
        return keyed(open, isKeyed ? data : Map.of(key, data), CallerAnswers::answer);
    }

    private static CallerAnswers keyed(
            Map<String, Elicitation> open,
            Map<String, @Nullable Object> data,
            BiFunction<Elicitation, Map<String, @Nullable Object>, Optional<InputResponse>> reading) {
        var given = new LinkedHashMap<String, InputResponse>();
        for (var each : data.entrySet()) {
            Elicitation question = open.get(each.getKey());
            if (question == null || !(each.getValue() instanceof Map<?, ?> members)) {
                return unclear(open);
            }
            Optional<InputResponse> answer = reading.apply(question, Trees.map(members));
            Optional<String> problem = answer.isEmpty() ? Optional.of(expected(open)) : question.problem(answer.get());
            if (problem.isPresent()) {
                return new CallerAnswers(Map.of(), problem.get());
            }
            given.put(each.getKey(), answer.orElseThrow());
        }
        return given.isEmpty() ? unclear(open) : new CallerAnswers(given, null);
    }

    /** An answer with an action, or the members of the form; empty for neither. */
    private static Optional<InputResponse> answer(Elicitation question, Map<String, @Nullable Object> members) {
        Object action = members.get(ACTION);
        boolean isRefusal = members.size() == 1
                && action instanceof String text
                && isRefusal(text)
                && !question.offers(ACTION, action);
        return isRefusal || question.isUrl() || members.containsKey(ACTION) && !question.has(ACTION)
                ? explicit(question, members)
                : Optional.of(question.accept(members));
    }

    /** An answer with an action; empty for none. */
    private static Optional<InputResponse> explicit(Elicitation question, Map<String, @Nullable Object> members) {
        if (!(members.get(ACTION) instanceof String text)) {
            return Optional.empty();
        }
        String action = text.toLowerCase(Locale.ROOT);
        boolean isPlain = members.size() == 1 || members.size() == 2 && members.get("content") instanceof Map<?, ?>;
        return action.equals(InputResponse.ACCEPT)
                ? isPlain ? Optional.of(accepted(question, Trees.map(members, "content"))) : Optional.empty()
                : Optional.of(InputResponse.of(action));
    }

    private static boolean isRefusal(String action) {
        return InputResponse.of(action.toLowerCase(Locale.ROOT)).isRefusal();
    }

    private static CallerAnswers all(Map<String, Elicitation> open, InputResponse answer) {
        var given = new LinkedHashMap<String, InputResponse>();
        open.keySet().forEach(key -> given.put(key, answer));
        return new CallerAnswers(given, null);
    }

    private static CallerAnswers unclear(Map<String, Elicitation> open) {
        return new CallerAnswers(Map.of(), expected(open));
    }

    private static String expected(Map<String, Elicitation> open) {
        String problem = "the answer fits no question (expected: ";
        if (open.size() > 1) {
            return problem + "a data part with an answer for each of " + open.keySet()
                    + ": the members of its form, or {\"action\": \"decline\"} or {\"action\": \"cancel\"})";
        }
        Elicitation question = open.values().iterator().next();
        Set<String> properties = Trees.map(question.schema(), "properties").keySet();
        return problem
                + (question.isUrl() || properties.isEmpty()
                        ? "accept, decline or cancel)"
                        : "a data part with the members " + properties + " of the form, or decline or cancel)");
    }
}

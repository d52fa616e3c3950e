package dev.parley.mesh.workflow;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Agent that was chosen for an attempt of a step, with the reasons.
 *
 * @param task the skill
 * @param reasons numbers of the score
 * @param others agents that would do, too, the best first
 */
record Choice(
        String agent,
        String task,
        int attempt,
        Object score,
        Map<String, @Nullable Object> reasons,
        List<String> others) {
    /** Beginning of the members of a run's metadata that keep choices; the id of the step stands after it. */
    static final String KEY = "one/choice/";

    Map<String, @Nullable Object> record() {
        var record = new LinkedHashMap<String, @Nullable Object>();
        record.put("agent", agent);
        record.put("task", task);
        record.put("attempt", attempt);
        record.put("score", score);
        record.put("reasons", reasons);
        record.put("others", others);
        return record;
    }

    /** The choices of a run, by steps, of the metadata of its task. */
    static Map<String, Choice> of(Map<String, @Nullable Object> metadata) {
        var choices = new LinkedHashMap<String, Choice>();
        metadata.forEach((key, value) -> {
            if (key.startsWith(KEY) && value instanceof Map<?, ?> record) {
                choices.put(key.substring(KEY.length()), read(record));
            }
        });
        return choices;
    }

    private static Choice read(Map<?, ?> record) {
        var reasons = new LinkedHashMap<String, @Nullable Object>();
        if (record.get("reasons") instanceof Map<?, ?> kept) {
            kept.forEach((name, value) -> reasons.put(String.valueOf(name), value));
        }
        List<String> others = record.get("others") instanceof List<?> kept
                ? kept.stream().map(String::valueOf).toList()
                : List.of();
        return new Choice(
                String.valueOf(record.get("agent")),
                String.valueOf(record.get("task")),
                record.get("attempt") instanceof Number attempt ? attempt.intValue() : 1,
                record.get("score") instanceof Number score ? score : 0,
                reasons,
                others);
    }
}

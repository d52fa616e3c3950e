package dev.parley.pipelines.research;

import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A source as text.
 *
 * @param number in citations, from 1
 * @param address of the page, or name of the file
 */
record Source(int number, String title, String address, List<String> paragraphs) {
    Map<String, @Nullable Object> json() {
        var json = new LinkedHashMap<String, @Nullable Object>();
        json.put("number", number);
        json.put("title", title);
        json.put("address", address);
        json.put("paragraphs", paragraphs);
        return json;
    }

    static List<Source> all(Map<String, @Nullable Object> json) {
        return StepInput.array(json.get("documents")).stream()
                .map(StepInput::object)
                .map(Source::of)
                .toList();
    }

    private static Source of(Map<String, @Nullable Object> json) {
        if (!(json.get("number") instanceof Number number)) {
            throw new Unusable("documents: one has no number (expected: the result of research-extract)");
        }
        return new Source(
                number.intValue(),
                String.valueOf(json.get("title")),
                String.valueOf(json.get("address")),
                StepInput.array(json.get("paragraphs")).stream()
                        .map(String::valueOf)
                        .toList());
    }
}

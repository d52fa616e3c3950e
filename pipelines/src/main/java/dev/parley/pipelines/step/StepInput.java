package dev.parley.pipelines.step;

import dev.parley.engine.Request;
import dev.parley.protocol.Part;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Input of an agent of a pipeline: the parameters of the step, the results of the steps before it, and files.
 *
 * @param parameters without the inputs
 * @param inputs results by the ids of their steps
 * @param files files of the message
 */
public record StepInput(
        Map<String, @Nullable Object> parameters, Map<String, @Nullable Object> inputs, List<Request.File> files) {

    /** Input that an agent cannot work with. Its message is for the caller. */
    public static final class Unusable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Unusable(String message) {
            super(message);
        }
    }

    /** Reads the first data part of a message: {@code {task, parameters}} of a delegation, or the parameters themselves. */
    public static StepInput of(Request request) {
        Map<String, @Nullable Object> data = request.parts().stream()
                .filter(Part.Data.class::isInstance)
                .map(part -> object(((Part.Data) part).data()))
                .findFirst()
                .orElse(Map.of());
        var parameters = new LinkedHashMap<>(data.get("parameters") instanceof Map<?, ?> inner ? object(inner) : data);
        Map<String, @Nullable Object> inputs = object(parameters.remove("inputs"));
        return new StepInput(parameters, inputs, request.files());
    }

    /** A value as a JSON object; empty if it is not one. */
    @SuppressWarnings("unchecked") // members of JSON objects have names that are texts
    public static Map<String, @Nullable Object> object(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
    }

    /** A value as a JSON array; empty if it is not one. */
    @SuppressWarnings("unchecked") // elements of JSON arrays are of any type
    public static List<@Nullable Object> array(@Nullable Object value) {
        return value instanceof List<?> list ? (List<@Nullable Object>) list : List.of();
    }

    /** The first JSON object with a member among the results of the steps before, else among the parameters. */
    public Optional<Map<String, @Nullable Object>> find(String member) {
        var candidates = new ArrayList<@Nullable Object>();
        inputs.values().forEach(value -> {
            candidates.add(value);
            candidates.addAll(array(value));
        });
        candidates.add(parameters);
        return candidates.stream()
                .map(StepInput::object)
                .filter(object -> object.containsKey(member))
                .findFirst();
    }

    /** A member of one of the results before, which the step cannot do without. */
    public Map<String, @Nullable Object> require(String member, String from) {
        return find(member)
                .orElseThrow(() -> new Unusable(
                        "inputs: no \"" + member + "\" (expected: the result of " + from + ", or a parameter)"));
    }

    /** A parameter that is a text. */
    public Optional<String> text(String name) {
        Object value = parameters.get(name);
        if (value == null) {
            return Optional.empty();
        }
        if (value instanceof String text) {
            return Optional.of(text);
        }
        throw new Unusable("parameters." + name + ": " + value + " (expected: a text)");
    }

    /** The bytes of all files by their names: those of the message, and those among the results before. */
    public Map<String, byte[]> bytes() {
        var bytes = new LinkedHashMap<String, byte[]>();
        for (Request.File file : files) {
            if (file.name() != null && file.bytes() != null) {
                bytes.put(file.name(), file.bytes());
            }
        }
        inputs.values().forEach(value -> {
            file(value, bytes);
            array(value).forEach(element -> file(element, bytes));
        });
        return bytes;
    }

    private static void file(@Nullable Object value, Map<String, byte[]> bytes) {
        Map<String, @Nullable Object> object = object(value);
        if (object.get("raw") instanceof String base64 && object.get("filename") instanceof String name) {
            try {
                bytes.put(name, Base64.getDecoder().decode(base64));
            } catch (IllegalArgumentException malformed) {
                throw new Unusable("inputs: the file \"" + name + "\" is no base64");
            }
        }
    }
}

package dev.parley.protocol.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads documents of other programs leniently: a value that does not fit is left out, with the smallest element around it that is
 * nothing without it, and the rest is kept. Servers read strictly, by {@link JsonText}.
 */
public final class DocumentMender {
    private static final int MOST_BLEMISHES = 32;
    /** Each blemish makes the document be read once more, so a large one may have few. */
    private static final int MOST_BYTES = 64 * 1024 * 1024;

    private static final Pattern STEP = Pattern.compile("\\[(\\d+)]|([^.\\[\\]]+)");

    /** Elements that are the document itself, which is nothing without them. */
    private static final Set<String> WHOLE = Set.of(
            "result", "task", "message", "msg", "statusUpdate", "artifactUpdate", "status_update", "artifact_update");

    /** Ids that concern the reader only; a document without them is given some. */
    private static final Set<String> IDS = Set.of("artifactId", "messageId");

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private DocumentMender() {}

    /** Returns a document without the byte order mark that some programs write. */
    public static byte[] unmarked(byte[] json) {
        return json.length >= 3 && Arrays.equals(json, 0, 3, BYTE_ORDER_MARK, 0, 3)
                ? Arrays.copyOfRange(json, 3, json.length)
                : json;
    }

    /**
     * Returns a document as valid JSON, without a byte order mark: with U+FFFD for unpaired surrogates and for bytes that are not UTF-8,
     * and null for NaN and Infinity.
     *
     * @param blemishes receives a description of each replacement
     */
    public static byte[] legal(byte[] json, Consumer<String> blemishes) {
        byte[] text = unmarked(json);
        if (!Utf8.isValid(text)) {
            blemishes.accept("bytes that are no UTF-8, read as U+FFFD");
            text = new String(text, UTF_8).getBytes(UTF_8);
        }
        if (text.length == 0 || text[0] != '{' && text[0] != '[') {
            return text;
        }
        var replaced = new LegalText(text);
        byte[] legal = replaced.bytes();
        if (replaced.hasHalves()) {
            blemishes.accept("half of a surrogate pair, read as U+FFFD");
        }
        if (replaced.hasNoNumbers()) {
            blemishes.accept("NaN or Infinity, read as null");
        }
        return legal;
    }

    /**
     * Reads a document that does not fit as it is.
     *
     * @param fault why it does not
     * @param blemishes gets the place and the problem of each value that is left out
     * @throws A2AException {@code fault} if the rest does not fit either, or it is not a JSON object
     */
    public static <T> T read(byte[] json, Function<byte[], T> reader, A2AException fault, Consumer<String> blemishes) {
        Map<String, @Nullable Object> tree;
        try {
            tree = object(JsonText.read(json, Codecs.STRUCT));
        } catch (A2AException noObject) {
            throw fault;
        }
        var left = new ArrayList<String>();
        A2AException next = fault;
        int most = Math.max(1, Math.min(MOST_BLEMISHES, MOST_BYTES / Math.max(1, json.length)));
        while (left.size() < most) {
            A2AException.Violation violation =
                    next.violations().isEmpty() ? null : next.violations().getFirst();
            if (next.error() != A2AError.INVALID_PARAMS
                    || violation == null
                    || !leaveOut(tree, violation.field(), left.size())) {
                throw fault;
            }
            left.add(violation.field() + ": " + violation.description());
            try {
                T value = reader.apply(JsonText.write(Codecs.FREE, tree));
                left.forEach(blemishes);
                return value;
            } catch (A2AException other) {
                next = other;
            }
        }
        throw fault;
    }

    /** Leaves out the value at a path, or what is nothing without the value that is missing there; false if that is the whole. */
    private static boolean leaveOut(Map<String, @Nullable Object> tree, String path, int number) {
        List<Object> steps = steps(path);
        Object parent = tree;
        for (int i = 0; i < steps.size(); i++) {
            Object child = at(parent, steps.get(i));
            boolean last = i == steps.size() - 1;
            if (child == null && !has(parent, steps.get(i))) {
                if (last && steps.get(i) instanceof String name && IDS.contains(name) && parent instanceof Map<?, ?>) {
                    put(parent, name, "unnamed-" + (number + 1));
                    return true;
                }
                return last && i > 0 && remove(tree, steps.subList(0, i));
            }
            if (last) {
                return remove(tree, steps);
            }
            parent = child;
        }
        return false;
    }

    private static boolean remove(Map<String, @Nullable Object> tree, List<Object> steps) {
        if (steps.getLast() instanceof String name
                && WHOLE.contains(name)
                && steps.subList(0, steps.size() - 1).stream().allMatch("result"::equals)) {
            return false;
        }
        Object parent = tree;
        for (Object step : steps.subList(0, steps.size() - 1)) {
            parent = at(parent, step);
        }
        if (parent instanceof Map<?, ?> members && steps.getLast() instanceof String name) {
            members.remove(name);
        } else if (parent instanceof List<?> elements && steps.getLast() instanceof Integer index) {
            elements.remove(index.intValue());
        }
        return true;
    }

    private static List<Object> steps(String path) {
        var steps = new ArrayList<Object>();
        Matcher step = STEP.matcher(path);
        while (step.find()) {
            steps.add(step.group(1) == null ? step.group(2) : Integer.valueOf(step.group(1)));
        }
        return steps;
    }

    private static boolean has(@Nullable Object parent, Object step) {
        return switch (parent) {
            case Map<?, ?> members when step instanceof String name -> members.containsKey(name);
            case List<?> elements when step instanceof Integer index -> index < elements.size();
            case null, default -> false;
        };
    }

    private static @Nullable Object at(@Nullable Object parent, Object step) {
        return switch (parent) {
            case Map<?, ?> members when step instanceof String name -> members.get(name);
            case List<?> elements when step instanceof Integer index && index < elements.size() -> elements.get(index);
            case null, default -> null;
        };
    }

    @SuppressWarnings("unchecked") // a tree of this class
    private static void put(Object members, String name, String value) {
        ((Map<String, @Nullable Object>) members).put(name, value);
    }

    private static Map<String, @Nullable Object> object(Map<?, ?> members) {
        var copy = new LinkedHashMap<String, @Nullable Object>();
        members.forEach((name, value) -> copy.put(String.valueOf(name), changeable(value)));
        return copy;
    }

    private static @Nullable Object changeable(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> members -> object(members);
            case List<?> elements -> {
                var copy = new ArrayList<@Nullable Object>();
                elements.forEach(element -> copy.add(changeable(element)));
                yield copy;
            }
            case null, default -> value;
        };
    }
}

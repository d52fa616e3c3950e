package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.TEXT_OR_TEXTS;
import static dev.parley.protocol.json.Codecs.TRUTH;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.ObjectCodec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Conditions of a list of entries; empty ones hold always. Values of one condition are alternatives, apart from tags and skills: all are
 * needed.
 *
 * @param fields values by names of fields: those of {@link #FIELDS}, {@code metadata.NAME}, and within a registry {@code id}, {@code name}
 *     (in lower case), {@code version}, {@code ability} (capability or id of a skill), {@code createdAfter} and {@code updatedAfter} (a
 *     time)
 * @param hidden also entries that are deleted, expired or revoked
 */
public record EntryFilter(List<String> skills, List<String> tags, Map<String, List<String>> fields, boolean hidden) {
    public static final EntryFilter NONE = new EntryFilter(List.of(), List.of(), Map.of(), false);

    /** Largest page of a list. */
    public static final int MAX_PAGE = 500;

    /** Names of the fields of a filter that are parameters by themselves. */
    public static final List<String> FIELDS = List.of(
            "type",
            "provider",
            "capability",
            "binding",
            "dialect",
            "scheme",
            "health",
            "trust",
            "tee",
            "owner",
            "group",
            "publisher",
            "status",
            "humanId");

    private static final String METADATA = "metadata.";

    /** Begins the shape of a request that has the members of a filter, which {@link #read} reads. */
    static <T> ObjectCodec.Builder<T> shape(Function<T, EntryFilter> of) {
        ObjectCodec.Builder<T> shape = ObjectCodec.<T>of()
                .optional(
                        "skill",
                        TEXT_OR_TEXTS,
                        List.of(),
                        request -> of.apply(request).skills())
                .help("SKILL", "Id of a skill; repeated ones are all needed.")
                .optional(
                        "tag",
                        TEXT_OR_TEXTS,
                        List.of(),
                        request -> of.apply(request).tags())
                .help("TAG", "Tag; repeated ones are all needed.");
        for (String field : FIELDS) {
            shape.optional(
                            field,
                            TEXT_OR_TEXTS,
                            List.of(),
                            request -> of.apply(request).fields().getOrDefault(field, List.of()))
                    .help("VALUE", "Value of this field; repeated ones are alternatives.");
        }
        return shape.optional(
                        "metadata",
                        TEXT_OR_TEXTS,
                        List.of(),
                        request -> of.apply(request).metadata())
                .help("NAME=VALUE", "Value of a further member.")
                .optional("hidden", TRUTH, false, request -> of.apply(request).hidden())
                .help("", "Also entries that are deleted, expired or revoked.");
    }

    static EntryFilter read(ObjectCodec.Values v) {
        List<String> skills = v.next();
        List<String> tags = v.next();
        var fields = new LinkedHashMap<String, List<String>>();
        for (String field : FIELDS) {
            List<String> values = v.next();
            if (!values.isEmpty()) {
                fields.put(field, values);
            }
        }
        for (String pair : v.<List<String>>next()) {
            int equals = pair.indexOf('=');
            if (equals < 1) {
                throw InvalidField.of("metadata", pair + " (expected: NAME=VALUE)");
            }
            fields.computeIfAbsent(METADATA + pair.substring(0, equals), name -> new ArrayList<>())
                    .add(pair.substring(equals + 1));
        }
        return new EntryFilter(skills, tags, fields, v.<Boolean>next());
    }

    /** @throws IllegalArgumentException for a field that requests do not have */
    private List<String> metadata() {
        fields.keySet().stream()
                .filter(field -> !FIELDS.contains(field) && !field.startsWith(METADATA))
                .findFirst()
                .ifPresent(field -> {
                    throw new IllegalArgumentException(
                            "field " + field + " (expected: one of " + FIELDS + ", or " + METADATA + "NAME)");
                });
        return fields.entrySet().stream()
                .filter(field -> field.getKey().startsWith(METADATA))
                .flatMap(field -> field.getValue().stream()
                        .map(value -> field.getKey().substring(METADATA.length()) + "=" + value))
                .toList();
    }
}

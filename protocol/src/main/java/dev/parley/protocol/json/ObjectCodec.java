package dev.parley.protocol.json;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.extension.RestParameter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.io.SerializedString;

/**
 * An object of the model as JSON: its members in order, each named once for reading and writing.
 *
 * <p>Unknown members are ignored unless the shape keeps them, null is absent, names may also come in
 * snake_case. Reading costs one array and one hash lookup per member; this is the inner loop of everything that travels.
 */
public final class ObjectCodec<T> implements Codec<T> {
    private enum Presence {
        REQUIRED,
        OPTIONAL,
        ALWAYS,
        /** Understood, and never written. */
        READ_ONLY
    }

    /** Treatment of members that the shape does not have. */
    private enum Unknown {
        IGNORED,
        REFUSED,
        /** Refused, but for those that any request of A2A may have. */
        REFUSED_IN_REQUESTS
    }

    /**
     * Appearance of a member in commands and documents.
     *
     * @param flag empty for an argument
     * @param fromNow whether a duration stands for a time from now on, and not before now
     */
    private record Help(String label, String flag, String description, RestParameter.Place place, boolean fromNow) {}

    private record Member<T>(
            String name,
            SerializedString label,
            Codec<Object> codec,
            Function<T, @Nullable Object> of,
            Presence presence,
            @Nullable Object absent,
            @Nullable Help help) {
        <U> Member<U> from(Function<U, @Nullable Object> other) {
            return new Member<>(name, label, codec, other, presence, absent, help);
        }

        Member<T> with(Help other) {
            return new Member<>(name, label, codec, of, presence, absent, other);
        }

        /** The schema of the member, with its description. */
        Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
            Map<String, Object> schema = others.apply(codec);
            if (help == null) {
                return schema;
            }
            var described = new LinkedHashMap<>(schema);
            described.put("description", help.description);
            return described;
        }

        RestParameter parameter() {
            if (help == null) {
                throw new IllegalStateException("member " + name + " (expected: with its help)");
            }
            Map<String, Object> schema = codec.schema();
            RestParameter.Type type = help.fromNow ? RestParameter.Type.EXPIRY : RestParameter.typeOf(schema);
            return new RestParameter(
                    name,
                    help.place,
                    type,
                    presence == Presence.REQUIRED,
                    help.description,
                    help.label,
                    help.flag,
                    schema);
        }

        /** True if a document may spell the name in camelCase and in snake_case. */
        boolean isSpeltTwoWays() {
            return !snakeCase(name).equals(name);
        }

        boolean isDescribed() {
            return presence != Presence.READ_ONLY && !name.isEmpty();
        }

        boolean isWritten(Object value) {
            return presence != Presence.OPTIONAL || !value.equals(absent);
        }
    }

    /**
     * Place of unknown members.
     *
     * @param slot which member takes them
     * @param of those that a value has
     * @param foreign names that are known elsewhere, and mean nothing here
     */
    private record Others<T>(int slot, Function<T, Map<String, @Nullable Object>> of, Set<String> foreign) {
        <U> Others<U> from(Function<U, T> unwrap) {
            return new Others<>(slot, value -> of.apply(unwrap.apply(value)), foreign);
        }
    }

    /** Member of metadata that keeps the unknown members beside them. */
    static final String OTHERS = "a2a_others";

    /** The members that were read, in the order in which they were declared. */
    public static final class Values {
        private final @Nullable Object[] values;
        private int next;

        private Values(@Nullable Object[] values) {
            this.values = values;
        }

        /** These, after the next one, which says nothing that is not known. */
        public Values skip() {
            next++;
            return this;
        }

        /** The next member; of the type of its codec, and null only if it is optional and has no default. */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals", "NullAway"
        }) // by the declaration beside the call
        public <V> V next() {
            return (V) values[next++];
        }
    }

    private final Member<T>[] members;
    private final Map<String, Integer> indexes;
    private final Function<Values, T> constructor;
    private final @Nullable Others<T> others;
    private final Unknown unknown;
    private final @Nullable String name;
    /** The member that is the body itself over REST; -1 for none. */
    private final int wholeBody;

    private ObjectCodec(Builder<T> builder, Function<Values, T> constructor) {
        @SuppressWarnings({"unchecked", "rawtypes"}) // arrays know no generics
        Member<T>[] array = builder.members.toArray(new Member[0]);
        this.members = array;
        this.constructor = constructor;
        this.others = builder.others;
        this.unknown = builder.unknown;
        this.name = builder.name;
        int whole = -1;
        this.indexes = new HashMap<>();
        for (int i = 0; i < members.length; i++) {
            Help help = members[i].help;
            whole = help != null && help.place == RestParameter.Place.BODY ? i : whole;
            if (!members[i].name.isEmpty()) { // unknown members have no name of their own
                indexes.put(members[i].name, i);
                indexes.put(snakeCase(members[i].name), i);
            }
        }
        this.wholeBody = whole;
    }

    /** Begins a shape. */
    public static <T> Builder<T> of() {
        return new Builder<>();
    }

    /** The shape of a list that is the only member of an object. */
    public static <E> ObjectCodec<List<E>> list(String name, Codec<E> element) {
        return ObjectCodec.<List<E>>of()
                .required(name, Codecs.list(element), all -> all)
                .as(Values::next);
    }

    /** A shape whose members are written in snake_case. */
    public static <T> Builder<T> inSnakeCase() {
        var builder = new Builder<T>();
        builder.snakeCase = true;
        return builder;
    }

    /** Collects the members of a shape. */
    public static final class Builder<T> {
        private final List<Member<T>> members = new ArrayList<>();
        private boolean snakeCase;
        private Unknown unknown = Unknown.IGNORED;
        private @Nullable String name;
        private @Nullable Others<T> others;

        private Builder() {}

        /** A member that must be there. */
        public <V> Builder<T> required(String name, Codec<V> codec, Function<T, V> of) {
            return add(name, codec, of, Presence.REQUIRED, null);
        }

        /** A member that is null when absent. */
        public <V> Builder<T> optional(String name, Codec<V> codec, Function<T, @Nullable V> of) {
            return add(name, codec, of, Presence.OPTIONAL, null);
        }

        /** A member that is not written when it equals {@code absent}, and has that value when it is not there. */
        public <V> Builder<T> optional(String name, Codec<V> codec, V absent, Function<T, V> of) {
            return add(name, codec, of, Presence.OPTIONAL, absent);
        }

        /** A member that is always written, and has the value {@code absent} when it is not there. */
        public <V> Builder<T> always(String name, Codec<V> codec, V absent, Function<T, V> of) {
            return add(name, codec, of, Presence.ALWAYS, absent);
        }

        /** A member that is understood, but never written. */
        public <V> Builder<T> readOnly(String name, Codec<V> codec) {
            return add(name, codec, value -> null, Presence.READ_ONLY, null);
        }

        /**
         * Describes the last member: an option {@code --name} in command lines.
         *
         * @param label what stands for the value, such as {@code GROUP}; empty for a truth value
         */
        public Builder<T> help(String label, String description) {
            Member<T> last = members.getLast();
            return help(new Help(label, "--" + last.name, description, RestParameter.Place.MEMBER, false));
        }

        /** Describes the last member: an argument in command lines. */
        public Builder<T> argument(String label, String description) {
            return help(new Help(label, "", description, RestParameter.Place.MEMBER, false));
        }

        /** Gives the last member, which is described, another flag in command lines. */
        public Builder<T> flag(String other) {
            Help help = help();
            return help(new Help(help.label, other, help.description, help.place, help.fromNow));
        }

        /** Puts the last member, which is described, into the query of requests that have a body. */
        public Builder<T> inQuery() {
            Help help = help();
            return help(new Help(help.label, help.flag, help.description, RestParameter.Place.QUERY, help.fromNow));
        }

        /** Makes the last member, which is described, the body itself of requests over REST; all others are in the path or the query. */
        public Builder<T> asBody() {
            Help help = help();
            return help(new Help(help.label, help.flag, help.description, RestParameter.Place.BODY, help.fromNow));
        }

        /** Lets a duration in command lines stand for a time from now on for the last member, which is described; else it goes back. */
        public Builder<T> fromNow() {
            Help help = help();
            return help(new Help(help.label, help.flag, help.description, help.place, true));
        }

        private Help help() {
            return requireNonNull(members.getLast().help, "help");
        }

        private Builder<T> help(Help help) {
            members.set(members.size() - 1, members.getLast().with(help));
            return this;
        }

        /**
         * The member {@code metadata}, which also keeps unknown members, for writing this shape again.
         *
         * @param foreign those that are not meant, because another form of the same thing has them
         */
        public Builder<T> metadata(Function<T, Map<String, @Nullable Object>> of, String... foreign) {
            others = new Others<>(members.size(), value -> kept(of.apply(value)), Set.of(foreign));
            return optional("metadata", Codecs.STRUCT, Map.of(), value -> withoutKept(of.apply(value)));
        }

        /**
         * All unknown members, as a map.
         *
         * @param foreign as for {@link #metadata}
         */
        public Builder<T> others(Function<T, Map<String, @Nullable Object>> of, Set<String> foreign) {
            others = new Others<>(members.size(), of, foreign);
            return add("", Codecs.STRUCT, value -> null, Presence.OPTIONAL, Map.of());
        }

        private <V> Builder<T> add(
                String name,
                Codec<V> codec,
                Function<T, ? extends @Nullable V> of,
                Presence presence,
                @Nullable Object absent) {
            @SuppressWarnings("unchecked") // a member's codec meets only that member's values
            var same = (Codec<Object>) codec;
            var label = new SerializedString(snakeCase ? snakeCase(name) : name);
            members.add(new Member<>(name, label, same, of::apply, presence, absent, null));
            return this;
        }

        /** Names the objects in documents such as OpenAPI, which describe them once; without a name they are described at each place. */
        public Builder<T> named(String name) {
            this.name = name;
            return this;
        }

        /** Finishes the shape; {@code constructor} takes each of the values once, in the order declared. */
        public ObjectCodec<T> as(Function<Values, T> constructor) {
            return new ObjectCodec<>(this, constructor);
        }
    }

    @SuppressWarnings("unchecked") // trees of JSON
    private static Map<String, @Nullable Object> kept(Map<String, @Nullable Object> metadata) {
        return metadata.get(OTHERS) instanceof Map<?, ?> kept ? (Map<String, @Nullable Object>) kept : Map.of();
    }

    private static Map<String, @Nullable Object> withoutKept(Map<String, @Nullable Object> metadata) {
        if (!(metadata.get(OTHERS) instanceof Map)) {
            return metadata;
        }
        var without = new LinkedHashMap<>(metadata);
        without.remove(OTHERS);
        return without;
    }

    /** This shape for a value that holds nothing but a {@code T}. */
    public <U> ObjectCodec<U> around(Function<T, U> wrap, Function<U, T> unwrap) {
        var builder = new Builder<U>();
        for (Member<T> one : members) {
            builder.members.add(one.from(value -> one.of.apply(unwrap.apply(value))));
        }
        builder.others = others == null ? null : others.from(unwrap);
        return builder.as(values -> wrap.apply(constructor.apply(values)));
    }

    /** Returns this shape without some of its members, only for writing. */
    public ObjectCodec<T> without(Set<String> names) {
        var builder = new Builder<T>();
        for (Member<T> one : members) {
            builder.members.add(names.contains(one.name) ? one.from(value -> null) : one);
        }
        builder.others = others;
        return builder.as(constructor);
    }

    /** This shape for documents that people write: unknown members are rejected, with their place and the known ones. */
    public ObjectCodec<T> closed() {
        return with(Unknown.REFUSED);
    }

    /** This shape for requests: as {@link #closed}, but with the members that any request of A2A may have. */
    public ObjectCodec<T> strict() {
        return with(Unknown.REFUSED_IN_REQUESTS);
    }

    private ObjectCodec<T> with(Unknown other) {
        var builder = new Builder<T>();
        builder.members.addAll(List.of(members));
        builder.others = others;
        builder.unknown = other;
        return builder.as(constructor);
    }

    /** Returns this shape with another value for a member that has none, only for writing. */
    public ObjectCodec<T> orElse(String name, Object instead) {
        var builder = new Builder<T>();
        for (Member<T> one : members) {
            builder.members.add(
                    one.name.equals(name) ? one.from(value -> requireNonNullElse(one.of.apply(value), instead)) : one);
        }
        builder.others = others;
        return builder.as(constructor);
    }

    /** Name of the objects in documents such as OpenAPI; null for none. */
    public @Nullable String name() {
        return name;
    }

    @Override
    public String expected() {
        return "an object";
    }

    @Override
    public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
        return schema(Set.of(), others);
    }

    /** {@link #schema} without some members. */
    public Map<String, Object> schema(Set<String> without, Function<Codec<?>, Map<String, Object>> others) {
        var schema = new LinkedHashMap<String, Object>();
        schema.put("type", "object");
        var properties = new LinkedHashMap<String, Object>();
        var required = new ArrayList<String>();
        for (Member<T> one : members) {
            if (one.isDescribed() && !without.contains(one.name)) {
                properties.put(one.name, one.schema(others));
                if (one.presence == Presence.REQUIRED) {
                    required.add(one.name);
                }
            }
        }
        schema.put("properties", properties);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        return schema;
    }

    @Override
    public List<RestParameter> parameters() {
        return Stream.of(members)
                .filter(Member::isDescribed)
                .map(Member::parameter)
                .toList();
    }

    /** Schemas of the members by their names, such as they may stand in a query. */
    public Map<String, Map<String, Object>> memberSchemas(Function<Codec<?>, Map<String, Object>> others) {
        var schemas = new LinkedHashMap<String, Map<String, Object>>();
        for (Member<T> one : members) {
            if (one.isDescribed()) {
                schemas.put(one.name, one.schema(others));
            }
        }
        return schemas;
    }

    @Override
    public T read(JsonParser in) {
        @Nullable Object[] values = new @Nullable Object[members.length];
        readMembers(in, values);
        return make(in, values);
    }

    /**
     * Reads an object whose members stand in the path, in the query, or in a body if there is one.
     *
     * @throws A2AException INVALID_PARAMS also if the body contradicts the path
     */
    public T read(@Nullable JsonParser body, Map<String, String> path, Map<String, List<String>> query) {
        @Nullable Object[] values = new @Nullable Object[members.length];
        if (body != null && wholeBody >= 0) {
            values[wholeBody] = members[wholeBody].codec.read(body);
        } else if (body != null) {
            readMembers(body, values);
        }
        var inQuery = new HashSet<Integer>();
        query.forEach((name, given) -> {
            Integer index = indexes.get(name);
            if (index == null) {
                if (isOfRequests() && !isOfA2a(name)) {
                    throw A2AException.invalidParams(name, unknown());
                }
            } else if (!given.isEmpty() && (isOfRequests() || !given.getFirst().isEmpty())) {
                if (!inQuery.add(index)) {
                    throw twice(null, members[index].name);
                }
                values[index] = members[index].codec.parse(given, name);
            }
        });
        path.forEach((name, given) -> {
            int index = requireNonNull(indexes.get(name));
            Object value = members[index].codec.parse(given, name);
            if (values[index] != null && !values[index].equals(value)) {
                throw A2AException.invalidParams(name, values[index] + " (expected: " + given + ", as in the path)");
            }
            values[index] = value;
        });
        return make(body, values);
    }

    private void readMembers(JsonParser in, @Nullable Object[] values) {
        FieldPath.require(in, JsonToken.START_OBJECT, expected());
        Map<String, @Nullable Object> kept = Map.of();
        for (String name = in.nextName(); name != null; name = in.nextName()) {
            JsonToken token = in.nextToken();
            Integer index = indexes.get(name);
            if (index == null) {
                if (unknown == Unknown.REFUSED || unknown == Unknown.REFUSED_IN_REQUESTS && !isOfA2a(name)) {
                    throw FieldPath.fault(in, "", unknown());
                }
                if (others == null || token == JsonToken.VALUE_NULL || others.foreign.contains(name)) {
                    in.skipChildren();
                } else {
                    kept = kept.isEmpty() ? new LinkedHashMap<>() : kept;
                    kept.put(name, Codecs.FREE.read(in));
                }
                continue;
            }
            Codec<Object> codec = members[index].codec;
            if (token == JsonToken.VALUE_NULL && !codec.readsNull()) {
                continue;
            }
            Object before = values[index];
            values[index] = codec.read(in);
            if (before != null && !(name.equals(RepeatedKinds.KIND) && before.equals(values[index]))) {
                throw members[index].isSpeltTwoWays() ? twice(in, members[index].name) : FieldPath.duplicate(in);
            }
        }
        if (others != null && !kept.isEmpty()) {
            keep(others.slot, kept, values);
        }
    }

    /** The fault of a member that its object has already, maybe in the other spelling. */
    private static A2AException twice(@Nullable JsonParser in, String name) {
        return FieldPath.fault(in, "", "given twice (expected: once, as " + name + " or " + snakeCase(name) + ")");
    }

    /** True for a shape that takes what a request says as it is: an empty text in a query is a value, and not a member left out. */
    private boolean isOfRequests() {
        return unknown == Unknown.REFUSED_IN_REQUESTS;
    }

    private static boolean isOfA2a(String name) {
        return name.equals("tenant") || name.toLowerCase(Locale.ROOT).startsWith("a2a-");
    }

    private String unknown() {
        return (unknown == Unknown.REFUSED ? "unknown member" : "unknown")
                + Stream.of(members)
                        .filter(Member::isDescribed)
                        .map(Member::name)
                        .collect(Collectors.joining(", ", " (expected: ", ")"));
    }

    @SuppressWarnings("unchecked") // so it was declared
    private void keep(int slot, Map<String, @Nullable Object> kept, @Nullable Object[] values) {
        var metadata = (Map<String, @Nullable Object>) requireNonNullElse(values[slot], Map.of());
        values[slot] = members[slot].name.isEmpty() ? kept : TaskEvent.merge(metadata, Map.of(OTHERS, kept));
    }

    private T make(@Nullable JsonParser in, @Nullable Object[] values) {
        List<Violation> missing = List.of();
        for (int i = 0; i < values.length; i++) {
            if (values[i] == null) {
                Member<T> member = members[i];
                if (member.presence == Presence.REQUIRED) {
                    missing = missing.isEmpty() ? new ArrayList<>() : missing;
                    missing.add(new Violation(
                            FieldPath.of(in, member.label.getValue()),
                            "missing (expected: " + member.codec.expected() + ")"));
                }
                values[i] = member.absent;
            }
        }
        if (!missing.isEmpty()) {
            throw A2AException.invalidParams(missing);
        }
        try {
            return constructor.apply(new Values(values));
        } catch (InvalidField invalid) {
            throw FieldPath.fault(in, spelt(invalid.field()), invalid.problem());
        }
    }

    /** The name of a member as this shape writes it. */
    private String spelt(String field) {
        Integer index = indexes.get(field);
        return index == null ? field : members[index].label.getValue();
    }

    @Override
    public void write(JsonGenerator out, T value) {
        out.writeStartObject();
        for (Member<T> member : members) {
            Object of = member.of.apply(value);
            if (of != null && member.isWritten(of)) {
                out.writeName(member.label);
                member.codec.write(out, of);
            }
        }
        if (others != null) {
            others.of.apply(value).forEach((name, of) -> {
                if (!indexes.containsKey(name) && !others.foreign.contains(name)) {
                    out.writeName(name);
                    Codecs.FREE.write(out, of == null ? Codecs.NULL : of);
                }
            });
        }
        out.writeEndObject();
    }

    /** Returns one member as a path would carry it; null if it is not written. */
    @Nullable
    public String text(String name, T value) {
        Integer index = indexes.get(name);
        if (index == null) {
            return null;
        }
        Member<T> member = members[index];
        Object of = member.of.apply(value);
        return of == null ? null : member.codec.format(of);
    }

    /** Returns the members as a query would carry them. */
    public Map<String, String> parameters(T value) {
        var parameters = new LinkedHashMap<String, String>();
        for (Member<T> member : members) {
            Object of = member.of.apply(value);
            if (of != null && member.isWritten(of)) {
                parameters.put(member.name, member.codec.format(of));
            }
        }
        return parameters;
    }

    /** The name of a member as its proto spells it. */
    static String snakeCase(String name) {
        return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }
}

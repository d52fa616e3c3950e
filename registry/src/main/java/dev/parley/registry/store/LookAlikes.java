package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import dev.parley.registry.RegistryProtocol;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Flags entries in answers whose names look like those of others, so that callers do not take one for the other: by the member {@value
 * RegistryProtocol#LOOK_ALIKES} with the ids of the others.
 */
public final class LookAlikes {
    /** Members of answers in which entries are. */
    private static final List<String> PLACES = List.of("agents", "results", "agent");

    private final StoredEntries entries;

    public LookAlikes(StoredEntries entries) {
        this.entries = entries;
    }

    /** A handler whose answers are flagged. */
    public Handler flagging(Handler handler) {
        return (given, caller) -> flagged(handler.answer(given, caller), caller);
    }

    private Object flagged(Object answer, CallContext caller) {
        if (!(answer instanceof Map<?, ?> members)) {
            return answer;
        }
        var names = new LinkedHashMap<String, String>();
        collect(members, names);
        Map<String, List<String>> alike = entries.lookAlikes(names, caller);
        return alike.isEmpty() ? answer : requireNonNull(with(members, alike));
    }

    /** Adds the names of the entries in an answer by their ids. */
    private static void collect(@Nullable Object json, Map<String, String> names) {
        if (json instanceof List<?> list) {
            list.forEach(each -> collect(each, names));
        } else if (json instanceof Map<?, ?> members) {
            if (members.get("id") instanceof String id && members.get("name") instanceof String name) {
                names.put(id, name);
            } else {
                PLACES.forEach(place -> collect(members.get(place), names));
            }
        }
    }

    private static @Nullable Object with(@Nullable Object json, Map<String, List<String>> alike) {
        if (json instanceof List<?> list) {
            return list.stream().map(each -> with(each, alike)).toList();
        }
        if (!(json instanceof Map<?, ?> members)) {
            return json;
        }
        var flagged = new LinkedHashMap<@Nullable Object, @Nullable Object>(members);
        if (members.get("id") instanceof String id && members.get("name") instanceof String) {
            if (alike.containsKey(id)) {
                flagged.put(RegistryProtocol.LOOK_ALIKES, alike.get(id));
            }
            return flagged;
        }
        PLACES.forEach(place -> flagged.computeIfPresent(place, (name, value) -> with(value, alike)));
        return flagged;
    }
}

package dev.parley.registry.hub;

import dev.parley.extension.Handlers;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.CallContext;
import dev.parley.registry.search.Search;
import dev.parley.registry.store.PersonalEntries;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Personal data of a registry: entries, versions, reviews and notes of a principal, and its data in the extensions of the registry.
 *
 * @param others of the extensions
 */
record RegistryData(PersonalEntries entries, Search search, List<PersonalData> others) implements PersonalData {
    /** Handlers of the {@linkplain PersonalOperation operations of the administration}. */
    Handlers administration() {
        return Handlers.NONE
                .call(
                        PersonalOperation.VERSIONS,
                        (given, operator) -> entries.versions(given.group(), given.principal(), given.after()))
                .call(
                        PersonalOperation.REVIEWS,
                        (given, operator) -> entries.reviews(given.group(), given.principal(), given.after()));
    }

    @Override
    public void unlink(Collection<String> ids, CallContext operator) {
        others.forEach(data -> data.unlink(ids, operator)); // entries refer to no tasks
    }

    @Override
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        String group = operator.scope().group();
        var erased = new HashMap<String, Object>();
        // first, so that an account registers no further entries
        others.forEach(data -> erased.putAll(data.erase(principal, withStatements, operator)));
        erased.putAll(entries.erase(group, principal));
        search.removeErased();
        return erased;
    }

    @Override
    public void erased(CallContext operator) {
        others.forEach(data -> data.erased(operator));
    }
}

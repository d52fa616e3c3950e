package dev.parley.registry.hub;

import dev.parley.extension.Handlers;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.CallContext;
import dev.parley.registry.search.Search;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.registry.vault.AgentVault;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** Personal data of a registry: entries, versions, reviews and notes of a principal, and its account of AgentVault. */
record RegistryData(PersonalEntries entries, Search search, AgentVault vault) implements PersonalData {
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
        // entries and accounts refer to no tasks
    }

    @Override
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        String group = operator.scope().group();
        var erased = new HashMap<String, Object>();
        erased.put("registryAccounts", vault.erase(group, principal)); // first, so that it registers no further cards
        erased.putAll(entries.erase(group, principal));
        search.removeErased();
        return erased;
    }
}

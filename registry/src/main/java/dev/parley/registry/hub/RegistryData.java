package dev.parley.registry.hub;

import static dev.parley.extension.AnswerSchema.ANY;
import static dev.parley.extension.AnswerSchema.COUNT;
import static dev.parley.extension.AnswerSchema.list;
import static dev.parley.extension.AnswerSchema.object;
import static dev.parley.protocol.extension.RestParameter.query;

import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminRow;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.registry.search.Search;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.registry.vault.Vault;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Personal data of a registry: entries, versions, reviews and notes of a principal, and its account of AgentVault. */
record RegistryData(PersonalEntries entries, Search search, Vault vault) implements PersonalData {
    private static final String VERSIONS = "privacy/agentVersions";
    private static final String REVIEWS = "privacy/agentReviews";

    /** Operations of the administration that export personal data. */
    static List<ExtensionMethod<?, ?>> administration() {
        return List.of(
                row(VERSIONS, "agentVersions", "List the versions of the registered agents of a principal"),
                row(REVIEWS, "agentReviews", "List the reviews and notes of a principal on registered agents"));
    }

    private static ExtensionMethod<?, ?> row(String name, String member, String summary) {
        return AdminRow.of(
                name,
                "GET /" + name,
                summary,
                object(member, list(ANY), "next?", COUNT),
                query("principal", Type.TEXT, "NAME", "The principal.").asRequired(),
                query("group", Type.TEXT, "GROUP", "Its group; default: default."),
                query("after", Type.NUMBER, "NUMBER", "Records behind so many."));
    }

    /** Handlers of these operations, by name. */
    Map<String, AdminHandler> handlers() {
        return Map.of(
                VERSIONS,
                (given, operator) -> entries.versions(given.group(), given.text("principal"), given.number("after", 0)),
                REVIEWS,
                (given, operator) -> entries.reviews(given.group(), given.text("principal"), given.number("after", 0)));
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

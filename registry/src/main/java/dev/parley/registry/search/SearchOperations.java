package dev.parley.registry.search;

import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.extension.Handlers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.ListEntries;
import dev.parley.registry.SearchOperation;
import dev.parley.registry.SearchOperation.CountFacets;
import dev.parley.registry.SearchOperation.Facets;
import dev.parley.registry.SearchOperation.FoundEntry;
import dev.parley.registry.SearchOperation.FoundPage;
import dev.parley.registry.SearchOperation.SearchEntries;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.store.LookAlikes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Handlers of the operations that search. */
public record SearchOperations(Search search, LookAlikes lookAlikes) {
    private static final int DEFAULT_PAGE = 10;
    private static final int DEFAULT_VALUES = 20;
    private static final int MAX_FACETS = 20;

    /** @param plain answers lists without words */
    public Handlers handlers(CallHandler<ListEntries, EntryPage> plain) {
        return Handlers.NONE
                .call(SearchOperation.SEARCH, this::search)
                .call(SearchOperation.FACETS, this::facets)
                .call(
                        EntryOperation.LIST,
                        (given, caller) ->
                                given.words() == null || given.words().isBlank()
                                        ? plain.call(given, caller)
                                        : list(given, given.words(), caller));
    }

    private EntryPage list(ListEntries given, String words, CallContext caller) {
        FoundPage found = search.find(
                new SearchQuery(words, false, given.filter()),
                number(given.pageSize(), DEFAULT_PAGE),
                given.pageToken(),
                caller);
        return new EntryPage(flagged(found, caller), found.next(), -1);
    }

    private List<Entry> flagged(FoundPage page, CallContext caller) {
        return lookAlikes.flagged(page.results().stream().map(FoundEntry::agent).toList(), caller);
    }

    private FoundPage search(SearchEntries given, CallContext caller) {
        FoundPage page =
                search.search(given.query(), number(given.pageSize(), DEFAULT_PAGE), given.pageToken(), caller);
        List<Entry> flagged = flagged(page, caller);
        var results = new ArrayList<FoundEntry>();
        for (FoundEntry found : page.results()) {
            results.add(new FoundEntry(found.score(), found.why(), flagged.get(results.size())));
        }
        return new FoundPage(results, page.next());
    }

    private Facets facets(CountFacets given, CallContext caller) {
        List<String> fields = given.fields().stream().distinct().toList();
        if (fields.size() > MAX_FACETS) {
            throw A2AException.invalidParams("facet", fields.size() + " fields (expected: at most " + MAX_FACETS + ")");
        }
        return search.facets(given.query(), fields, number(given.limit(), DEFAULT_VALUES), caller);
    }

    private static int number(@Nullable Long given, int absent) {
        return given == null ? absent : (int) Math.max(1, given);
    }
}

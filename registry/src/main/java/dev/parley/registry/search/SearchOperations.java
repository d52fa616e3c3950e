package dev.parley.registry.search;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.search.Search.Facets;
import dev.parley.registry.search.Search.Found;
import dev.parley.registry.search.Search.Results;
import dev.parley.registry.store.EntryOperations;
import dev.parley.registry.store.Handler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations of the search. */
public final class SearchOperations {
    private static final int DEFAULT_PAGE = 10;
    private static final int DEFAULT_VALUES = 20;
    private static final int MAX_FACETS = 20;

    private final Search search;

    public SearchOperations(Search search) {
        this.search = search;
    }

    /** The handlers by the names of their operations. */
    public Map<String, Handler> handlers() {
        return Map.of(
                RegistryProtocol.LIST, this::list,
                RegistryProtocol.SEARCH, this::search,
                RegistryProtocol.FACETS, this::facets);
    }

    /** Has one handler answer requests without words, and another those with words. */
    public static Handler withWords(Handler plain, Handler searching) {
        return (given, caller) -> (words(given).isBlank() ? plain : searching).answer(given, caller);
    }

    private Object list(Map<String, @Nullable Object> given, CallContext caller) {
        Results results = search.find(query(given), number(given, "pageSize", DEFAULT_PAGE), token(given), caller);
        return page("agents", results, found -> EntryOperations.json(found.entry()));
    }

    private Object search(Map<String, @Nullable Object> given, CallContext caller) {
        Results results = search.search(query(given), number(given, "pageSize", DEFAULT_PAGE), token(given), caller);
        return page("results", results, SearchOperations::json);
    }

    private static Object json(Found found) {
        var json = new LinkedHashMap<String, Object>();
        json.put("score", found.score());
        json.put("why", found.why());
        json.put("agent", EntryOperations.json(found.entry()));
        return json;
    }

    private interface Form {
        Object json(Found found);
    }

    private static Object page(String name, Results results, Form form) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put(name, results.results().stream().map(form::json).toList());
        if (results.next() != null) {
            answer.put("nextPageToken", results.next());
        }
        return answer;
    }

    private static @Nullable String token(Map<String, @Nullable Object> given) {
        return given.get("pageToken") instanceof String text ? text : null;
    }

    private Object facets(Map<String, @Nullable Object> given, CallContext caller) {
        List<String> fields = given.get("facet") instanceof List<?> list
                ? list.stream().map(String::valueOf).distinct().toList()
                : List.of("tag");
        if (fields.size() > MAX_FACETS) {
            throw A2AException.invalidParams("facet", fields.size() + " fields (expected: at most " + MAX_FACETS + ")");
        }
        Facets facets = search.facets(query(given), fields, number(given, "limit", DEFAULT_VALUES), caller);
        var answer = new LinkedHashMap<String, Object>();
        answer.put("total", facets.total());
        var byField = new LinkedHashMap<String, Object>();
        facets.facets().forEach((field, facet) -> {
            var buckets = facet.buckets().entrySet().stream()
                    .map(bucket -> Map.of("value", bucket.getKey(), "count", bucket.getValue()))
                    .toList();
            byField.put(field, Map.of("buckets", buckets, "others", facet.others()));
        });
        answer.put("facets", byField);
        return answer;
    }

    private static SearchQuery query(Map<String, @Nullable Object> given) {
        return new SearchQuery(words(given), Boolean.TRUE.equals(given.get("typing")), EntryOperations.filter(given));
    }

    private static String words(Map<String, @Nullable Object> given) {
        return given.get("q") instanceof String words ? words : "";
    }

    private static int number(Map<String, @Nullable Object> given, String name, int absent) {
        return given.get(name) instanceof Number number ? Math.max(1, number.intValue()) : absent;
    }
}

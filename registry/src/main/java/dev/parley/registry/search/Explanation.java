package dev.parley.registry.search;

import dev.parley.registry.Entry;
import dev.parley.registry.SearchOperation.Reasons;
import dev.parley.registry.SearchQuery;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Reasons of results: the fields of the best row with their words. They are read from the entry, as the index has no texts. */
final class Explanation {
    private Explanation() {}

    static Reasons of(Entry entry, Hit hit, SearchQuery query) {
        var indexed = new IndexedEntry(entry);
        int part = hit.part() < indexed.rows() ? hit.part() : 0;
        List<String> texts = indexed.row(part);
        Set<String> missing = new LinkedHashSet<>(Words.ofQuery(query.text()));
        List<String> words = List.copyOf(missing);
        var fields = new LinkedHashMap<String, List<String>>();
        for (int column = 0; column < texts.size(); column++) {
            var stems = new HashSet<>(Words.of(texts.get(column)));
            List<String> typed = query.isTyping() ? Words.typed(texts.get(column)) : List.of();
            var matched = new ArrayList<String>();
            for (int i = 0; i < words.size(); i++) {
                String word = words.get(i);
                boolean isBegin = i == words.size() - 1 && typed.stream().anyMatch(text -> text.startsWith(word));
                if (isBegin || stems.contains(Words.indexed(word))) {
                    matched.add(word);
                }
            }
            if (!matched.isEmpty()) {
                missing.removeAll(matched);
                fields.put(IndexedEntry.FIELDS.get(column), matched);
            }
        }
        return new Reasons(
                hit.lists(),
                fields,
                part > 0 ? entry.resource().skills().get(part - 1).id() : null,
                fields.isEmpty() ? List.of() : List.copyOf(missing),
                IndexedEntry.factors(entry, hit.stars()));
    }
}

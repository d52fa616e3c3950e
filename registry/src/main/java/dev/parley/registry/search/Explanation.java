package dev.parley.registry.search;

import dev.parley.registry.Entry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reasons of results: the fields of the best row with their words. They are read from the entry, as the index has no texts. */
final class Explanation {
    private Explanation() {}

    static Map<String, Object> of(Entry entry, Hit hit, SearchQuery query) {
        var indexed = new IndexedEntry(entry);
        int part = hit.part() < indexed.rows() ? hit.part() : 0;
        List<String> texts = indexed.row(part);
        Set<String> missing = new LinkedHashSet<>(Words.ofQuery(query.text()));
        List<String> words = List.copyOf(missing);
        var fields = new LinkedHashMap<String, Object>();
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
        var why = new LinkedHashMap<String, Object>();
        why.put("lists", hit.lists());
        why.put("fields", fields);
        if (part > 0) {
            why.put("skill", entry.resource().skills().get(part - 1).id());
        }
        if (!missing.isEmpty() && !fields.isEmpty()) {
            why.put("missing", List.copyOf(missing));
        }
        Map<String, Double> factors = IndexedEntry.factors(entry, hit.stars());
        if (!factors.isEmpty()) {
            why.put("factors", factors);
        }
        return why;
    }
}

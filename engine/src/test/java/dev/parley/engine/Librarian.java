package dev.parley.engine;

import java.util.List;
import java.util.Map;

/** The annotated agent of docs/agents.md. */
final class Librarian {
    @Skill(description = "Finds books by their title", tags = "search")
    Map<String, Object> find(String title, int limit) {
        return Map.of("titles", List.of("The " + title).subList(0, Math.min(limit, 1)));
    }

    @Skill(id = "lend", name = "Lend a book", description = "Lends the book that is named")
    String lendBook(String title) {
        return title + " is yours for four weeks";
    }
}

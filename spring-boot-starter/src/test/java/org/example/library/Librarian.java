package org.example.library;

import dev.parley.engine.Skill;
import dev.parley.spring.AgentBean;
import java.util.Map;

@AgentBean(name = "librarian", description = "Finds and lends books")
class Librarian {
    private final Shelf shelf;

    Librarian(Shelf shelf) {
        this.shelf = shelf;
    }

    @Skill(description = "Finds books by their title", tags = "search")
    Map<String, Object> find(String title, int limit) {
        return Map.of("titles", shelf.titles(title, limit));
    }

    @Skill(description = "Lends the book that is named")
    String lend(String title) {
        return title + " is yours for four weeks";
    }
}

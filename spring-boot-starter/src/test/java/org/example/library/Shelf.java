package org.example.library;

import java.util.List;
import org.springframework.stereotype.Component;

@Component
class Shelf {
    List<String> titles(String part, int limit) {
        return List.of("Emma", "Emma's Diary", "The Trial").stream()
                .filter(title -> title.contains(part))
                .limit(limit)
                .toList();
    }
}

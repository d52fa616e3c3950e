package org.example.museum;

import dev.parley.engine.Skill;
import org.springframework.stereotype.Component;

/** Skills of an agent that a configuration describes. */
@Component
class Bell {
    @Skill(description = "Rings")
    String ring(String times) {
        return "ding ".repeat(Integer.parseInt(times)).strip();
    }
}

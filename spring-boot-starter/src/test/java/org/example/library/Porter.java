package org.example.library;

import dev.parley.engine.Skill;
import dev.parley.spring.AgentBean;

@AgentBean(description = "Greets at the door", version = "2.1.0")
class Porter implements Greeter {
    @Override
    @Skill(description = "Greets the person that is named")
    public String greet(String first, String last) {
        return "Good morning, " + first + " " + last;
    }
}

package org.example.museum;

import dev.parley.engine.Skill;
import dev.parley.spring.AgentBean;

@AgentBean(description = "Tells where a painting is")
class Guide {
    private final Rooms rooms;

    Guide(Rooms rooms) {
        this.rooms = rooms;
    }

    @Skill(description = "Tells the room of a painting")
    String find(String painting) {
        return painting + " is in room " + rooms.room(painting);
    }
}

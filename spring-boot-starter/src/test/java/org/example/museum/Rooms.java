package org.example.museum;

import org.springframework.stereotype.Component;

/** Not part of a test of agents, which brings another one. */
interface Rooms {
    int room(String painting);

    @Component
    class Surveyed implements Rooms {
        @Override
        public int room(String painting) {
            return 1;
        }
    }
}

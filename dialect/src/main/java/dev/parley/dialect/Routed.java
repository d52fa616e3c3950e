package dev.parley.dialect;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A row of a table that may have a place in the REST binding. */
interface Routed {
    /** The HTTP methods, the one a client uses first; none if there is no place. */
    List<String> verbs();

    /** The path; null if there is none. */
    @Nullable
    PathTemplate path();
}

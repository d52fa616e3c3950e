package dev.parley.trust;

import java.util.Map;

/**
 * What users of the pages of a hub have to know of it at present.
 *
 * @param isDrained whether it takes no new tasks
 * @param problems promises that do not hold, as sentences for all users without a full stop, with their reasons for operators
 */
public record HubState(boolean isDrained, Map<String, String> problems) {
    public HubState {
        problems = Map.copyOf(problems);
    }
}

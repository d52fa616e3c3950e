package dev.parley.knowledge.model;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.Statement;
import java.time.Instant;

/**
 * A statement that a store holds.
 *
 * @param confirmedAt when it was last added, by the clock of the store; its age is counted from here
 */
public record Fact(Statement statement, Instant confirmedAt) {
    public Fact {
        requireNonNull(statement, "statement");
        requireNonNull(confirmedAt, "confirmedAt");
    }
}

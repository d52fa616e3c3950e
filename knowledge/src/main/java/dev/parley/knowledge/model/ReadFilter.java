package dev.parley.knowledge.model;

import dev.parley.knowledge.api.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lower bounds and rules that limit a reader: statements that they exclude do not exist in its {@link View}.
 *
 * @param certainty statements less certain, or of unknown certainty, are hidden; null or 0 for no minimum
 * @param confirmedSince statements confirmed before are hidden; null for no limit
 * @param rules the first that fits a statement says whether it is seen
 * @param otherwise whether statements are seen that no rule fits
 */
public record ReadFilter(
        @Nullable Double certainty, @Nullable Instant confirmedSince, List<Rule> rules, boolean otherwise) {
    /** Everything is seen. */
    public static final ReadFilter NONE = new ReadFilter(null, null, List.of(), true);

    public ReadFilter {
        rules = List.copyOf(rules);
    }

    /**
     * Shows or hides the statements that match {@code pattern} and, if it is given, are less certain than {@code
     * certaintyBelow}.
     */
    public record Rule(Pattern pattern, @Nullable Double certaintyBelow, boolean seen) {
        /** True if it is about a statement. */
        public boolean fits(Statement statement, Function<String, Set<String>> types) {
            Double certainty = statement.certainty();
            return (certaintyBelow == null || certainty == null || certainty < certaintyBelow)
                    && pattern.fits(statement, types);
        }
    }

    /** True if the rules, which need no store, let a statement be seen. */
    public boolean sees(Statement statement, Function<String, Set<String>> types) {
        return rules.stream()
                .filter(rule -> rule.fits(statement, types))
                .findFirst()
                .map(Rule::seen)
                .orElse(otherwise);
    }
}

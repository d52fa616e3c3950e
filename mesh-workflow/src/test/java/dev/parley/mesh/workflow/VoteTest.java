package dev.parley.mesh.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mesh.workflow.Vote.Outcome;
import dev.parley.mesh.workflow.Vote.Rule;
import dev.parley.protocol.InvalidField;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules of votes. */
final class VoteTest {
    private static final List<String> VOTERS = List.of("a", "b", "c", "d");

    private static Vote vote(Rule rule, int quorum, Map<String, Double> weights) {
        return new Vote("Which?", List.of("red", "blue", "green"), VOTERS, rule, quorum, null, weights).checked("vote");
    }

    /** Ballots of a, b, c and d by their first letters; - for none. */
    private static Map<String, String> ballots(Vote vote, String letters) {
        var ballots = new LinkedHashMap<String, String>();
        for (int i = 0; i < letters.length(); i++) {
            String letter = letters.substring(i, i + 1);
            String voter = VOTERS.get(i);
            vote.options().stream()
                    .filter(option -> option.startsWith(letter))
                    .forEach(option -> ballots.put(voter, option));
        }
        return ballots;
    }

    @ParameterizedTest
    @DisplayName("AK25 votes are decided by their rules; ties and a missed quorum have outcomes of their own")
    @CsvSource({
        "MAJORITY,   1, rrrb, DECIDED,   red",
        "MAJORITY,   1, rrbg, UNDECIDED,",
        "MAJORITY,   1, rrbb, TIED,",
        "MAJORITY,   1, rr--, DECIDED,   red",
        "MAJORITY,   3, rr--, NO_QUORUM,",
        "MAJORITY,   1, ----, NO_QUORUM,",
        "PLURALITY,  1, rrbg, DECIDED,   red",
        "PLURALITY,  1, rrbb, TIED,",
        "PLURALITY,  4, rrb-, NO_QUORUM,",
        "UNANIMOUS,  1, bbbb, DECIDED,   blue",
        "UNANIMOUS,  1, bbbr, UNDECIDED,",
        "UNANIMOUS,  4, bbb-, NO_QUORUM,",
        "UNANIMOUS,  3, bbb-, DECIDED,   blue",
        "WEIGHTED,   1, rbbb, DECIDED,   red",
        "WEIGHTED,   1, r--b, DECIDED,   red",
        "WEIGHTED,   1, -rrb, DECIDED,   red",
    })
    void rules(Rule rule, int quorum, String letters, Outcome.Kind expected, @Nullable String winner) {
        Vote vote = vote(rule, quorum, rule == Rule.WEIGHTED ? Map.of("a", 3.5) : Map.of());

        Outcome outcome = vote.outcome(ballots(vote, letters));

        assertThat(outcome.outcome()).isEqualTo(expected);
        assertThat(outcome.winner()).isEqualTo(winner);
        assertThat(outcome.missing())
                .hasSize((int) letters.chars().filter(letter -> letter == '-').count());
    }

    @Test
    @DisplayName("a weighted vote counts weights, and ties by weight")
    void weights() {
        Vote vote = vote(Rule.WEIGHTED, 1, Map.of("a", 3.0));

        Outcome outcome = vote.outcome(ballots(vote, "rbbb"));

        assertThat(outcome.outcome()).isEqualTo(Outcome.Kind.TIED);
        assertThat(outcome.counts()).isEqualTo(Map.of("red", 3.0, "blue", 3.0, "green", 0.0));
        assertThat(outcome).hasToString("tied: red 3, blue 3, green 0");
    }

    @Test
    @DisplayName("a ballot is an option, whatever its case, and no other text")
    void options() {
        Vote vote = vote(Rule.MAJORITY, 1, Map.of());

        assertThat(vote.option(" Red\n")).contains("red");
        assertThat(vote.option(Map.of("option", "BLUE"))).contains("blue");
        assertThat(vote.option("not red")).isEmpty();
        assertThat(vote.option(List.of("red"))).isEmpty();
        assertThat(vote.option(null)).isEmpty();
    }

    @Test
    @DisplayName("an invalid vote is refused with the place of the member")
    void refusals() {
        assertRefused("vote.options", List.of("x"), VOTERS, 1, Map.of());
        assertRefused("vote.options[1]", List.of("x", "X "), VOTERS, 1, Map.of());
        assertRefused("vote.voters", List.of("x", "y"), List.of(), 1, Map.of());
        assertRefused("vote.voters[1]", List.of("x", "y"), List.of("a", "a"), 1, Map.of());
        assertRefused("vote.quorum", List.of("x", "y"), VOTERS, 5, Map.of());
        assertRefused("vote.weights", List.of("x", "y"), VOTERS, 1, Map.of("stranger", 1.0));
    }

    private static void assertRefused(
            String place, List<String> options, List<String> voters, int quorum, Map<String, Double> weights) {
        assertThatThrownBy(
                        () -> new Vote("Which?", options, voters, Rule.WEIGHTED, quorum, null, weights).checked("vote"))
                .isInstanceOfSatisfying(
                        InvalidField.class,
                        refused -> assertThat(refused.field()).isEqualTo(place));
    }
}

package dev.parley.mesh.workflow;

import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;

import dev.parley.mesh.Wire;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DescribedCodecs;
import dev.parley.protocol.json.ObjectCodec;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A vote: a question with options for named voters, and the rule by which their ballots decide.
 *
 * @param voters names of principals, or agents of a workflow
 * @param quorum fewest ballots that decide
 * @param deadline after which no ballots count; null for none
 * @param weights of voters, of the rule {@link Rule#WEIGHTED}; 1 for the others
 */
public record Vote(
        String question,
        List<String> options,
        List<String> voters,
        Rule rule,
        int quorum,
        @Nullable Instant deadline,
        Map<String, Double> weights) {
    /** Most options, and most voters. */
    public static final int MOST = 100;

    /** Rule by which ballots decide. */
    public enum Rule {
        /** More than half of the ballots. */
        MAJORITY,
        /** More than half of the weight of the ballots. */
        WEIGHTED,
        /** All ballots. */
        UNANIMOUS,
        /** More ballots than each other option. */
        PLURALITY
    }

    /**
     * Result of a vote.
     *
     * @param winner the option that is decided; null for none
     * @param counts ballots, or their weight, by options
     * @param ballots options by voters
     * @param missing voters without a ballot
     */
    public record Outcome(
            Kind outcome,
            @Nullable String winner,
            Map<String, Double> counts,
            Map<String, String> ballots,
            List<String> missing) {
        /** Kind of an outcome. */
        public enum Kind {
            DECIDED,
            TIED,
            UNDECIDED,
            NO_QUORUM
        }

        private static final Codec<Kind> KIND = Codecs.words(Kind.class);

        /** JSON of outcomes. */
        public static final Codec<Outcome> CODEC = ObjectCodec.<Outcome>of()
                .required("outcome", KIND, Outcome::outcome)
                .optional("winner", TEXT, Outcome::winner)
                .required("counts", Codecs.map(NUMBER), Outcome::counts)
                .required("ballots", Codecs.map(TEXT), Outcome::ballots)
                .always("missing", TEXTS, List.of(), Outcome::missing)
                .as(v -> new Outcome(v.next(), v.next(), v.next(), v.next(), v.next()));

        @Override
        public String toString() {
            return counts.entrySet().stream()
                    .map(count -> count.getKey() + " " + NUMBER.toJson(count.getValue()))
                    .collect(Collectors.joining(", ", KIND.format(outcome) + ": ", ""));
        }
    }

    private static final Codec<Double> NUMBER = DescribedCodecs.like(
            Codecs.DOUBLE, Vote::number, number -> number == Math.rint(number) ? (Object) number.longValue() : number);

    /** JSON of votes. */
    public static final ObjectCodec<Vote> CODEC = ObjectCodec.<Vote>of()
            .required("question", TEXT, Vote::question)
            .required("options", TEXTS, Vote::options)
            .required("voters", TEXTS, Vote::voters)
            .always(
                    "rule",
                    Codecs.words(
                            Map.of(
                                    Rule.MAJORITY, "majority",
                                    Rule.WEIGHTED, "weighted",
                                    Rule.UNANIMOUS, "unanimous",
                                    Rule.PLURALITY, "plurality"),
                            Map.of()),
                    Rule.MAJORITY,
                    Vote::rule)
            .always("quorum", INT, 1, Vote::quorum)
            .optional("deadline", Wire.MILLIS, Vote::deadline)
            .optional("weights", Codecs.map(NUMBER), Map.of(), Vote::weights)
            .as(v -> new Vote(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static Double number(@Nullable Object value) {
        BigDecimal number = Wire.number(value);
        if (number == null) {
            throw InvalidField.of("", Wire.shown(value) + " (expected: a number)");
        }
        return number.doubleValue();
    }

    /**
     * Checks this vote.
     *
     * @param place in the document
     * @throws InvalidField with the place of the member
     */
    Vote checked(String place) {
        requireDistinct(place + ".options", options, 2, text -> text.strip().toLowerCase(Locale.ROOT));
        requireDistinct(place + ".voters", voters, 1, Function.identity());
        if (quorum < 1 || quorum > voters.size()) {
            throw InvalidField.of(place + ".quorum", quorum + " (expected: 1 to " + voters.size() + ")");
        }
        if (rule != Rule.WEIGHTED && !weights.isEmpty()) {
            throw InvalidField.of(place + ".weights", "present (expected: none without the rule \"weighted\")");
        }
        weights.forEach((voter, weight) -> {
            if (!voters.contains(voter) || !(weight > 0 && weight <= 1_000_000)) {
                throw InvalidField.of(
                        place + ".weights", '"' + voter + "\": " + weight + " (expected: voters, and 0 to 1000000)");
            }
        });
        return this;
    }

    private static void requireDistinct(String place, List<String> values, int least, Function<String, String> same) {
        if (values.size() < least || values.size() > MOST) {
            throw InvalidField.of(place, values.size() + " (expected: " + least + " to " + MOST + ")");
        }
        var known = new HashSet<String>();
        for (int i = 0; i < values.size(); i++) {
            String value = values.get(i);
            if (value.isBlank() || !known.add(same.apply(value))) {
                throw InvalidField.of(place + "[" + i + "]", '"' + value + "\" (expected: distinct texts)");
            }
        }
    }

    /** The option that an answer names: a text, or the member {@code option} of data. Case and spaces around it do not matter. */
    Optional<String> option(@Nullable Object answer) {
        Object named = answer instanceof Map<?, ?> data ? data.get("option") : answer;
        return named instanceof String text
                ? options.stream()
                        .filter(option -> option.strip().equalsIgnoreCase(text.strip()))
                        .findFirst()
                : Optional.empty();
    }

    /** The question as a text. */
    String text() {
        return question + "\nAnswer with one of: " + String.join(", ", options);
    }

    /** Decision of the ballots. */
    Outcome outcome(Map<String, String> ballots) {
        var counts = new LinkedHashMap<String, Double>();
        options.forEach(option -> counts.put(option, 0.0));
        ballots.forEach((voter, option) ->
                counts.merge(option, rule == Rule.WEIGHTED ? weights.getOrDefault(voter, 1.0) : 1.0, Double::sum));
        double most = greatest(counts.values());
        double all = counts.values().stream().mapToDouble(Double::doubleValue).sum();
        Set<String> leading = options.stream()
                .filter(option -> counts.getOrDefault(option, 0.0) == most)
                .collect(Collectors.toSet());
        boolean suffices = switch (rule) {
            case MAJORITY, WEIGHTED -> 2 * most > all;
            case UNANIMOUS -> most == all;
            case PLURALITY -> true;
        };
        Outcome.Kind outcome = ballots.size() < quorum
                ? Outcome.Kind.NO_QUORUM
                : leading.size() > 1 ? Outcome.Kind.TIED : suffices ? Outcome.Kind.DECIDED : Outcome.Kind.UNDECIDED;
        return new Outcome(
                outcome,
                outcome == Outcome.Kind.DECIDED ? leading.iterator().next() : null,
                counts,
                Map.copyOf(ballots),
                voters.stream().filter(voter -> !ballots.containsKey(voter)).toList());
    }

    private static double greatest(Collection<Double> counts) {
        return counts.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }
}

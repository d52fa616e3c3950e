package dev.parley.pipelines.research;

import dev.parley.pipelines.research.Sentences.Sentence;
import dev.parley.pipelines.step.StepInput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A statement of one or more sources.
 *
 * @param sources numbers of the sources that say it
 * @param others the wordings of the other sources, by the numbers of the sources
 * @param differs true if the sources name different numbers
 */
record Finding(String statement, Set<Integer> sources, Map<Integer, String> others, boolean differs) {
    /** Likeness from which two sentences count as the same statement. */
    private static final double SAME = 0.45;

    private static final int MAX_FINDINGS = 40;

    private record Ranked(Sentence sentence, double relevance) {}

    /**
     * Compares the sentences of all sources.
     *
     * @param topic words that findings are about; empty for all
     */
    static List<Finding> compare(List<Sentence> sentences, String topic) {
        Set<String> about = new HashSet<>(Sentences.words(topic));
        List<Ranked> ranked = sentences.stream()
                .map(sentence -> new Ranked(
                        sentence,
                        about.isEmpty()
                                ? 1
                                : about.stream()
                                        .mapToDouble(word -> sentence.weights().getOrDefault(word, 0.0))
                                        .sum()))
                .filter(candidate -> candidate.relevance > 0)
                .sorted(Comparator.comparingDouble(Ranked::relevance).reversed())
                .toList();
        var taken = new HashSet<Sentence>();
        var findings = new ArrayList<Finding>();
        for (Ranked candidate : ranked) {
            if (taken.add(candidate.sentence)) {
                findings.add(finding(candidate.sentence, ranked, taken));
            }
        }
        findings.sort(Comparator.comparingInt((Finding finding) -> finding.sources.size())
                .reversed());
        return findings.stream().limit(MAX_FINDINGS).toList();
    }

    private static Finding finding(Sentence first, List<Ranked> all, Set<Sentence> taken) {
        var sources = new TreeSet<>(Set.of(first.source()));
        var others = new LinkedHashMap<Integer, String>();
        boolean differs = false;
        for (Ranked candidate : all) {
            Sentence other = candidate.sentence;
            if (!taken.contains(other) && first.cosine(other) >= SAME) {
                taken.add(other);
                if (sources.add(other.source())) {
                    others.put(other.source(), other.text());
                    differs |= !other.numbers().containsAll(first.numbers())
                            && !first.numbers().containsAll(other.numbers());
                }
            }
        }
        return new Finding(first.text(), sources, others, differs);
    }

    Map<String, @Nullable Object> json() {
        var json = new LinkedHashMap<String, @Nullable Object>();
        json.put("statement", statement);
        json.put("sources", List.copyOf(sources));
        json.put(
                "others",
                others.entrySet().stream()
                        .map(other -> Map.of("source", other.getKey(), "statement", other.getValue()))
                        .toList());
        json.put("differs", differs);
        return json;
    }

    static List<Finding> all(Map<String, @Nullable Object> json) {
        return StepInput.array(json.get("findings")).stream()
                .map(StepInput::object)
                .map(Finding::of)
                .toList();
    }

    private static Finding of(Map<String, @Nullable Object> json) {
        var sources = new TreeSet<Integer>();
        StepInput.array(json.get("sources")).forEach(source -> sources.add(number(source)));
        var others = new LinkedHashMap<Integer, String>();
        StepInput.array(json.get("others")).stream()
                .map(StepInput::object)
                .forEach(other -> others.put(number(other.get("source")), String.valueOf(other.get("statement"))));
        return new Finding(
                String.valueOf(json.get("statement")), sources, others, Boolean.TRUE.equals(json.get("differs")));
    }

    private static int number(@Nullable Object value) {
        return value instanceof Number number ? number.intValue() : 0;
    }
}

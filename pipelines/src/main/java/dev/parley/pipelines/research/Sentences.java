package dev.parley.pipelines.research;

import java.text.BreakIterator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sentences of sources as vectors of their words, weighted by how rare a word is. */
final class Sentences {
    private static final int MAX_SENTENCES = 3000;
    private static final int MIN_WORDS = 4;
    private static final int MAX_WORDS = 80;
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}][\\p{L}\\p{N}'’-]*");
    private static final Pattern NUMBER = Pattern.compile("(?<![\\p{L}\\p{N}])[0-9]+(?:[.,][0-9]+)*(?:\\s?%)?");
    private static final Set<String> STOP = Set.of(
            ("a an and are as at be been but by can could did do does for from had has have he her his how if in into is"
                            + " it its may more most no not of on or our she so some such than that the their them then"
                            + " there these they this to was we were what when which who will with would you your")
                    .split(" "));

    /**
     * A sentence.
     *
     * @param weights of its words; of length 1
     * @param numbers in it
     */
    record Sentence(int source, String text, Map<String, Double> weights, Set<String> numbers) {
        /** Likeness to another sentence, 0 to 1. */
        double cosine(Sentence other) {
            return product(weights, other.weights);
        }
    }

    private record Raw(int source, String text, List<String> words) {}

    private Sentences() {}

    static List<Sentence> of(List<Source> sources) {
        var raw = new ArrayList<Raw>();
        for (Source source : sources) {
            var seen = new HashSet<String>();
            for (String paragraph : source.paragraphs()) {
                for (String text : split(paragraph)) {
                    List<String> words = words(text);
                    if (words.size() >= MIN_WORDS
                            && words.size() <= MAX_WORDS
                            && raw.size() < MAX_SENTENCES
                            && seen.add(text)) {
                        raw.add(new Raw(source.number(), text, words));
                    }
                }
            }
        }
        var frequency = new HashMap<String, Integer>();
        raw.forEach(sentence -> new HashSet<>(sentence.words).forEach(word -> frequency.merge(word, 1, Integer::sum)));
        return raw.stream()
                .map(sentence -> new Sentence(
                        sentence.source,
                        sentence.text,
                        weights(sentence.words, frequency, raw.size()),
                        numbers(sentence.text)))
                .toList();
    }

    private static List<String> split(String paragraph) {
        BreakIterator breaks = BreakIterator.getSentenceInstance(Locale.ENGLISH);
        breaks.setText(paragraph);
        var sentences = new ArrayList<String>();
        int start = breaks.first();
        for (int end = breaks.next(); end != BreakIterator.DONE; end = breaks.next()) {
            sentences.add(paragraph.substring(start, end).strip());
            start = end;
        }
        return sentences;
    }

    /** Words that mean something, without endings of the plural. */
    static List<String> words(String text) {
        var words = new ArrayList<String>();
        Matcher matcher = WORD.matcher(text.toLowerCase(Locale.ROOT));
        while (matcher.find()) {
            String word = matcher.group();
            if (!STOP.contains(word)) {
                words.add(stem(word));
            }
        }
        return words;
    }

    private static String stem(String word) {
        if (word.length() > 4 && word.endsWith("ies")) {
            return word.substring(0, word.length() - 3) + 'y';
        }
        return word.length() > 3 && word.endsWith("s") && !word.endsWith("ss")
                ? word.substring(0, word.length() - 1)
                : word;
    }

    private static Map<String, Double> weights(List<String> words, Map<String, Integer> frequency, int sentences) {
        var weights = new HashMap<String, Double>();
        words.forEach(word ->
                weights.merge(word, Math.log(1 + (double) sentences / frequency.getOrDefault(word, 1)), Double::sum));
        double length = Math.sqrt(
                weights.values().stream().mapToDouble(weight -> weight * weight).sum());
        weights.replaceAll((word, weight) -> weight / length);
        return weights;
    }

    private static double product(Map<String, Double> one, Map<String, Double> other) {
        if (one.size() > other.size()) {
            return product(other, one);
        }
        double sum = 0;
        for (Map.Entry<String, Double> entry : one.entrySet()) {
            sum += entry.getValue() * other.getOrDefault(entry.getKey(), 0.0);
        }
        return sum;
    }

    private static Set<String> numbers(String text) {
        var numbers = new HashSet<String>();
        Matcher matcher = NUMBER.matcher(text);
        while (matcher.find()) {
            numbers.add(matcher.group().replaceAll("[\\s,]", ""));
        }
        return numbers;
    }
}

package dev.parley.registry.search;

import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.Skill;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An entry as the index has it: rows of texts, and the factor of its state. */
record IndexedEntry(Entry entry) {
    /** Fields of texts, in the order of the columns. */
    static final List<String> FIELDS = List.of("name", "skills", "tags", "examples", "description");

    /** Rows of an entry: one for itself, and one for each of its skills. Further skills are found by the first row only. */
    static final int ROWS = 64;

    boolean isFound() {
        return entry.isUsable();
    }

    /** Number of the rows: of the entry, then of each skill. */
    int rows() {
        return Math.min(ROWS, 1 + entry.resource().skills().size());
    }

    /** Texts of a row in the order of {@link #FIELDS}. */
    List<String> row(int part) {
        Resource resource = entry.resource();
        if (part > 0) {
            Skill skill = resource.skills().get(part - 1);
            return List.of(
                    resource.name(),
                    joined(Stream.of(skill.name(), skill.id())),
                    joined(skill.tags().stream()),
                    joined(skill.examples().stream()),
                    skill.description());
        }
        Stream<String> tags = resource.skills().stream().flatMap(skill -> skill.tags().stream());
        return List.of(
                resource.name(),
                joined(resource.skills().stream().map(Skill::name)),
                joined(Stream.concat(resource.tags().stream(), tags).distinct()),
                "",
                joined(Arrays.asList(resource.description(), resource.provider(), resource.humanId()).stream()));
    }

    private static String joined(Stream<? extends @Nullable String> texts) {
        return texts.filter(text -> text != null && !text.isBlank()).collect(Collectors.joining(" . "));
    }

    /** Member of the metadata of entries: the price of a call, in a unit that the users of a registry agree on. */
    private static final String COST = "cost";

    /** Largest deduction from a score for a high price. */
    private static final double MOST_OF_COST = 0.1;

    /**
     * Factors of the score, by their reasons: what is broken or not to be trusted ranks below its equals.
     *
     * @param stars average of the reviews of the entry; 0 without any
     */
    static Map<String, Double> factors(Entry entry, double stars) {
        var factors = new LinkedHashMap<String, Double>();
        switch (entry.health().status()) {
            case DOWN -> factors.put("health down", 0.8);
            case DEGRADED -> factors.put("health degraded", 0.95);
            default -> {}
        }
        switch (entry.trust().outcome()) {
            case TAMPERED -> factors.put("trust tampered", 0.7);
            case UNVERIFIABLE -> factors.put("trust unverifiable", 0.95);
            case UNSIGNED -> factors.put("trust unsigned", 0.98);
            default -> {}
        }
        if (entry.state().status() == Entry.Status.DEPRECATED) {
            factors.put("deprecated", 0.8);
        }
        if (stars > 0 && stars < 3) {
            factors.put("reviews below 3 stars", 0.95);
        }
        double cost = entry.resource().metadata().get(COST) instanceof Number number ? number.doubleValue() : 0;
        if (cost > 0) {
            factors.put(COST, Math.round(1_000 * (1 - MOST_OF_COST * cost / (1 + cost))) / 1_000.0);
        }
        return factors;
    }

    static double factor(Entry entry, double stars) {
        return factors(entry, stars).values().stream().reduce(1.0, (product, factor) -> product * factor);
    }
}

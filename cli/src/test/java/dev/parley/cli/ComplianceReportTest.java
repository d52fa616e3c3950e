package dev.parley.cli;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.dataformat.yaml.YAMLFactory;

/**
 * The report on the A2A CLI specification says the same to programs and to people, counts right, and names tests that
 * there are.
 *
 * <p>Source: COMPLIANCE.md of the specification 0.2, appendix A.
 */
class ComplianceReportTest {
    private static final Path DOCS =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("docs");
    private static final Map<Integer, Integer> REQUIREMENTS = Map.of(1, 39, 2, 15, 3, 12);

    private final Map<?, ?> report = yaml(DOCS.resolve("cli-compliance.yaml"));

    private record Row(String id, int tier, String spec, String status, String note, String evidence) {}

    private List<Row> rows() {
        var rows = new ArrayList<Row>();
        map(report.get("requirements")).forEach((id, members) -> {
            Map<?, ?> row = map(members);
            rows.add(new Row(
                    String.valueOf(id),
                    Integer.parseInt(text(row, "tier")),
                    text(row, "spec"),
                    text(row, "status"),
                    text(row, "note"),
                    text(row, "evidence")));
        });
        return rows;
    }

    private List<Row> rows(int tier) {
        return rows().stream().filter(row -> row.tier() == tier).toList();
    }

    @Test
    void theSummaryCountsTheRows() {
        boolean below = true;
        for (int tier = 1; tier <= 3; tier++) {
            List<Row> rows = rows(tier);
            Map<?, ?> summary = map(map(report.get("summary")).get("tier_" + tier));
            assertThat(rows).hasSize(REQUIREMENTS.getOrDefault(tier, 0));
            assertThat(text(summary, "total")).isEqualTo(String.valueOf(rows.size()));
            for (String status : List.of("pass", "partial", "fail", "not_measured", "na")) {
                long count =
                        rows.stream().filter(row -> row.status().equals(status)).count();
                assertThat(text(summary, status)).as(tier + " " + status).isEqualTo(String.valueOf(count));
            }
            below &= rows.stream().allMatch(row -> row.status().matches("pass|na"));
            assertThat(text(summary, "satisfied")).isEqualTo(String.valueOf(below));
            String claimed = text(map(report.get("report")), "tier_claimed");
            assertThat(!claimed.isEmpty() && Integer.parseInt(claimed) >= tier).isEqualTo(below);
        }
    }

    @Test
    void whatDoesNotPassSaysWhy() {
        assertThat(rows())
                .allSatisfy(row -> assertThat(row.status().equals("pass"))
                        .as(row.id())
                        .isEqualTo(row.note().isEmpty()));
        map(report.get("default_001_breakdown")).forEach((name, row) -> {
            assertThat(text(map(row), "shipped")).isEqualTo("yes");
            assertThat(text(map(row), "overridable")).isEqualTo("yes");
        });
    }

    @Test
    void whatPassesNamesTestsThatCarryItsIdentifier() throws ClassNotFoundException {
        for (Row row : rows()) {
            assertThat(row.status().equals("pass") && row.evidence().isEmpty())
                    .as(row.id() + " has no evidence")
                    .isFalse();
            for (String name : row.evidence().split(", ", -1)) {
                if (!name.isEmpty()) {
                    assertThat(tags(Class.forName("dev.parley.cli." + name)))
                            .as(name)
                            .contains(row.id());
                }
            }
        }
    }

    @Test
    void peopleReadTheSame() throws IOException {
        String expected = Stream.concat(rows(1).stream(), rows(2).stream())
                .map(row -> "| " + row.id() + " | " + row.spec().replace("§", "") + " | " + row.status() + " | "
                        + row.evidence() + " | " + row.note() + " |")
                .collect(joining("\n"));
        String shown = Files.readString(DOCS.resolve("cli-compliance.md"))
                .lines()
                .filter(line -> line.startsWith("| A2ACLI_"))
                .collect(joining("\n"));

        assertThat(shown).isEqualTo(expected);
    }

    private static List<String> tags(Class<?> tests) {
        var tags = new ArrayList<String>();
        for (Method test : tests.getDeclaredMethods()) {
            for (Tag tag : test.getAnnotationsByType(Tag.class)) {
                tags.add(tag.value());
            }
        }
        return tags;
    }

    private static Map<?, ?> map(@Nullable Object value) {
        assertThat(value).isInstanceOf(Map.class);
        return (Map<?, ?>) requireNonNull(value);
    }

    private static String text(Map<?, ?> map, String name) {
        assertThat(map.containsKey(name)).as(name).isTrue();
        return String.valueOf(map.get(name));
    }

    /** A file of mappings; null is an empty text, a list its texts. */
    private static Map<?, ?> yaml(Path file) {
        try (JsonParser in = new YAMLFactory().createParser(ObjectReadContext.empty(), Files.readString(file))) {
            in.nextToken();
            return (Map<?, ?>) value(in);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Object value(JsonParser in) {
        if (in.currentToken() == JsonToken.START_OBJECT) {
            var members = new LinkedHashMap<String, Object>();
            for (String name = in.nextName(); name != null; name = in.nextName()) {
                in.nextToken();
                members.put(name, value(in));
            }
            return members;
        }
        if (in.currentToken() == JsonToken.START_ARRAY) {
            var elements = new ArrayList<Object>();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                elements.add(value(in));
            }
            return elements;
        }
        return in.currentToken() == JsonToken.VALUE_NULL ? "" : in.getString();
    }
}

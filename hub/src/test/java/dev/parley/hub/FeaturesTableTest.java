package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each row of {@code docs/features.md} is named by a test that the row, or the text above its table, names. */
final class FeaturesTableTest {
    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|Contract|IT))(?:\\.(\\w+))?`");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ((?:AK|AV|GEM|KG|ONE)\\d\\d(?:, \\w+)*) \\|.*$");

    private static String features() throws IOException {
        return Files.readString(Path.of("../docs/features.md"));
    }

    private static List<String> tests(String text) {
        return TEST.matcher(text).results().map(found -> found.group(1)).toList();
    }

    @Test
    void everyRowIsNamedByATestThatIsNamedThere() throws IOException {
        Map<String, String> sources = TestSources.byClass();
        for (String section : features().split("(?m)^(?=## )", -1)) {
            List<String> ofAll = tests(section.split("\n\\|", -1)[0]);
            for (MatchResult row : ROW.matcher(section).results().toList()) {
                String named = Stream.concat(ofAll.stream(), tests(row.group()).stream())
                        .map(test -> sources.getOrDefault(test, ""))
                        .reduce("", String::concat);
                for (String id : row.group(1).split(", ", -1)) {
                    // In a display name or comment, or in the name of a method: kg27_threeStores, kg22kg23WhatIsThere.
                    assertThat(named)
                            .as(row.group())
                            .containsPattern("\\b" + id + "\\b|(?:void |kg\\d\\d_?)" + id.toLowerCase(Locale.ROOT));
                }
            }
        }
    }

    @Test
    void testsThatAreNamedExist() throws IOException {
        Map<String, String> sources = TestSources.byClass();
        for (MatchResult test : TEST.matcher(features()).results().toList()) {
            assertThat(sources.keySet()).contains(test.group(1));
            if (test.group(2) != null) {
                assertThat(sources.get(test.group(1))).as(test.group()).contains("void " + test.group(2) + "(");
            }
        }
    }
}

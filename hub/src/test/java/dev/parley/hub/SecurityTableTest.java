package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@code docs/security.md} names is there. */
final class SecurityTableTest {
    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|Contract))(?:\\.(\\w+))?`");
    private static final Pattern CHECK = Pattern.compile("@DisplayName\\(\\s*\"(S\\d[^:\"]*):");

    @Test
    void everyCheckHasOneRow() throws IOException {
        assertThat(SecurityTable.rows().stream().map(List::getFirst))
                .doesNotHaveDuplicates()
                .startsWith(IntStream.rangeClosed(1, 89).mapToObj(i -> "S" + i).toArray(String[]::new));
    }

    @Test
    void testsThatAreNamedExist() throws IOException {
        Map<String, String> sources = TestSources.byClass();
        for (List<String> row : SecurityTable.rows()) {
            var named = NAMED.matcher(row.get(3));
            while (named.find()) {
                assertThat(sources).as(row.getFirst()).containsKey(named.group(1));
                if (named.group(2) != null) {
                    assertThat(sources.get(named.group(1))).as(row.getFirst()).contains("void " + named.group(2) + "(");
                }
            }
        }
    }

    @Test
    void theSuiteIsNamedWhereItHasACheck() throws IOException {
        String suite = TestSources.byClass().get("CallerSecurityTest")
                + TestSources.byClass().get("RequestSecurityTest");
        var checked = CHECK.matcher(suite)
                .results()
                .flatMap(found -> Stream.of(found.group(1).split(", ", -1)))
                .toList();
        for (List<String> row : SecurityTable.rows()) {
            assertThat(row.get(3).contains("the suite")).as(row.getFirst()).isEqualTo(checked.contains(row.getFirst()));
        }
    }
}

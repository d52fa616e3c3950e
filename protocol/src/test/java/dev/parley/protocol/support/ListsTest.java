package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ListsTest {
    private static boolean isSmall(String text) {
        return text.length() == 1;
    }

    @Test
    void theOldestOfTheLastElementsOfAKindGivesWay() {
        List<String> base = List.of("question", "a", "b", "c");

        List<String> once = Lists.appendBounded(base, "d", 3, ListsTest::isSmall);
        List<String> twice = Lists.appendBounded(once, "e", 3, ListsTest::isSmall);

        assertThat(base).containsExactly("question", "a", "b", "c");
        assertThat(once).containsExactly("question", "b", "c", "d");
        assertThat(twice).containsExactly("question", "c", "d", "e");
        assertThat(twice.toArray()).containsExactly("question", "c", "d", "e");
    }

    @Test
    void noneGivesWayWhileAnElementOfAnotherKindIsAmongTheLast() {
        List<String> full = Lists.appendBounded(List.of("a", "b", "c"), "d", 3, ListsTest::isSmall);
        List<String> asked = Lists.append(full, List.of("question"));

        List<String> on = Lists.appendBounded(asked, "e", 3, ListsTest::isSmall);

        assertThat(on).containsExactly("b", "c", "d", "question", "e");
        assertThat(Lists.appendBounded(Lists.append(on, List.of("f", "g")), "h", 3, ListsTest::isSmall))
                .containsExactly("b", "c", "d", "question", "f", "g", "h");
        assertThat(Lists.appendBounded(List.of("a"), "b", 3, ListsTest::isSmall))
                .containsExactly("a", "b");
    }

    /** Lists grow from each other in any order, as tasks do that are read while they go on. */
    @Test
    void eachListKeepsItsElementsWhateverIsMadeOfIt() {
        var random = new Random(7);
        var lists = new ArrayList<List<String>>(List.of(List.of(), List.of("a", "b")));
        var expected = new ArrayList<List<String>>(lists);
        for (int i = 0; i < 5_000; i++) {
            int from = Math.max(0, lists.size() - 1 - random.nextInt(4));
            boolean small = random.nextInt(12) > 0;
            String next = small ? String.valueOf((char) ('a' + i % 26)) : "question";
            var copy = new ArrayList<>(expected.get(from));
            int oldest = copy.size() - 5;
            if (small
                    && oldest >= 0
                    && copy.subList(oldest, copy.size()).stream().allMatch(ListsTest::isSmall)) {
                copy.remove(oldest);
            }
            copy.add(next);
            expected.add(copy);
            lists.add(
                    small
                            ? Lists.appendBounded(lists.get(from), next, 5, ListsTest::isSmall)
                            : Lists.append(lists.get(from), List.of(next)));
        }

        for (int i = 0; i < lists.size(); i++) {
            assertThat(lists.get(i)).isEqualTo(expected.get(i));
            assertThat(lists.get(i).toArray()).isEqualTo(expected.get(i).toArray());
        }
    }
}

package dev.parley.registry.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Lists of words and their combinations, compared with maps. */
final class MatchesTest {
    private static final int ROUNDS = 3_000;

    private final Random random = new Random(56);

    private WordList list() {
        int range = 1 + random.nextInt(300);
        int[] rows =
                random.ints(random.nextInt(60), 0, range).sorted().distinct().toArray();
        char[] fits = new char[rows.length];
        Arrays.setAll(new int[fits.length], i -> fits[i] = (char) random.nextInt(WordList.BEST + 1));
        return new WordList(rows, fits, 1, 100);
    }

    private static Map<Integer, Character> map(WordList list) {
        var map = new TreeMap<Integer, Character>();
        IntStream.range(0, list.size()).forEach(i -> map.put(list.rows()[i], list.fits()[i]));
        return map;
    }

    private static double score(Map<Integer, Character> list, int row) {
        return list.getOrDefault(row, (char) 0) / (double) WordList.BEST;
    }

    @Test
    @DisplayName("rows of all words, and of any, have the sums of their scores")
    void combinations() {
        for (int round = 0; round < ROUNDS; round++) {
            var one = new QueryWord("one", list(), 3);
            var other = new QueryWord("other", list(), 2);
            Map<Integer, Character> ones = map(one.list());
            Map<Integer, Character> others = map(other.list());

            Matches all = Matches.all(List.of(one, other));
            Matches any = Matches.any(List.of(one, other), 1);
            Matches first = Matches.any(List.of(one), 2);
            first.add(other);

            var both = new TreeMap<>(ones);
            both.keySet().retainAll(others.keySet());
            var either = new TreeMap<>(ones);
            either.putAll(others);
            assertThat(IntStream.range(0, all.size()).map(all::row)).containsExactlyElementsOf(both.keySet());
            assertThat(IntStream.range(0, any.size()).map(any::row)).containsExactlyElementsOf(either.keySet());
            for (int i = 0; i < any.size(); i++) {
                double expected = 3 * score(ones, any.row(i)) + 2 * score(others, any.row(i));
                assertThat((double) any.score(i)).isCloseTo(expected, within(1e-5));
            }
            for (int i = 0; i < first.size(); i++) {
                double expected = 6 * score(ones, first.row(i)) + 2 * score(others, first.row(i));
                assertThat((double) first.score(i)).isCloseTo(expected, within(1e-5));
            }
        }
    }

    @Test
    @DisplayName("ranges of a list are replaced by rows that were read again, and two lists become one")
    void replacement() {
        for (int round = 0; round < ROUNDS; round++) {
            WordList list = list();
            int[] bounds = random.ints(4, 0, 300).sorted().distinct().toArray();
            int[] ranges = Arrays.copyOf(bounds, bounds.length / 2 * 2);
            WordList fresh = list();
            int[] inRanges = IntStream.range(0, fresh.size())
                    .filter(i -> isIn(ranges, fresh.rows()[i]))
                    .toArray();
            var read = new WordList(
                    Arrays.stream(inRanges).map(i -> fresh.rows()[i]).toArray(), new char[inRanges.length], 2, 100);

            Map<Integer, Character> expected = map(list);
            expected.keySet().removeIf(row -> isIn(ranges, row));
            expected.putAll(map(read));
            assertThat(map(list.with(ranges, read))).isEqualTo(expected);

            Map<Integer, Character> either = map(fresh);
            either.putAll(map(list));
            assertThat(map(list.or(fresh))).isEqualTo(either);
        }
    }

    private static boolean isIn(int[] ranges, int row) {
        return IntStream.range(0, ranges.length / 2).anyMatch(i -> ranges[2 * i] <= row && row <= ranges[2 * i + 1]);
    }
}

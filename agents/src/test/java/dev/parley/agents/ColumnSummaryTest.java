package dev.parley.agents;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.parley.agents.ColumnSummary.Frequent;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ColumnSummaryTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "INTEGER | 1 -2 +3 0",
                "NUMBER  | 1 2.5 -.5 6.02e23",
                "NUMBER  | 99999999999999999999",
                "TEXT    | 007 42",
                "TEXT    | 1e999",
                "TEXT    | 0x1F",
                "TEXT    | 1 one",
                "BOOLEAN | yes No",
                "BOOLEAN | TRUE false",
                "DATE    | 2026-11-01 2026-11-02T10:00:00Z",
                "TEXT    | 2026-13-01",
                "EMPTY   | NA null -",
            })
    void theTypeIsWhatAllValuesLookLike(CellType expected, String cells) {
        assertThat(summary(cells.split(" ")).type()).isEqualTo(expected);
    }

    @Test
    void emptyCellsAndTheUsualWordsForThemAreMissing() {
        ColumnSummary summary = summary("1", "", " ", "N/A", "NaN", "null", "none", "-", "2");

        assertThat(summary.count()).isEqualTo(2);
        assertThat(summary.missing()).isEqualTo(7);
        assertThat(summary.distinct()).isEqualTo(2);
    }

    @Test
    void numbersAreDescribedByTheirDistribution() {
        NumberSummary numbers = requireNonNull(summary("4", "1", "3", "2", "10").numbers());

        assertThat(numbers.min()).isEqualTo(1);
        assertThat(numbers.max()).isEqualTo(10);
        assertThat(numbers.mean()).isEqualTo(4);
        assertThat(numbers.median()).isEqualTo(3);
        assertThat(numbers.stddev()).isCloseTo(Math.sqrt(12.5), within(1e-12));
        assertThat(numbers.quantile(0.25)).isEqualTo(2);
        assertThat(numbers.quantile(0.95)).isCloseTo(8.8, within(1e-12));
    }

    @Test
    void theMedianOfAnEvenNumberOfValuesLiesBetweenTheMiddleOnes() {
        assertThat(requireNonNull(summary("1", "2", "3", "4").numbers()).median())
                .isEqualTo(2.5);
    }

    @Test
    void equalNumbersWrittenDifferentlyAreOneValue() {
        assertThat(summary("1", "1.0", "1e0").distinct()).isEqualTo(1);
    }

    @Test
    void aDecimalCommaMakesANumberOnlyWhereTheCommaSeparatesNothing() {
        var column = new Table.Column("price", List.of("2,50", "3"));

        assertThat(ColumnSummary.of(column, true).type()).isEqualTo(CellType.NUMBER);
        assertThat(requireNonNull(ColumnSummary.of(column, true).numbers()).max())
                .isEqualTo(3);
        assertThat(ColumnSummary.of(column, false).type()).isEqualTo(CellType.TEXT);
    }

    @Test
    void textsAreDescribedByTheirMostFrequentValues() {
        assertThat(summary("b", "a", "c", "b", "c", "b").top())
                .containsExactly(new Frequent("b", 3), new Frequent("c", 2), new Frequent("a", 1));
    }

    @Test
    void theJsonOfANumberColumnHoldsWholeNumbersAsSuch() {
        assertThat(summary("1", "2").asMap())
                .containsEntry("type", "integer")
                .containsEntry("count", 2)
                .containsEntry("min", 1L)
                .containsEntry("mean", 1.5)
                .containsEntry("max", 2L);
    }

    @Test
    void whatIsNotANumberIsNullInTheJson() {
        assertThat(summary("5").asMap()).containsEntry("stddev", null);
    }

    @Test
    void theJsonOfATextColumnHoldsItsMostFrequentValues() {
        assertThat(summary("x", "y", "x").asMap())
                .containsEntry("type", "text")
                .containsEntry("top", List.of(Map.of("value", "x", "count", 2), Map.of("value", "y", "count", 1)))
                .doesNotContainKey("min");
    }

    private static ColumnSummary summary(String... cells) {
        return ColumnSummary.of(new Table.Column("column", List.of(cells)), false);
    }
}

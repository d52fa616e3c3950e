package dev.parley.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.agents.Chart.Bars;
import dev.parley.agents.Chart.Histogram;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ChartTest {
    @Test
    void fewWholeNumbersGetABarEach() {
        Histogram histogram = histogram("1", "2", "2", "5");

        assertThat(histogram.start()).isEqualTo(0.5);
        assertThat(histogram.step()).isEqualTo(1);
        assertThat(histogram.counts()).containsExactly(1, 2, 0, 0, 1);
    }

    @Test
    void manyNumbersAreCountedInRangesWithRoundBorders() {
        String[] cells =
                IntStream.range(0, 1000).mapToObj(i -> String.valueOf(i / 10.0)).toArray(String[]::new);

        Histogram histogram = histogram(cells);

        assertThat(histogram.start()).isZero();
        assertThat(histogram.step()).isEqualTo(5);
        assertThat(histogram.counts()).hasSize(20).containsOnly(50);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0",
                "-7.5 -7.5",
                "1e-320 2e-320",
                "1e300 -1e300",
                "123456789012345678 123456789012345679",
                "0.1 0.2 0.30000000000000004",
                "-3 -2.5 1e6"
            })
    void everyNumberIsCountedHoweverOddItsScale(String cells) {
        String[] numbers = cells.split(" ");

        Histogram histogram = histogram(numbers);

        assertThat(Arrays.stream(histogram.counts()).sum()).isEqualTo(numbers.length);
        assertThat(histogram.counts().length).isBetween(1, 30);
    }

    @Test
    void textsGetABarForEachOfTheirMostFrequentValues() {
        Chart chart = chart(column("city", "Oslo", "Bergen", "Oslo"));

        assertThat(chart.panels())
                .singleElement()
                .asInstanceOf(type(Bars.class))
                .satisfies(bars -> {
                    assertThat(bars.labels()).containsExactly("Oslo", "Bergen");
                    assertThat(bars.counts()).containsExactly(2, 1);
                });
    }

    @Test
    void runningNumbersAndTextsOfManyValuesAreLeftOut() {
        String[] ids = IntStream.range(0, 50).mapToObj(String::valueOf).toArray(String[]::new);
        String[] names = IntStream.range(0, 50).mapToObj(i -> "name " + i).toArray(String[]::new);
        String[] groups =
                IntStream.range(0, 50).mapToObj(i -> i % 2 == 0 ? "a" : "b").toArray(String[]::new);

        Chart chart = chart(column("id", ids), column("name", names), column("group", groups));

        assertThat(chart.panels()).extracting(Chart.Panel::title).containsExactly("group");
    }

    @Test
    void whereNothingElseIsWorthShowingTheChartShowsHowFullTheColumnsAre() {
        Chart chart = chart(column("nothing", "", ""));

        assertThat(chart.panels()).extracting(Chart.Panel::title).containsExactly("Values per column");
    }

    @ParameterizedTest
    @CsvSource({"1,1", "1.1,2", "3,5", "7,10", "0.012,0.02", "43210,50000"})
    void aRoundStepIsOneTwoOrFiveTimesAPowerOfTen(double atLeast, double step) {
        assertThat(Chart.roundStep(atLeast)).isEqualTo(step);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 6})
    void theChartIsDrawnAsAPngThatShowsSomething(int panels) throws IOException {
        ColumnSummary[] columns = IntStream.range(0, panels)
                .mapToObj(i -> i % 2 == 0
                        ? column("number " + i, "1", "2.5", "3", "1000000")
                        : column("text " + i, "a", "b", "a value so long that it cannot fit beside its bar at all"))
                .toArray(ColumnSummary[]::new);

        byte[] png = ChartPainter.png(chart(columns));

        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        assertThat(image.getWidth()).isEqualTo(1200);
        assertThat(image.getHeight()).isGreaterThan(400 * ((panels + 1) / 2) - 200);
        long colours = IntStream.range(0, image.getHeight())
                .flatMap(y -> IntStream.range(0, image.getWidth()).map(x -> image.getRGB(x, y)))
                .distinct()
                .count();
        assertThat(colours).isGreaterThan(10);
    }

    @Test
    void anAxisOfCountsHasWholeMarks() {
        assertThat(Axis.wholeFromZero(3).ticks()).containsExactly(0, 1, 2, 3);
        assertThat(Axis.wholeFromZero(0).ticks()).containsExactly(0, 1);
        assertThat(Axis.wholeFromZero(777).ticks()).containsExactly(0, 200, 400, 600, 800);
    }

    private static Histogram histogram(String... cells) {
        Chart chart = chart(column("n", cells));
        return (Histogram) chart.panels().getFirst();
    }

    private static ColumnSummary column(String name, String... cells) {
        return ColumnSummary.of(new Table.Column(name, List.of(cells)), false);
    }

    private static Chart chart(ColumnSummary... columns) {
        return Chart.of("test.csv", new Table(List.of(), 3, ','), List.of(columns));
    }
}

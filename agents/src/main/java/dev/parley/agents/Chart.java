package dev.parley.agents;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Contents of a picture of a table, before it is drawn.
 *
 * @param panels at most {@link #MAX_PANELS}
 */
record Chart(String title, String subtitle, List<Panel> panels) {
    static final int MAX_PANELS = 6;
    private static final int BARS = 8;
    private static final int BINS = 20;
    private static final int MOST_VALUES = 30;

    /** One diagram of the picture; {@code counts} are the heights or lengths of its bars. */
    sealed interface Panel {
        String title();

        int[] counts();
    }

    /** Counts of numbers in equal ranges, of which the first begins at {@code start}. */
    record Histogram(String title, double start, double step, int[] counts) implements Panel {}

    /** Counts of several values. */
    record Bars(String title, List<String> labels, int[] counts) implements Panel {}

    /**
     * Shows numbers first, then texts. Leaves out columns that no diagram makes clearer: running numbers, and texts of a great
     * many values.
     */
    static Chart of(String title, Table table, List<ColumnSummary> columns) {
        Stream<Panel> histograms = columns.stream().filter(Chart::isWorthwhile).map(Chart::histogram);
        Stream<Panel> bars = columns.stream()
                .filter(column -> !column.top().isEmpty())
                .filter(column -> column.distinct() <= MOST_VALUES)
                .map(Chart::bars);
        List<Panel> panels = Stream.concat(histograms, bars).limit(MAX_PANELS).toList();
        if (panels.isEmpty()) {
            // Nothing of the kind: how full the columns are is still worth a look.
            panels = List.of(filled(columns));
        }
        return new Chart(title, "%,d rows, %d columns".formatted(table.rows(), columns.size()), panels);
    }

    private static boolean isWorthwhile(ColumnSummary column) {
        NumberSummary numbers = column.numbers();
        if (numbers == null || !Double.isFinite(numbers.max() - numbers.min())) {
            return false;
        }
        boolean running = column.type() == CellType.INTEGER
                && column.count() > 2
                && column.distinct() == column.count()
                && numbers.max() - numbers.min() == column.count() - 1;
        return !running;
    }

    private static Panel histogram(ColumnSummary column) {
        NumberSummary numbers = Objects.requireNonNull(column.numbers());
        boolean whole = column.type() == CellType.INTEGER;
        double range = numbers.max() - numbers.min();
        // Few whole numbers get a bar each; otherwise the ranges have round borders.
        boolean single = whole && range < BINS;
        double step = single ? 1 : Math.max(roundStep(range / BINS, numbers), whole ? 1 : 0);
        double start = single ? numbers.min() - 0.5 : Math.floor(numbers.min() / step) * step;
        int[] counts = new int[(int) Math.floor((numbers.max() - start) / step) + 1];
        for (double value : numbers.sorted()) {
            counts[Math.clamp((long) Math.floor((value - start) / step), 0, counts.length - 1)]++;
        }
        return new Histogram(column.name(), start, step, counts);
    }

    /** The smallest of 1, 2 and 5 times a power of ten that is not less than {@code atLeast}. */
    static double roundStep(double atLeast) {
        double power = Math.pow(10, Math.floor(Math.log10(atLeast)));
        for (double factor : new double[] {1, 2, 5}) {
            if (factor * power >= atLeast) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    private static double roundStep(double atLeast, NumberSummary numbers) {
        // All values equal, or so near that the step would vanish beside them: one bar around them.
        double size = Math.max(Math.abs(numbers.min()), Math.abs(numbers.max()));
        double least = size == 0 ? 1 : Math.max(size * 1e-9, 1e-300);
        return roundStep(Math.max(atLeast, least));
    }

    private static Panel bars(ColumnSummary column) {
        List<ColumnSummary.Frequent> top = column.top().stream().limit(BARS).toList();
        List<String> labels = top.stream().map(ColumnSummary.Frequent::value).toList();
        int[] counts = top.stream().mapToInt(ColumnSummary.Frequent::times).toArray();
        return new Bars(column.name(), labels, counts);
    }

    private static Panel filled(List<ColumnSummary> columns) {
        List<ColumnSummary> shown = columns.stream().limit(BARS).toList();
        return new Bars(
                "Values per column",
                shown.stream().map(ColumnSummary::name).toList(),
                shown.stream().mapToInt(ColumnSummary::count).toArray());
    }
}

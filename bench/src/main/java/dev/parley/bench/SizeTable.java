package dev.parley.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Quantities that were measured at several sizes, with the prediction of the last one from those before, and of larger ones from all. The
 * error of a prediction is the largest difference that leaving out one of the sizes makes.
 */
final class SizeTable {
    private static final double[] LARGE = {1e8, 1e9};

    /** How a quantity depends on the size. */
    private enum Growth {
        NONE,
        LINEAR,
        LOGARITHMIC;

        private double term(double size) {
            return switch (this) {
                case NONE -> 0;
                case LINEAR -> size;
                case LOGARITHMIC -> Math.log(size);
            };
        }
    }

    /** @param pages of an index, for its height; empty for other quantities */
    private record Quantity(Growth growth, List<Double> values, List<Double> pages) {}

    private final List<Double> sizes = new ArrayList<>();
    private final Map<String, Quantity> quantities = new LinkedHashMap<>();

    /** The values that follow are of this size. */
    void begin(int size) {
        sizes.add((double) size);
    }

    void constant(String name, double value) {
        add(name, Growth.NONE, value);
    }

    void linear(String name, double value) {
        add(name, Growth.LINEAR, value);
    }

    void logarithmic(String name, double value) {
        add(name, Growth.LOGARITHMIC, value);
    }

    /** @param levels above the leaves */
    void height(String name, int levels, long pages) {
        Quantity height = quantity(name, Growth.LINEAR);
        height.values.add((double) levels);
        height.pages.add((double) pages);
    }

    private void add(String name, Growth growth, double value) {
        quantity(name, growth).values.add(value);
    }

    private Quantity quantity(String name, Growth growth) {
        return quantities.computeIfAbsent(name, any -> new Quantity(growth, new ArrayList<>(), new ArrayList<>()));
    }

    String markdown() {
        int last = sizes.size() - 1;
        var text = new StringBuilder("| quantity |");
        sizes.forEach(size -> text.append(" at ").append(number(size)).append(" |"));
        text.append(" predicted | difference | at 10⁸ | at 10⁹ |\n|---|")
                .append("---|".repeat(sizes.size() + 4))
                .append('\n');
        quantities.forEach((name, quantity) -> {
            if (quantity.values.size() != sizes.size()) {
                return; // too small to be listed at first
            }
            text.append("| ").append(name).append(" |");
            quantity.values.forEach(
                    value -> text.append(' ').append(number(value)).append(" |"));
            double predicted = predicted(quantity, last, -1, sizes.get(last));
            double measured = quantity.values.get(last);
            text.append(' ').append(number(predicted)).append(" | ");
            text.append(measured == 0 ? "" : number(100 * (predicted / measured - 1)) + " %")
                    .append(" |");
            for (double size : LARGE) {
                text.append(' ').append(number(predicted(quantity, sizes.size(), -1, size)));
                text.append(quantity.pages.isEmpty() ? " ± " + number(error(quantity, size)) : "")
                        .append(" |");
            }
            text.append('\n');
        });
        return text.toString();
    }

    private double error(Quantity quantity, double size) {
        double all = predicted(quantity, sizes.size(), -1, size);
        double largest = 0;
        for (int left = 0; left < sizes.size(); left++) {
            largest = Math.max(largest, Math.abs(predicted(quantity, sizes.size(), left, size) - all));
        }
        return largest;
    }

    /**
     * The prediction from the first measurements.
     *
     * @param left out; -1 for none
     */
    private double predicted(Quantity quantity, int first, int left, double size) {
        if (!quantity.pages.isEmpty()) {
            double pages = fitted(Growth.LINEAR, quantity.pages, first, left, size);
            double rowsOfPage =
                    size / pages; // an inner page has about as many, as its entries are like those of leaves
            return Math.ceil(Math.log(pages) / Math.log(rowsOfPage));
        }
        return fitted(quantity.growth, quantity.values, first, left, size);
    }

    /** Least squares of the relative differences, so that a small size counts as much as a large one. */
    private double fitted(Growth growth, List<Double> values, int first, int left, double size) {
        double sum = 0;
        double sumX = 0;
        double sumY = 0;
        double sumXx = 0;
        double sumXy = 0;
        for (int i = 0; i < first; i++) {
            if (i != left) {
                double x = growth.term(sizes.get(i));
                double y = values.get(i);
                double weight = 1 / Math.max(1e-9, y * y);
                sum += weight;
                sumX += weight * x;
                sumY += weight * y;
                sumXx += weight * x * x;
                sumXy += weight * x * y;
            }
        }
        double spread = sum * sumXx - sumX * sumX;
        if (growth == Growth.NONE || spread <= 0) {
            return sumY / sum;
        }
        double slope = (sum * sumXy - sumX * sumY) / spread;
        return (sumY - slope * sumX) / sum + slope * growth.term(size);
    }

    private static String number(double value) {
        return Figure.number(value);
    }
}

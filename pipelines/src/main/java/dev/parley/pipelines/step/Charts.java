package dev.parley.pipelines.step;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Charts as PNG. */
public final class Charts {
    private static final System.Logger LOG = System.getLogger("dev.parley.pipelines");
    private static final int MAX_LABEL = 24;

    private Charts() {}

    /**
     * Stacked bars.
     *
     * @param labels one for each bar
     * @param series heights of the pieces, for each bar
     * @return empty if the machine has no fonts
     */
    public static Optional<byte[]> stackedBars(
            String title, String axis, List<String> labels, Map<String, ? extends List<Integer>> series) {
        try {
            System.setProperty("java.awt.headless", "true");
            CategoryChart chart = new CategoryChartBuilder()
                    .width(900)
                    .height(480)
                    .title(title)
                    .yAxisTitle(axis)
                    .build();
            chart.getStyler().setStacked(true);
            chart.getStyler().setLegendPosition(LegendPosition.OutsideS);
            chart.getStyler().setXAxisLabelRotation(labels.size() > 6 ? 45 : 0);
            chart.getStyler().setChartBackgroundColor(Color.WHITE);
            List<String> names = labels.stream().map(Charts::label).toList();
            series.forEach((name, heights) -> chart.addSeries(name, names, heights));
            var png = new ByteArrayOutputStream();
            ImageIO.write(BitmapEncoder.getBufferedImage(chart), "png", png);
            return Optional.of(png.toByteArray());
        } catch (LinkageError | InternalError noFonts) {
            LOG.log(System.Logger.Level.WARNING, "cannot draw: fonts are missing on this machine", noFonts);
            return Optional.empty();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // writes into memory
        }
    }

    private static String label(String text) {
        return text.codePointCount(0, text.length()) <= MAX_LABEL
                ? text
                : text.substring(0, text.offsetByCodePoints(0, MAX_LABEL - 1)) + "…";
    }
}

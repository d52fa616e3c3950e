package dev.parley.agents;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.Rectangle;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/**
 * Draws charts. The only class that touches {@code java.awt}, which takes long to load and is not needed before the first
 * chart; so nothing else may mention its types.
 */
final class ChartPainter {
    static {
        // Drawing needs no screen; without this a dangling DISPLAY would make it fail. Stands before
        // the fonts below, which look at it.
        if (System.getProperty("java.awt.headless") == null) {
            System.setProperty("java.awt.headless", "true");
        }
    }

    private static final int WIDTH = 1200;
    private static final int HEADER = 76;
    private static final int PANEL_HEIGHT = 340;
    private static final int GAP = 24;

    private static final Color INK = new Color(0x22, 0x2B, 0x36);
    private static final Color FAINT_INK = new Color(0x6B, 0x76, 0x84);
    private static final Color GRID = new Color(0xE3, 0xE7, 0xEC);
    private static final Color NUMBERS = new Color(0x3B, 0x72, 0xB8);
    private static final Color TEXTS = new Color(0x2F, 0x9C, 0x8A);

    private static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 22);
    private static final Font PANEL_TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 15);
    private static final Font LABEL = new Font(Font.SANS_SERIF, Font.PLAIN, 12);

    private final Graphics2D g;

    private ChartPainter(Graphics2D g) {
        this.g = g;
    }

    /** The chart as a PNG. */
    static byte[] png(Chart chart) {
        int columns = chart.panels().size() == 1 ? 1 : 2;
        int rows = (chart.panels().size() + columns - 1) / columns;
        int height = HEADER + rows * (PANEL_HEIGHT + GAP);
        var image = new BufferedImage(WIDTH, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = image.createGraphics();
        try {
            g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
            g.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
            g.setColor(Color.WHITE);
            g.fillRect(0, 0, WIDTH, height);
            new ChartPainter(g).draw(chart, columns);
        } finally {
            g.dispose();
        }
        return encode(image);
    }

    private static byte[] encode(BufferedImage image) {
        var bytes = new ByteArrayOutputStream();
        // In memory, because ImageIO would otherwise make a temporary file.
        try (var out = new MemoryCacheImageOutputStream(bytes)) {
            ImageIO.write(image, "png", out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private void draw(Chart chart, int columns) {
        text(fit(chart.title(), TITLE, WIDTH - 2 * GAP), TITLE, INK, GAP, 36);
        text(chart.subtitle(), LABEL, FAINT_INK, GAP, 58);
        int width = (WIDTH - GAP * (columns + 1)) / columns;
        List<Chart.Panel> panels = chart.panels();
        for (int i = 0; i < panels.size(); i++) {
            boolean alone = i == panels.size() - 1 && i % columns == 0;
            int x = GAP + (i % columns) * (width + GAP);
            int y = HEADER + (i / columns) * (PANEL_HEIGHT + GAP);
            var area = new Rectangle(x, y, alone ? WIDTH - 2 * GAP : width, PANEL_HEIGHT);
            switch (panels.get(i)) {
                case Chart.Histogram histogram -> draw(histogram, area);
                case Chart.Bars bars -> draw(bars, area);
            }
        }
    }

    private void draw(Chart.Histogram histogram, Rectangle area) {
        text(fit(histogram.title(), PANEL_TITLE, area.width), PANEL_TITLE, INK, area.x, area.y + 14);
        var plot = new Rectangle(area.x + 62, area.y + 30, area.width - 74, area.height - 84);
        int[] counts = histogram.counts();
        int top = Axis.max(counts);
        Axis rows = Axis.wholeFromZero(top);
        for (double tick : rows.ticks()) {
            int y = (int) Math.round(plot.y + plot.height * (1 - tick / rows.end()));
            g.setColor(GRID);
            g.drawLine(plot.x, y, plot.x + plot.width, y);
            right(TableReport.number(tick), plot.x - 8, y + 4);
        }
        double end = histogram.start() + histogram.step() * counts.length;
        double barWidth = (double) plot.width / counts.length;
        g.setColor(NUMBERS);
        for (int i = 0; i < counts.length; i++) {
            int height = height(counts[i], rows.end(), plot.height);
            int x = (int) Math.round(plot.x + i * barWidth);
            int next = (int) Math.round(plot.x + (i + 1) * barWidth);
            g.fillRect(x + 1, plot.y + plot.height - height, Math.max(1, next - x - 1), height);
        }
        for (double tick : Axis.between(histogram.start(), end).ticks()) {
            int x = (int) Math.round(plot.x + plot.width * (tick - histogram.start()) / (end - histogram.start()));
            g.setColor(FAINT_INK);
            g.drawLine(x, plot.y + plot.height, x, plot.y + plot.height + 4);
            centered(TableReport.number(tick), x, plot.y + plot.height + 19);
        }
        baseline(plot.x, plot.y + plot.height, plot.x + plot.width, plot.y + plot.height);
        centered("value", plot.x + plot.width / 2, plot.y + plot.height + 40);
        sideways("rows", area.x + 12, plot.y + plot.height / 2);
    }

    private void draw(Chart.Bars bars, Rectangle area) {
        text(fit(bars.title(), PANEL_TITLE, area.width), PANEL_TITLE, INK, area.x, area.y + 14);
        int labelWidth = Math.min(area.width / 3, widest(bars.labels()) + 12);
        var plot = new Rectangle(area.x + 20 + labelWidth, area.y + 30, area.width - labelWidth - 64, area.height - 84);
        int[] counts = bars.counts();
        Axis rows = Axis.wholeFromZero(Axis.max(counts));
        for (double tick : rows.ticks()) {
            int x = (int) Math.round(plot.x + plot.width * tick / rows.end());
            g.setColor(GRID);
            g.drawLine(x, plot.y, x, plot.y + plot.height);
            centered(TableReport.number(tick), x, plot.y + plot.height + 19);
        }
        double step = (double) plot.height / counts.length;
        int thickness = (int) Math.min(step * 0.72, 34);
        for (int i = 0; i < counts.length; i++) {
            int middle = (int) Math.round(plot.y + (i + 0.5) * step);
            int length = height(counts[i], rows.end(), plot.width);
            g.setColor(TEXTS);
            g.fillRect(plot.x, middle - thickness / 2, length, thickness);
            right(fit(bars.labels().get(i), LABEL, labelWidth), plot.x - 8, middle + 4);
            text(TableReport.number(counts[i]), LABEL, INK, plot.x + length + 5, middle + 4);
        }
        baseline(plot.x, plot.y, plot.x, plot.y + plot.height);
        centered("rows", plot.x + plot.width / 2, plot.y + plot.height + 40);
        sideways("value", area.x + 12, plot.y + plot.height / 2);
    }

    /** The size of a bar; values above zero have at least a visible one. */
    private static int height(int count, double end, int size) {
        return count == 0 ? 0 : (int) Math.max(1, Math.round(size * count / end));
    }

    private void baseline(int x1, int y1, int x2, int y2) {
        g.setColor(FAINT_INK);
        g.setStroke(new BasicStroke(1.4f));
        g.drawLine(x1, y1, x2, y2);
        g.setStroke(new BasicStroke(1));
    }

    private void text(String text, Font font, Color color, int x, int y) {
        g.setFont(font);
        g.setColor(color);
        g.drawString(text, x, y);
    }

    private void centered(String label, int x, int y) {
        text(label, LABEL, FAINT_INK, x - metrics(LABEL).stringWidth(label) / 2, y);
    }

    private void right(String label, int x, int y) {
        text(label, LABEL, FAINT_INK, x - metrics(LABEL).stringWidth(label), y);
    }

    private void sideways(String label, int x, int y) {
        var upright = g.getTransform();
        g.rotate(-Math.PI / 2, x, y);
        centered(label, x, y);
        g.setTransform(upright);
    }

    private int widest(List<String> labels) {
        return labels.stream()
                .mapToInt(label -> metrics(LABEL).stringWidth(Texts.shorten(label, 60)))
                .max()
                .orElse(0);
    }

    /** {@code text} in one line, cut to {@code width}. */
    private String fit(String text, Font font, int width) {
        String line = Texts.shorten(text, 120);
        for (int length = line.length(); length > 2 && metrics(font).stringWidth(line) > width; length--) {
            line = Texts.shorten(text, length);
        }
        return line;
    }

    private FontMetrics metrics(Font font) {
        return g.getFontMetrics(font);
    }
}

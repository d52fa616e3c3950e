package dev.parley.knowledge.command;

import dev.parley.command.SafeText;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Line2D;
import java.awt.geom.RoundRectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.imageio.ImageIO;

/**
 * A small graph as a picture: entities in rings around the first one, each after the one through which it was found.
 *
 * <p>A ring is as wide as its nodes need, and every node gets a sector that is as wide as what hangs on it, so lines of
 * different branches do not cross.
 */
final class GraphPicture {
    private static final int HEIGHT = 26;
    private static final int CHARACTER = 7;
    private static final int RING = 190;
    private static final int MARGIN = 40;
    private static final int LONGEST = 34;

    /** @param value whether it is a value, and no entity */
    private record Node(String key, String label, boolean value) {
        int width() {
            return 18 + CHARACTER * label.length();
        }
    }

    private record Edge(Node from, Node to, String label) {}

    private record Point(double x, double y) {}

    /** Elements to paint once all are placed. */
    private record Placed(Map<Node, Point> nodes, int width, int height) {}

    private final Node centre;
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final Set<Edge> edges = new LinkedHashSet<>();

    GraphPicture(String entity) {
        this.centre = entity(entity);
    }

    int size() {
        return nodes.size();
    }

    private Node entity(String id) {
        return nodes.computeIfAbsent("e" + id, key -> new Node(key, shortened(id), false));
    }

    /** Adds that one entity points at another. */
    void edge(String from, String to, String label) {
        edges.add(new Edge(entity(from), entity(to), label));
    }

    /** Adds a value of an entity, beside others of the same text. */
    void value(String from, String value, String label) {
        String key = "v" + from + "\n" + label + "\n" + value;
        Node node = nodes.computeIfAbsent(key, made -> new Node(made, clipped(value), true));
        edges.add(new Edge(entity(from), node, label));
    }

    /** The last piece of an address; other ids as they are. */
    static String shortened(String id) {
        boolean address = id.contains("://");
        int from = address ? Math.max(id.lastIndexOf('#'), id.lastIndexOf('/')) + 1 : 0;
        return clipped(from < id.length() ? id.substring(from) : id);
    }

    private static String clipped(String text) {
        String line = SafeText.oneLine(text);
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST - 1) + "…";
    }

    // ---- As text

    String mermaid() {
        var text = new StringBuilder("graph LR\n");
        Map<Node, String> names = names();
        names.forEach((node, name) -> text.append("  ")
                .append(name)
                .append(node.value() ? "([\"" : "[\"")
                .append(forMermaid(node.label()))
                .append(node.value() ? "\"])" : "\"]")
                .append('\n'));
        for (Edge edge : edges) {
            text.append("  ")
                    .append(names.get(edge.from()))
                    .append(" -->|\"")
                    .append(forMermaid(edge.label()))
                    .append("\"| ")
                    .append(names.get(edge.to()))
                    .append('\n');
        }
        return text.toString();
    }

    String dot() {
        var text = new StringBuilder("digraph knowledge {\n  rankdir=LR;\n");
        Map<Node, String> names = names();
        names.forEach((node, name) -> text.append("  ")
                .append(name)
                .append(" [label=\"")
                .append(forDot(node.label()))
                .append(node.value() ? "\", shape=box, style=rounded];\n" : "\", shape=box];\n"));
        for (Edge edge : edges) {
            text.append("  ")
                    .append(names.get(edge.from()))
                    .append(" -> ")
                    .append(names.get(edge.to()))
                    .append(" [label=\"")
                    .append(forDot(edge.label()))
                    .append("\"];\n");
        }
        return text.append("}\n").toString();
    }

    private Map<Node, String> names() {
        var names = new LinkedHashMap<Node, String>();
        nodes.values().forEach(node -> names.put(node, "n" + names.size()));
        return names;
    }

    private static String forMermaid(String label) {
        return forXml(label).replace("|", "#124;");
    }

    private static String forDot(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"");
    }

    private static String forXml(String label) {
        return label.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    // ---- As a drawing

    String svg() {
        Placed placed = place();
        var text = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                        + " font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>%n",
                placed.width(),
                placed.height(),
                placed.width(),
                placed.height()));
        for (Edge edge : edges) {
            Point from = at(placed, edge.from());
            Point to = at(placed, edge.to());
            text.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#8a94a6\"/>%n",
                    from.x(),
                    from.y(),
                    to.x(),
                    to.y()));
        }
        for (Edge edge : edges) {
            Point label = label(at(placed, edge.from()), at(placed, edge.to()));
            text.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%.1f\" y=\"%.1f\" fill=\"#4a5568\" font-size=\"10\" stroke=\"#ffffff\""
                            + " stroke-width=\"3\" paint-order=\"stroke\">%s</text>%n",
                    label.x(),
                    label.y(),
                    forXml(edge.label())));
        }
        placed.nodes()
                .forEach((node, at) -> text.append(String.format(
                        Locale.ROOT,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\" stroke=\"#2f5d8a\"/>%n"
                                + "<text x=\"%.1f\" y=\"%.1f\">%s</text>%n",
                        at.x() - node.width() / 2.0,
                        at.y() - HEIGHT / 2.0,
                        node.width(),
                        HEIGHT,
                        node.value() ? HEIGHT / 2 : 4,
                        String.format("#%06x", fill(node).getRGB() & 0xffffff),
                        at.x(),
                        at.y() + 4,
                        forXml(node.label()))));
        return text.append("</svg>\n").toString();
    }

    byte[] png() {
        Placed placed = place();
        var image = new BufferedImage(placed.width(), placed.height(), BufferedImage.TYPE_INT_RGB);
        Graphics2D on = image.createGraphics();
        on.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        on.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        on.setColor(Color.WHITE);
        on.fillRect(0, 0, placed.width(), placed.height());
        on.setStroke(new BasicStroke(1));
        on.setColor(new Color(0x8a94a6));
        for (Edge edge : edges) {
            Point from = at(placed, edge.from());
            Point to = at(placed, edge.to());
            on.draw(new Line2D.Double(from.x(), from.y(), to.x(), to.y()));
        }
        on.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 10));
        for (Edge edge : edges) {
            Point label = label(at(placed, edge.from()), at(placed, edge.to()));
            int width = on.getFontMetrics().stringWidth(edge.label());
            on.setColor(Color.WHITE);
            on.fillRect((int) label.x() - width / 2, (int) label.y() - 9, width, 12);
            on.setColor(new Color(0x4a5568));
            on.drawString(edge.label(), (float) label.x() - width / 2f, (float) label.y());
        }
        on.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        placed.nodes().forEach((node, at) -> paint(on, node, at));
        on.dispose();
        var bytes = new ByteArrayOutputStream();
        try {
            ImageIO.write(image, "png", bytes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    private void paint(Graphics2D on, Node node, Point at) {
        double round = node.value() ? HEIGHT : 8;
        var box = new RoundRectangle2D.Double(
                at.x() - node.width() / 2.0, at.y() - HEIGHT / 2.0, node.width(), HEIGHT, round, round);
        on.setColor(fill(node));
        on.fill(box);
        on.setColor(new Color(0x2f5d8a));
        on.draw(box);
        on.setColor(Color.BLACK);
        int width = on.getFontMetrics().stringWidth(node.label());
        on.drawString(node.label(), (float) at.x() - width / 2f, (float) at.y() + 4);
    }

    private Color fill(Node node) {
        return node.equals(centre) ? new Color(0xffe8b3) : node.value() ? new Color(0xf1f5f9) : new Color(0xdbeafe);
    }

    private static Point at(Placed placed, Node node) {
        return placed.nodes().getOrDefault(node, new Point(0, 0));
    }

    /** Nearer to the outer end, where there is more room. */
    private static Point label(Point from, Point to) {
        return new Point(from.x() + (to.x() - from.x()) * 0.55, from.y() + (to.y() - from.y()) * 0.55);
    }

    // ---- Placing

    private Placed place() {
        Map<Node, List<Node>> below = tree();
        Map<Node, Point> raw = new LinkedHashMap<>();
        spread(centre, 0, 0, 2 * Math.PI, radius(below), below, raw);
        double left = Double.MAX_VALUE;
        double top = Double.MAX_VALUE;
        double right = -Double.MAX_VALUE;
        double bottom = -Double.MAX_VALUE;
        for (Map.Entry<Node, Point> one : raw.entrySet()) {
            double half = one.getKey().width() / 2.0;
            left = Math.min(left, one.getValue().x() - half);
            right = Math.max(right, one.getValue().x() + half);
            top = Math.min(top, one.getValue().y() - HEIGHT / 2.0);
            bottom = Math.max(bottom, one.getValue().y() + HEIGHT / 2.0);
        }
        var moved = new LinkedHashMap<Node, Point>();
        for (Map.Entry<Node, Point> one : raw.entrySet()) {
            moved.put(
                    one.getKey(),
                    new Point(one.getValue().x() - left + MARGIN, one.getValue().y() - top + MARGIN));
        }
        return new Placed(moved, (int) (right - left) + 2 * MARGIN, (int) (bottom - top) + 2 * MARGIN);
    }

    /** Each node below the one through which it is reached first. */
    private Map<Node, List<Node>> tree() {
        var below = new LinkedHashMap<Node, List<Node>>();
        var seen = new LinkedHashSet<Node>(List.of(centre));
        var layer = List.of(centre);
        while (!layer.isEmpty()) {
            var next = new ArrayList<Node>();
            for (Node node : layer) {
                for (Edge edge : edges) {
                    Node other =
                            edge.from().equals(node) ? edge.to() : edge.to().equals(node) ? edge.from() : null;
                    if (other != null && seen.add(other)) {
                        below.computeIfAbsent(node, made -> new ArrayList<>()).add(other);
                        next.add(other);
                    }
                }
            }
            layer = next;
        }
        return below;
    }

    /** Distance between two rings, large enough for the nodes of the fullest ring to stand side by side. */
    private double radius(Map<Node, List<Node>> below) {
        int leaves = leaves(centre, below);
        return Math.max(RING, leaves * (HEIGHT + 14) / (2 * Math.PI));
    }

    private static int leaves(Node node, Map<Node, List<Node>> below) {
        List<Node> children = below.getOrDefault(node, List.of());
        return children.isEmpty()
                ? 1
                : children.stream().mapToInt(child -> leaves(child, below)).sum();
    }

    private static void spread(
            Node node,
            int ring,
            double from,
            double to,
            double radius,
            Map<Node, List<Node>> below,
            Map<Node, Point> placed) {
        double angle = (from + to) / 2;
        // Wider than high, as labels are.
        placed.put(node, new Point(1.35 * ring * radius * Math.cos(angle), ring * radius * Math.sin(angle)));
        int all = leaves(node, below);
        double begin = from;
        for (Node child : below.getOrDefault(node, List.of())) {
            double end = begin + (to - from) * leaves(child, below) / all;
            spread(child, ring + 1, begin, end, radius, below, placed);
            begin = end;
        }
    }
}

package dev.parley.dialect.operations;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A path of the REST binding, such as {@code /tasks/{id}:cancel}. */
public final class PathTemplate {
    /** Either fixed text, or ({@code variable}) anything in front of fixed text. */
    private record Segment(@Nullable String variable, String fixed) {}

    private final String template;
    private final List<Segment> segments;

    private PathTemplate(String template, List<Segment> segments) {
        this.template = template;
        this.segments = segments;
    }

    public static PathTemplate of(String template) {
        var segments = new ArrayList<Segment>();
        for (String segment : template.substring(1).split("/", -1)) {
            int end = segment.indexOf('}');
            segments.add(
                    end < 0
                            ? new Segment(null, segment)
                            : new Segment(segment.substring(1, end), segment.substring(end + 1)));
        }
        return new PathTemplate(template, segments);
    }

    /** True for a path that ends in a verb of its own, such as {@code :cancel}, after a variable. */
    boolean hasVerb() {
        Segment last = segments.getLast();
        return last.variable != null && !last.fixed.isEmpty();
    }

    /** Returns the variables of a path given by its decoded segments; null if it is another path. */
    @Nullable
    public Map<String, String> match(List<String> path) {
        if (path.size() != segments.size()) {
            return null;
        }
        var variables = new LinkedHashMap<String, String>();
        for (int i = 0; i < path.size(); i++) {
            Segment segment = segments.get(i);
            String given = path.get(i);
            if (segment.variable == null ? !given.equals(segment.fixed) : !given.endsWith(segment.fixed)) {
                return null;
            }
            if (segment.variable != null) {
                String value = given.substring(0, given.length() - segment.fixed.length());
                if (value.isEmpty() || value.startsWith(":")) {
                    return null; // a verb without its object
                }
                variables.put(segment.variable, value);
            }
        }
        return variables;
    }

    public Set<String> variables() {
        var variables = new LinkedHashSet<String>();
        for (Segment segment : segments) {
            if (segment.variable != null) {
                variables.add(segment.variable);
            }
        }
        return variables;
    }

    /** The template itself. */
    @Override
    public String toString() {
        return template;
    }

    /** Returns the path with its variables filled in. */
    public String fill(UnaryOperator<String> values) {
        var path = new StringBuilder();
        for (Segment segment : segments) {
            path.append('/');
            if (segment.variable != null) {
                path.append(encode(values.apply(segment.variable)));
            }
            path.append(segment.fixed);
        }
        return path.toString();
    }

    /** Returns parameters as the query of an address; empty for none. */
    public static String query(Map<String, String> parameters) {
        var query = new StringJoiner("&", "?", "").setEmptyValue("");
        parameters.forEach((name, value) -> query.add(encode(name) + "=" + encode(value)));
        return query.toString();
    }

    /** Returns text as it may stand in a path or a query. */
    public static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}

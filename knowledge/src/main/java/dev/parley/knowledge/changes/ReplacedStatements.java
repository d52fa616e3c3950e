package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Statements that a change has replaced or removed, as JSON in its row. */
public final class ReplacedStatements {
    private ReplacedStatements() {}

    /** Returns the replaced statements of a change. */
    public static List<Map<String, @Nullable Object>> values(List<Statement> replaced) {
        return replaced.stream().map(ReplacedStatements::said).toList();
    }

    /** Returns the members of an old statement, for readers of the change. */
    private static Map<String, @Nullable Object> said(Statement statement) {
        var said = new LinkedHashMap<String, @Nullable Object>();
        switch (statement.object()) {
            case Resource resource -> said.put("id", resource.id());
            case Term.Literal literal -> {
                said.put("value", literal.value());
                if (!literal.isPlain()) {
                    said.put("type", literal.datatype());
                }
                if (literal.language() != null) {
                    said.put("language", literal.language());
                }
            }
        }
        said.putAll(remarks(statement));
        return said;
    }

    /** Returns the members of a removed statement that the change records. */
    public static Map<String, @Nullable Object> remarks(Statement statement) {
        var remarks = new LinkedHashMap<String, @Nullable Object>();
        if (statement.certainty() != null) {
            remarks.put("certainty", statement.certainty());
        }
        Object source = statement.provenance().get("sourceAgentId");
        if (source != null) {
            remarks.put("sourceAgentId", source);
        }
        return remarks;
    }

    /** Restores an old statement, which {@code now} replaced, from the members that {@link #said} or {@link #remarks} recorded. */
    public static Statement read(Statement now, Map<?, ?> said) {
        Object id = said.get("id");
        Object certainty = said.get("certainty");
        Object source = said.get("sourceAgentId");
        Term object = now.object();
        if (id != null || said.containsKey("value")) {
            object = id != null ? Resource.of(id.toString()) : literal(said);
        }
        return new Statement(
                now.subject(),
                now.predicate(),
                object,
                now.graph(),
                certainty instanceof Number number ? (Double) number.doubleValue() : null,
                source == null ? Map.of() : Map.of("sourceAgentId", source));
    }

    private static Term.Literal literal(Map<?, ?> said) {
        Object language = said.get("language");
        Object type = said.get("type");
        String lexical = String.valueOf(said.get("value"));
        if (language != null) {
            return Term.Literal.of(lexical, language.toString());
        }
        if (type != null) {
            return new Term.Literal(lexical, type.toString(), null);
        }
        return switch (said.get("value")) {
            case Boolean truth -> Term.Literal.of(truth);
            case Number number -> Term.Literal.of(new BigDecimal(number.toString()));
            case null, default -> Term.Literal.of(lexical);
        };
    }
}

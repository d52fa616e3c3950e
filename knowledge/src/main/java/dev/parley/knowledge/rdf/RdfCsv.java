package dev.parley.knowledge.rdf;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import de.siegmar.fastcsv.writer.CsvWriter;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.protocol.InvalidField;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Statements as CSV: a header, then a line each. {@code type} is {@code @id} if the object is a resource, as in JSON-LD, else
 * the datatype of the value; text has none.
 */
final class RdfCsv {
    private static final List<String> COLUMNS =
            List.of("subject", "predicate", "object", "type", "language", "graph", "certainty");
    private static final Set<String> REQUIRED = Set.of("subject", "predicate", "object");
    private static final String RESOURCE = "@id";

    private RdfCsv() {}

    static void read(InputStream in, RdfFiles.Defaults defaults, Consumer<Statement> sink) {
        // Closing the reader would close the caller's stream.
        CsvReader<NamedCsvRecord> lines =
                CsvReader.builder().detectBomHeader(true).ofNamedCsvRecord(in);
        boolean isFirst = true;
        var line = lines.iterator();
        while (hasNext(line)) {
            NamedCsvRecord record = line.next();
            if (isFirst) {
                checkHeader(record.getHeader());
                isFirst = false;
            }
            Statement statement;
            try {
                statement = statement(record, defaults);
            } catch (InvalidField | NumberFormatException invalid) {
                throw new RdfFileException(
                        String.valueOf(invalid.getMessage()), record.getStartingLineNumber(), invalid);
            }
            sink.accept(defaults.complete(statement));
        }
    }

    private static boolean hasNext(Iterator<NamedCsvRecord> line) {
        try {
            return line.hasNext();
        } catch (CsvParseException broken) {
            Throwable cause = broken.getCause();
            throw new RdfFileException(String.valueOf((cause == null ? broken : cause).getMessage()), 0, broken);
        }
    }

    private static void checkHeader(List<String> header) {
        var columns = new HashSet<>(header);
        if (columns.size() != header.size() || !columns.containsAll(REQUIRED) || !COLUMNS.containsAll(columns)) {
            throw new RdfFileException("columns " + header + " (expected: some of " + COLUMNS + ")", 1, null);
        }
    }

    private static Statement statement(NamedCsvRecord line, RdfFiles.Defaults defaults) {
        String certainty = field(line, "certainty");
        String graph = field(line, "graph");
        return new Statement(
                Term.Resource.of(own(value(line, "subject"), defaults)),
                value(line, "predicate"),
                object(line, defaults),
                graph == null ? null : own(graph, defaults),
                certainty == null ? null : Double.valueOf(certainty),
                Map.of());
    }

    private static Term object(NamedCsvRecord line, RdfFiles.Defaults defaults) {
        String type = field(line, "type");
        String language = field(line, "language");
        String object = value(line, "object");
        if (RESOURCE.equals(type)) {
            return Term.Resource.of(own(object, defaults));
        }
        String datatype = language == null ? Term.Literal.STRING : Term.Literal.LANG_STRING;
        return new Term.Literal(object, Objects.requireNonNullElse(type, datatype), language);
    }

    private static String own(String id, RdfFiles.Defaults defaults) {
        return id.startsWith(RdfTerms.BLANK) ? defaults.blankNode(id.substring(RdfTerms.BLANK.length())) : id;
    }

    /** Returns null if it is empty or missing. */
    private static @Nullable String field(NamedCsvRecord line, String column) {
        return line.findField(column).filter(value -> !value.isEmpty()).orElse(null);
    }

    private static String value(NamedCsvRecord line, String column) {
        return line.findField(column).orElse("");
    }

    static final class Writer implements RdfFiles.Writer {
        private final CsvWriter lines;

        Writer(OutputStream out) {
            lines = CsvWriter.builder().build(out);
            lines.writeRecord(COLUMNS);
        }

        @Override
        public void write(Statement statement) {
            Double certainty = statement.certainty();
            String graph = Objects.requireNonNullElse(statement.graph(), "");
            String sure = certainty == null ? "" : certainty.toString();
            switch (statement.object()) {
                case Term.Resource resource -> line(statement, resource.id(), RESOURCE, "", graph, sure);
                case Term.Literal literal -> {
                    boolean isText = literal.datatype().equals(Term.Literal.STRING) || literal.language() != null;
                    line(
                            statement,
                            literal.lexical(),
                            isText ? "" : literal.datatype(),
                            Objects.requireNonNullElse(literal.language(), ""),
                            graph,
                            sure);
                }
            }
        }

        private void line(Statement statement, String... rest) {
            var line = lines.writeRecord().writeField(statement.subject().id()).writeField(statement.predicate());
            for (String field : rest) {
                line.writeField(field);
            }
            line.endRecord();
        }

        @Override
        public void close() {
            try {
                lines.flush();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}

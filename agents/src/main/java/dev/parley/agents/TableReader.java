package dev.parley.agents;

import de.siegmar.fastcsv.reader.AbstractBaseCsvCallbackHandler;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.DoubleConsumer;

/**
 * Reads CSV in the forms in which it is found: any of four separators, quoted fields, a byte order mark, blank lines.
 *
 * <p>The first row is the header. Every other row must have as many fields; a row that does not is refused with its place,
 * because a statistic over guessed columns would be worse than none.
 */
final class TableReader {
    /** Limits of a table. */
    record Limits(int bytes, int rows, int columns, int cells) {
        /** Keeps one analysis below some 200 MB of memory. */
        static final Limits DEFAULT = new Limits(8 * 1024 * 1024, 200_000, 200, 1_000_000);
    }

    private final Limits limits;

    TableReader(Limits limits) {
        this.limits = limits;
    }

    /**
     * Reads a table.
     *
     * @param progress receives the share that is read, 0 to 1, now and then
     * @throws UnreadableTable if it is malformed or exceeds a limit
     * @throws InterruptedException if the thread is interrupted meanwhile
     */
    Table read(byte[] bytes, DoubleConsumer progress) throws InterruptedException {
        if (bytes.length > limits.bytes) {
            throw tooMany("bytes", bytes.length, limits.bytes);
        }
        CsvText text = CsvText.decode(bytes);
        char separator = Separators.detect(text.text());
        var handler = new Rows(limits.columns);
        Iterator<Row> rows = CsvReader.builder()
                .fieldSeparator(separator)
                .allowUnclosedQuote(false)
                // Counted here instead, to tell which column is missing or superfluous.
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .build(handler, text.text())
                .iterator();
        var table = new Builder(text, separator);
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException("reading a table");
            }
            Row row;
            try {
                if (!rows.hasNext()) {
                    return table.build();
                }
                row = rows.next();
            } catch (CsvParseException e) {
                String problem = String.valueOf(e.getMessage()).replaceFirst(" \\(record starting at .*", "");
                throw table.malformed(handler.line(), handler.fields.size() + 1, problem);
            }
            table.add(row);
            progress.accept(Math.min(1, (double) row.line / text.lines()));
        }
    }

    private static UnreadableTable tooMany(String what, long value, long limit) {
        return new UnreadableTable("%s: %d (expected: at most %d)".formatted(what, value, limit));
    }

    /** One record of the file; {@code size} counts its fields, also those that were too many to keep. */
    private record Row(long line, List<String> fields, int size) {}

    /** Collects the fields of a record, at most {@code limit} of them. */
    private static final class Rows extends AbstractBaseCsvCallbackHandler<Row> {
        private final int limit;
        private List<String> fields = new ArrayList<>();

        Rows(int limit) {
            this.limit = limit;
        }

        long line() {
            return getStartingLineNumber();
        }

        @Override
        protected void handleBegin(long startingLineNumber) {
            fields = new ArrayList<>();
        }

        @Override
        protected void handleField(int index, char[] buffer, int offset, int length, boolean quoted) {
            if (index < limit) {
                fields.add(length == 0 ? "" : new String(buffer, offset, length));
            }
        }

        @Override
        protected Row buildRecord() {
            return new Row(getStartingLineNumber(), fields, getFieldCount());
        }
    }

    /** The table so far. */
    private final class Builder {
        private final CsvText text;
        private final char separator;
        private final List<Table.Column> columns = new ArrayList<>();
        private boolean header = true;
        private int rows;

        Builder(CsvText text, char separator) {
            this.text = text;
            this.separator = separator;
        }

        void add(Row row) {
            if (row.size > limits.columns) {
                throw tooMany("columns", row.size, limits.columns);
            }
            for (int i = 0; i < row.fields.size(); i++) {
                String problem = text.problemIn(row.fields.get(i));
                if (problem != null) {
                    throw malformed(row.line, i + 1, problem);
                }
            }
            if (header) {
                name(row);
                header = false;
                return;
            }
            if (row.size != columns.size()) {
                // Names the first column that the row lacks, or has beyond the header.
                throw malformed(
                        row.line,
                        Math.min(row.size, columns.size()) + 1,
                        "the row has %d fields (expected: %d, as in the header)".formatted(row.size, columns.size()));
            }
            rows++;
            if (rows > limits.rows) {
                throw tooMany("rows", rows, limits.rows);
            }
            if ((long) rows * columns.size() > limits.cells) {
                throw tooMany("cells", (long) rows * columns.size(), limits.cells);
            }
            for (int i = 0; i < columns.size(); i++) {
                columns.get(i).cells().add(row.fields.get(i));
            }
        }

        private void name(Row row) {
            for (int i = 0; i < row.fields.size(); i++) {
                String name = row.fields.get(i).strip();
                columns.add(new Table.Column(name.isEmpty() ? "column " + (i + 1) : name, new ArrayList<>()));
            }
        }

        UnreadableTable malformed(long line, int column, String problem) {
            String row = header ? "header" : "row " + (rows + 1);
            String name =
                    column <= columns.size() ? " \"" + columns.get(column - 1).name() + "\"" : "";
            return new UnreadableTable("%s (line %d), column %d%s: %s".formatted(row, line, column, name, problem));
        }

        Table build() {
            if (header) {
                throw new UnreadableTable("the table is empty (expected: a header and at least one row)");
            }
            if (rows == 0) {
                throw new UnreadableTable("the table has a header only (expected: at least one row below it)");
            }
            return new Table(List.copyOf(columns), rows, separator);
        }
    }
}

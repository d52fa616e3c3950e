package dev.parley.pipelines.etl;

import static java.nio.charset.StandardCharsets.UTF_8;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import dev.parley.dialect.Json;
import dev.parley.pipelines.etl.DataTable.Column;
import dev.parley.pipelines.etl.DataTable.Rejected;
import dev.parley.pipelines.etl.DataTable.Row;
import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import dev.parley.protocol.A2AException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads tables from CSV and JSON lines. Rows that cannot be read are rejected with their line, the others are kept. */
final class TableFiles {
    /** The table passes through the log of several tasks. */
    static final int MAX_BYTES = 4 * 1024 * 1024;

    private static final int MAX_ROWS = 50_000;
    private static final int MAX_COLUMNS = 100;
    private static final List<Character> SEPARATORS = List.of(',', ';', '\t', '|');

    private record Line(int number, List<@Nullable String> cells) {}

    private TableFiles() {}

    /** @throws Unusable if it holds no table, or is larger than the limits */
    static DataTable read(String name, byte[] bytes) {
        if (bytes.length > MAX_BYTES) {
            throw new Unusable(name + ": " + bytes.length + " bytes (expected: at most " + MAX_BYTES + ")");
        }
        String text;
        try {
            text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException malformed) {
            throw new Unusable(name + ": not UTF-8");
        }
        text = text.startsWith("\uFEFF") ? text.substring(1) : text;
        return text.stripLeading().startsWith("{") ? jsonLines(name, text) : csv(name, text);
    }

    private static DataTable csv(String name, String text) {
        var rejected = new ArrayList<Rejected>();
        var lines = new ArrayList<Line>();
        List<String> names = List.of();
        try (CsvReader<CsvRecord> reader = CsvReader.builder()
                .fieldSeparator(separator(text))
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .ofCsvRecord(text)) {
            Iterator<CsvRecord> records = reader.iterator();
            while (records.hasNext()) {
                CsvRecord row = records.next();
                int line = (int) row.getStartingLineNumber();
                if (names.isEmpty()) {
                    names = names(name, row.getFields());
                } else if (row.getFieldCount() != names.size()) {
                    rejected.add(new Rejected(
                            line, row.getFieldCount() + " fields (expected: " + names.size() + ", as in the header)"));
                } else {
                    lines.add(new Line(line, new ArrayList<>(row.getFields())));
                    requireRows(name, lines.size());
                }
            }
        } catch (CsvParseException malformed) {
            throw new Unusable(name + ": " + malformed.getMessage());
        } catch (java.io.IOException impossible) {
            throw new java.io.UncheckedIOException(impossible); // reads from memory
        }
        return typed(name, names, lines, rejected);
    }

    /** The separator that occurs most in the first line. */
    private static char separator(String text) {
        String header = text.lines().findFirst().orElse("");
        return SEPARATORS.stream()
                .max(Comparator.comparingLong(
                        separator -> header.chars().filter(c -> c == separator).count()))
                .filter(separator -> header.indexOf(separator) >= 0)
                .orElse(',');
    }

    private static List<String> names(String file, List<String> header) {
        if (header.size() > MAX_COLUMNS) {
            throw new Unusable(file + ": " + header.size() + " columns (expected: at most " + MAX_COLUMNS + ")");
        }
        List<String> names = IntStream.range(0, header.size())
                .mapToObj(i -> header.get(i).isBlank()
                        ? "column " + (i + 1)
                        : header.get(i).strip())
                .toList();
        if (names.stream().distinct().count() < names.size()) {
            throw new Unusable(file + ": two columns have the same name (header: " + String.join(", ", names) + ")");
        }
        return names;
    }

    private static DataTable jsonLines(String name, String text) {
        var rejected = new ArrayList<Rejected>();
        var objects = new LinkedHashMap<Integer, Map<String, @Nullable Object>>();
        var names = new java.util.LinkedHashSet<String>();
        int number = 0;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            number++;
            if (line.isBlank()) {
                continue;
            }
            try {
                Map<String, @Nullable Object> object = StepInput.object(Json.read(line.getBytes(UTF_8), Map.class));
                objects.put(number, object);
                names.addAll(object.keySet());
                requireRows(name, objects.size());
            } catch (A2AException malformed) {
                rejected.add(new Rejected(number, "no JSON object: " + malformed.getMessage()));
            }
        }
        List<String> columns = names(name, List.copyOf(names));
        List<Line> lines = objects.entrySet().stream()
                .map(entry -> new Line(
                        entry.getKey(),
                        columns.stream()
                                .map(column -> cell(entry.getValue().get(column)))
                                .toList()))
                .toList();
        return typed(name, columns, lines, rejected);
    }

    private static @Nullable String cell(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case String text -> text;
            case Number number -> number.toString();
            case Boolean truth -> truth.toString();
            default -> new String(Json.write(value), UTF_8);
        };
    }

    private static void requireRows(String name, int rows) {
        if (rows > MAX_ROWS) {
            throw new Unusable(name + ": more than " + MAX_ROWS + " rows");
        }
    }

    private static DataTable typed(String name, List<String> names, List<Line> lines, List<Rejected> rejected) {
        if (names.isEmpty() || lines.isEmpty()) {
            throw new Unusable(name + ": no rows (expected: CSV with a header, or JSON objects, one in each line)");
        }
        List<Column> columns = IntStream.range(0, names.size())
                .mapToObj(i -> new Column(
                        names.get(i),
                        ColumnType.of(lines.stream()
                                .map(line -> line.cells().get(i))
                                .flatMap(cell -> ColumnType.isMissing(cell) ? Stream.empty() : Stream.of(cell))
                                .filter(Objects::nonNull)
                                .map(String::strip)
                                .toList())))
                .toList();
        List<Row> rows = lines.stream()
                .map(line -> new Row(line.number(), new ArrayList<@Nullable Object>(line.cells())))
                .toList();
        return new DataTable(name.replaceFirst("[.][A-Za-z]+$", ""), columns, rows, rejected);
    }
}

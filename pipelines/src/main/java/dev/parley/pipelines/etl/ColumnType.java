package dev.parley.pipelines.etl;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Type of a column. */
enum ColumnType {
    INTEGER("INTEGER") {
        @Override
        @Nullable
        Object parse(String cell) {
            return cell.matches("[+-]?[0-9]{1,18}") ? Long.valueOf(cell) : null;
        }
    },
    NUMBER("REAL") {
        @Override
        @Nullable
        Object parse(String cell) {
            if (!cell.matches("[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?")) {
                return null;
            }
            double value = new BigDecimal(cell).doubleValue();
            return Double.isFinite(value) ? value : null;
        }
    },
    BOOLEAN("INTEGER") {
        @Override
        @Nullable
        Object parse(String cell) {
            return switch (cell.toLowerCase(Locale.ROOT)) {
                case "true", "yes" -> true;
                case "false", "no" -> false;
                default -> null;
            };
        }
    },
    /** A date of ISO 8601, with or without a time. */
    DATE("TEXT") {
        @Override
        @Nullable
        Object parse(String cell) {
            try {
                if (cell.length() == 10) {
                    return LocalDate.parse(cell).toString();
                }
                String time = cell.replace(' ', 'T');
                return time.matches(".*([Zz]|[+-][0-9]{2}:[0-9]{2})")
                        ? OffsetDateTime.parse(time).toInstant().toString()
                        : LocalDateTime.parse(time).toString();
            } catch (DateTimeException none) {
                return null;
            }
        }
    },
    TEXT("TEXT") {
        @Override
        Object parse(String cell) {
            return cell;
        }
    };

    private static final Set<String> MISSING = Set.of("", "na", "n/a", "nan", "null", "none", "-");

    /** Share of the values, in percent, that decides the type of a column; the others are errors. */
    private static final int MOST = 90;

    private final String sql;

    ColumnType(String sql) {
        this.sql = sql;
    }

    /** The value of a cell that is not missing; null if it is not of this type. */
    abstract @Nullable Object parse(String cell);

    String sql() {
        return sql;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<ColumnType> named(String word) {
        return Arrays.stream(values()).filter(type -> type.word().equals(word)).findFirst();
    }

    static String words() {
        return Arrays.stream(values()).map(ColumnType::word).collect(Collectors.joining(", "));
    }

    static boolean isMissing(@Nullable String cell) {
        return cell == null || cell.length() <= 4 && MISSING.contains(cell.toLowerCase(Locale.ROOT));
    }

    /** The first type that most of the values have. */
    static ColumnType of(List<String> values) {
        for (ColumnType type : values()) {
            long fitting =
                    values.stream().filter(value -> type.parse(value) != null).count();
            if (!values.isEmpty() && fitting * 100 >= (long) values.size() * MOST && !isCode(type, values)) {
                return type;
            }
        }
        return TEXT;
    }

    /** Whole numbers with leading zeros are codes, such as postcodes. */
    private static boolean isCode(ColumnType type, List<String> values) {
        return type == INTEGER && values.stream().anyMatch(value -> value.length() > 1 && value.startsWith("0"));
    }
}

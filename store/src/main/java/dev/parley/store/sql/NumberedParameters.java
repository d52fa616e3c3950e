package dev.parley.store.sql;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parameters of a statement that are numbered, as {@code ?1}, for a driver that knows only those in the order of the text. */
public final class NumberedParameters {
    private static final Pattern NUMBERED = Pattern.compile("\\?([1-9])");

    private NumberedParameters() {}

    /** Returns the statement without numbers. */
    public static String text(String sql) {
        return isNumbered(sql) ? NUMBERED.matcher(sql).replaceAll("?") : sql;
    }

    /** Returns the values in the order of the text. */
    public static @Nullable Object[] ordered(String sql, @Nullable Object[] values) {
        return isNumbered(sql)
                ? NUMBERED.matcher(sql)
                        .results()
                        .map(match -> values[match.group(1).charAt(0) - '1'])
                        .toArray()
                : values;
    }

    private static boolean isNumbered(String sql) {
        return sql.contains("?1");
    }
}

package dev.parley.knowledge.store;

import dev.parley.store.spi.DatabaseKind;
import java.util.Collection;
import java.util.stream.Collectors;

/** SQL that differs between kinds of databases. */
public record Sql(DatabaseKind kind) {
    /**
     * A condition that {@code column} is one of the numbers; takes one parameter, which is {@link #list}. There are as few
     * forms as possible, because each is a statement to be kept.
     */
    String in(String column, Collection<Long> numbers) {
        if (numbers.size() == 1) {
            return column + " = ?";
        }
        return switch (kind) {
            case SQLITE -> column + " IN (SELECT value FROM json_each('[' || ? || ']'))";
            case POSTGRESQL -> column + " = ANY(CAST('{' || ? || '}' AS BIGINT[]))";
        };
    }

    /** The parameter of {@link #in}. */
    Object list(Collection<Long> numbers) {
        return numbers.size() == 1
                ? numbers.iterator().next()
                : numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** The text of a member of the JSON object in {@code column}; null if it has none. */
    public String member(String column, String name) {
        return kind == DatabaseKind.SQLITE
                ? "json_extract(" + column + ", '$." + name + "')"
                : "(CAST(" + column + " AS JSON) ->> '" + name + "')";
    }

    /** A condition that a text is one of those in the parameter, a JSON array. */
    String inTexts(String text) {
        return text
                + (kind == DatabaseKind.SQLITE
                        ? " IN (SELECT value FROM json_each(?))"
                        : " IN (SELECT json_array_elements_text(CAST(? AS JSON)))");
    }

    /**
     * An INSERT from a SELECT that keeps existing rows. SQLite would copy each
     * page that it changes if it had to be able to undo the statement.
     */
    String insertNew(String intoAndSelect) {
        return kind == DatabaseKind.SQLITE
                ? "INSERT OR IGNORE INTO " + intoAndSelect
                : "INSERT INTO " + intoAndSelect + " ON CONFLICT DO NOTHING";
    }

    /** A query whose rows no other hub changes until the transaction ends. SQLite has one writer. */
    String locking(String select) {
        return select + (kind == DatabaseKind.SQLITE ? "" : " FOR UPDATE");
    }

    /**
     * A condition that the text {@code column} has the parameter in it, whatever the case of (at least) its Latin letters. LIKE
     * compares letter by letter: a text of 499 "a" and one "b" in a mebibyte of "a" takes it a second, this function 20 ms.
     */
    String contains(String column) {
        return (kind == DatabaseKind.SQLITE ? "instr" : "strpos") + "(lower(" + column + "), lower(?)) > 0";
    }
}

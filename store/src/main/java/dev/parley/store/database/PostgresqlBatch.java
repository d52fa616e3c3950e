package dev.parley.store.database;

import dev.parley.store.sql.StoredText;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Statements of a transaction that are kept back until another statement, or the commit, needs them. They then go to the server
 * together: one round trip for any number of them. For the writer's thread.
 */
public final class PostgresqlBatch implements DatabaseSession.Deferred {
    /** A statement, its parameters, and a check of how many rows it has changed. */
    public record Piece(String sql, Binding binding, Check check) {}

    @FunctionalInterface
    public interface Binding {
        void bind(Parameters parameters) throws SQLException;
    }

    @FunctionalInterface
    public interface Check {
        Check NONE = changed -> {};

        void require(int changed) throws SQLException;
    }

    /** Statements that gather rows of their own. */
    public interface Source {
        void addTo(List<Piece> pieces);

        /** All statements of the batch have been run, and passed their checks. */
        default void flushed(DatabaseSession session) throws SQLException {}
    }

    private final List<Piece> first = new ArrayList<>();
    private final List<Piece> last = new ArrayList<>();
    private Source rows = pieces -> {};

    /** Has rows written between the first statements and those that were added {@linkplain #later later}. */
    public void rows(Source source) {
        rows = source;
    }

    /** Begins a transaction with a statement. */
    void begin(DatabaseSession session, Piece piece) {
        first.clear();
        last.clear();
        first.add(piece);
        session.defer(this, 0);
    }

    public void later(DatabaseSession session, Piece piece) {
        last.add(piece);
        session.defer(this, 0);
    }

    @Override
    public void later(DatabaseSession session, String sql, @Nullable Object... values) {
        later(
                session,
                new Piece(
                        sql,
                        parameters -> {
                            for (Object value : values) {
                                parameters.add(value);
                            }
                        },
                        Check.NONE));
    }

    @Override
    public void flush(DatabaseSession session) throws SQLException {
        var pieces = new ArrayList<>(first);
        first.clear();
        rows.addTo(pieces);
        pieces.addAll(last);
        last.clear();
        if (pieces.isEmpty()) {
            return;
        }
        PreparedStatement statement =
                session.bind(pieces.stream().map(Piece::sql).collect(Collectors.joining("; ")));
        try (var parameters = new Parameters(statement)) {
            for (Piece piece : pieces) {
                piece.binding.bind(parameters);
            }
            statement.execute();
            for (Piece piece : pieces) {
                piece.check.require(statement.getUpdateCount());
                statement.getMoreResults();
            }
        }
        rows.flushed(session);
    }

    /** Parameters of statements in their order. */
    public static final class Parameters implements AutoCloseable {
        private final PreparedStatement statement;
        private final List<Array> arrays = new ArrayList<>();
        private int count;

        public Parameters(PreparedStatement statement) {
            this.statement = statement;
        }

        public void add(@Nullable Object value) throws SQLException {
            DatabaseSession.set(statement, ++count, value);
        }

        /** Adds a column of rows. */
        public <T> void add(String type, List<T> rows, Function<T, @Nullable Object> value) throws SQLException {
            var values = new @Nullable Object[rows.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = value.apply(rows.get(i));
            }
            Array array = statement.getConnection().createArrayOf(type, typed(type, values));
            arrays.add(array);
            statement.setArray(++count, array);
        }

        /** The driver sends arrays of such types as they are, and others as text. */
        private static @Nullable Object[] typed(String type, @Nullable Object[] values) {
            return switch (type) {
                case "text" -> {
                    var texts = new @Nullable String[values.length];
                    for (int i = 0; i < values.length; i++) {
                        texts[i] = values[i] instanceof String text ? StoredText.encode(text) : null;
                    }
                    yield texts;
                }
                case "bytea" -> Arrays.copyOf(values, values.length, byte[][].class);
                case "integer" -> {
                    var integers = new @Nullable Integer[values.length];
                    for (int i = 0; i < values.length; i++) {
                        integers[i] = values[i] instanceof Number number ? (Integer) number.intValue() : null;
                    }
                    yield integers;
                }
                default -> Arrays.copyOf(values, values.length, Long[].class);
            };
        }

        @Override
        public void close() throws SQLException {
            for (Array array : arrays) {
                array.free();
            }
        }
    }
}

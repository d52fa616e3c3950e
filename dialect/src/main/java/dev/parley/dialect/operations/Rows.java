package dev.parley.dialect.operations;

import dev.parley.protocol.Operation;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Collects the rows of a table. */
public final class Rows {
    /** Begins the shape of a request. */
    public interface Beginning {
        <O extends Operation> ObjectCodec.Builder<O> shape();
    }

    private final Beginning beginning;
    private final List<WireOperation> rows = new ArrayList<>();

    public Rows(Beginning beginning) {
        this.beginning = beginning;
    }

    /**
     * Begins a row.
     *
     * @param rest verbs and path, such as {@code POST,GET /tasks/{id}:subscribe}; empty if there is no REST binding
     * @param result how its answer looks; null if that is a stream of events
     */
    public <O extends Operation> Begun<O> row(Class<O> type, String method, String rest, @Nullable Codec<?> result) {
        return request -> {
            rows.add(WireOperation.of(type, method, rest, request.apply(beginning.shape()), result));
            return this;
        };
    }

    /** A row without the shape of its request. */
    public interface Begun<O extends Operation> {
        /** Finishes the row; {@code request} adds the members of the request. */
        Rows asking(Function<ObjectCodec.Builder<O>, ObjectCodec<O>> request);
    }

    public OperationTable table() {
        return table(Map.of());
    }

    /** @param aliases further names of methods, understood but never used */
    public OperationTable table(Map<String, Class<? extends Operation>> aliases) {
        return new OperationTable(rows, aliases);
    }
}

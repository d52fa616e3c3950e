package dev.parley.dialect.operations;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.Operation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The operations that a dialect has, in the form in which it has them. */
public final class OperationTable {
    private final List<WireOperation> all;
    private final Map<String, WireOperation> byMethod = new HashMap<>();
    private final Map<Class<?>, WireOperation> byType = new HashMap<>();

    /** @param aliases further names of methods, understood but never used */
    public OperationTable(List<WireOperation> all, Map<String, Class<? extends Operation>> aliases) {
        this.all = all;
        for (WireOperation one : all) {
            byMethod.put(one.method(), one);
            byType.put(one.type(), one);
        }
        aliases.forEach((name, type) -> byMethod.put(name, requireNonNull(byType.get(type))));
    }

    private OperationTable(Map<String, WireOperation> byMethod, List<WireOperation> all) {
        this.all = all;
        this.byMethod.putAll(byMethod);
        all.forEach(one -> byType.put(one.type(), one));
    }

    /** This table as a preview of A2A 1.1 has it. */
    OperationTable previewing() {
        var previewing = new HashMap<String, WireOperation>();
        byMethod.forEach((name, row) -> previewing.put(name, row.previewing()));
        return new OperationTable(
                previewing, all.stream().map(WireOperation::previewing).toList());
    }

    public List<WireOperation> all() {
        return all;
    }

    @Nullable
    public WireOperation named(String method) {
        return byMethod.get(method);
    }

    /** Returns the row of an operation; null if the dialect has none. */
    @Nullable
    public WireOperation of(Operation operation) {
        return byType.get(operation.getClass());
    }
}

package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.extension.ExtensionStyle;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Answers of an extension that differ from those of A2A. Its operations are no operations of A2A, so the table is empty. */
final class ExtensionDialect extends Dialect {
    private static final OperationTable NONE = new OperationTable(List.of(), Map.of());

    private final ExtensionStyle style;
    private final boolean streams;
    private final boolean activated;

    private ExtensionDialect(Dialect base, ExtensionRow row, boolean activated) {
        super(base.name(), NONE);
        this.style = row.style();
        this.streams = row.method().streams();
        this.activated = activated;
    }

    /** The answers to calls of an operation; those of {@code base} if its extension does not differ from A2A. */
    static Dialect of(Dialect base, ExtensionRow row, boolean activated) {
        return row.style().equals(ExtensionStyle.A2A) ? base : new ExtensionDialect(base, row, activated);
    }

    /** True if a request that names these extensions activates the one of {@code row}. */
    static boolean isActivated(ExtensionRow row, AgentCard card, Set<String> extensions) {
        return !extensions.isEmpty()
                && card.capabilities().extensions().stream()
                        .anyMatch(entry -> row.protocol().isUri(entry.uri()) && extensions.contains(entry.uri()));
    }

    @Override
    Telling telling() {
        return (event, out) -> {
            throw new IllegalStateException("the extension has no events of tasks");
        };
    }

    @Override
    A2AException shown(A2AException problem) {
        return style.shown(problem);
    }

    @Override
    int rpcStatus(A2AException problem) {
        return style.rpcStatus(problem, streams).orElseGet(() -> super.rpcStatus(problem));
    }

    @Override
    int restStatus(A2AException problem, boolean statusesOf100) {
        return style.restStatus(problem).orElseGet(() -> super.restStatus(problem, statusesOf100));
    }

    @Override
    Object rpcErrorData(A2AException problem) {
        return style.rpcErrorData(problem, activated)
                .<Object>map(data -> data.isEmpty() ? Codecs.NULL : data)
                .orElseGet(() -> super.rpcErrorData(problem));
    }
}

package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.extension.ExtensionStyle;
import java.util.Map;

/** Answers of an extension that differ from those of A2A. */
final class ExtensionDialect extends Dialect {
    private final Dialect base;
    private final ExtensionStyle style;
    private final boolean streams;
    private final boolean activated;

    /** @param streams whether the operation that is called streams */
    ExtensionDialect(Dialect base, ExtensionStyle style, boolean streams, boolean activated) {
        super(base.name());
        this.base = base;
        this.style = style;
        this.streams = streams;
        this.activated = activated;
    }

    @Override
    Telling telling() {
        return (event, out) -> {
            throw new IllegalStateException("the extension has no events of tasks");
        };
    }

    @Override
    boolean namesTasks() {
        return base.namesTasks();
    }

    @Override
    String extensionsHeader() {
        return base.extensionsHeader();
    }

    @Override
    Map<String, String> streamHeaders() {
        return Map.of("Cache-Control", style.cacheControl());
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

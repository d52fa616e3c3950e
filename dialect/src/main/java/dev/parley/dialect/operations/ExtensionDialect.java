package dev.parley.dialect.operations;

import dev.parley.dialect.answers.Dialect;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.json.Codecs;
import java.util.Map;

/** Answers of an extension that differ from those of A2A. */
public final class ExtensionDialect extends Dialect {
    private final Dialect base;
    private final ExtensionStyle style;
    private final boolean streams;
    private final boolean activated;

    /** @param streams whether the operation that is called streams */
    ExtensionDialect(Dialect base, ExtensionStyle style, boolean streams, boolean activated) {
        super(base);
        this.base = base;
        this.style = style;
        this.streams = streams;
        this.activated = activated;
    }

    @Override
    public Telling telling() {
        return (event, out) -> {
            throw new IllegalStateException("the extension has no events of tasks");
        };
    }

    @Override
    public String extensionsHeader() {
        return base.extensionsHeader();
    }

    @Override
    public Map<String, String> streamHeaders() {
        return Map.of("Cache-Control", style.cacheControl());
    }

    @Override
    public A2AException shown(A2AException problem) {
        return style.shown(problem);
    }

    @Override
    public int rpcStatus(A2AException problem) {
        return style.rpcStatus(problem, streams).orElseGet(() -> super.rpcStatus(problem));
    }

    @Override
    public int restStatus(A2AException problem, boolean statusesOf100) {
        return style.restStatus(problem).orElseGet(() -> super.restStatus(problem, statusesOf100));
    }

    @Override
    public Object rpcErrorData(A2AException problem) {
        return style.rpcErrorData(problem, activated)
                .<Object>map(data -> data.isEmpty() ? Codecs.NULL : data)
                .orElseGet(() -> super.rpcErrorData(problem));
    }
}

package dev.parley.mcp.wire;

import java.util.Optional;
import java.util.stream.Stream;

/** Revision of the protocol. Source: MCP, Versioning. */
public enum Revision {
    V2025_06_18("2025-06-18", false),
    V2025_11_25("2025-11-25", false),
    V2026_07_28("2026-07-28", true);

    private final String text;
    private final boolean isStateless;

    Revision(String text, boolean isStateless) {
        this.text = text;
        this.isStateless = isStateless;
    }

    /** As messages write it. */
    public String text() {
        return text;
    }

    /** True if each request carries the revision and the capabilities of the client; else {@code initialize} does. */
    public boolean isStateless() {
        return isStateless;
    }

    public static Optional<Revision> of(String text) {
        return Stream.of(values()).filter(each -> each.text.equals(text)).findFirst();
    }
}

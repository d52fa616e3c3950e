package dev.parley.protocol.support;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Map of a limited size: a new entry replaces the least recently used one. For one thread at a time. */
public final class LruMap<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;

    private final int limit;
    private final transient Consumer<? super V> removal;

    /** @param limit entries, at most */
    public LruMap(int limit) {
        this(limit, removed -> {});
    }

    /** @param removal receives each value that another one replaces for lack of space */
    public LruMap(int limit, Consumer<? super V> removal) {
        super(16, 0.75f, true);
        this.limit = limit;
        this.removal = removal;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        boolean full = size() > limit;
        if (full) {
            removal.accept(eldest.getValue());
        }
        return full;
    }
}

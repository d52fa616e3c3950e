package dev.parley.dialect;

import dev.parley.protocol.ExtensionMethod;
import dev.parley.protocol.ExtensionProtocol;
import dev.parley.protocol.ExtensionStyle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of the extensions that an agent has, by their places on the wire. Immutable. */
public final class ExtensionTable {
    public static final ExtensionTable EMPTY = new ExtensionTable(List.of());

    /** Extensions of the program's modules. In a class of its own, because extensions read and write values while they are loaded. */
    private static final class Installed {
        private static final List<ExtensionProtocol> PROTOCOLS = new ArrayList<>();
        private static final Map<Class<?>, Codec<?>> CODECS = new HashMap<>();

        static {
            for (ExtensionProtocol.Provider provider :
                    ServiceLoader.load(ExtensionProtocol.Provider.class, ExtensionTable.class.getClassLoader())) {
                PROTOCOLS.addAll(provider.protocols());
                provider.values().forEach((type, form) -> CODECS.put(type, TreeCodec.of(form)));
            }
        }

        private static final ExtensionTable TABLE = new ExtensionTable(PROTOCOLS);
    }

    private final List<ExtensionRow> routed = new ArrayList<>();
    private final Map<String, ExtensionRow> byName = new HashMap<>();
    private final Map<String, ExtensionRow> byGrpc = new HashMap<>();

    /** @throws IllegalArgumentException if two operations have the same name, or the place of one is taken */
    public ExtensionTable(List<ExtensionProtocol> protocols) {
        for (ExtensionProtocol protocol : protocols) {
            protocol.methods().forEach(method -> add(ExtensionRow.of(protocol, method)));
        }
    }

    private void add(ExtensionRow row) {
        ExtensionMethod<?, ?> method = row.method();
        if (method.mediaType() == null) {
            requireOwn(method.name());
            if (byName.put(method.name(), row) != null) {
                throw new IllegalArgumentException("operation \"" + method.name() + "\": duplicate name");
            }
        }
        if (row.path() != null) {
            Rest.requireFree(method.rest());
            routed.add(row);
        }
        if (method.grpc() != null && byGrpc.put(method.grpc(), row) != null) {
            throw new IllegalArgumentException("gRPC method \"" + method.grpc() + "\": duplicate name");
        }
    }

    private static void requireOwn(String method) {
        boolean ofProtocol = ServedAgent.OPERATIONS.stream().anyMatch(table -> table.named(method) != null);
        // JSON-RPC keeps names with that beginning for itself.
        if (ofProtocol || method.equals(Kernel.GET_CARD) || method.startsWith("rpc.") || method.isBlank()) {
            throw new IllegalArgumentException(
                    "method: " + method + " (expected: a name that the protocol does not have)");
        }
    }

    /** The operations of the extensions that modules of the program provide, which an agent need not have. */
    public static ExtensionTable installed() {
        return Installed.TABLE;
    }

    /** The extensions that modules of the program provide. */
    static List<ExtensionProtocol> protocols() {
        return Installed.PROTOCOLS;
    }

    /** Codec of a class of values that an extension has besides its operations; null if it belongs to none. */
    static @Nullable Codec<?> codec(Class<?> type) {
        return Installed.CODECS.get(type);
    }

    /** Names of the operations. */
    public Set<String> names() {
        return Collections.unmodifiableSet(byName.keySet());
    }

    /** The operation with a full name of a gRPC method. */
    public Optional<ExtensionMethod<?, ?>> grpc(String fullName) {
        return Optional.ofNullable(byGrpc.get(fullName)).map(ExtensionRow::method);
    }

    /** The operation of that name, and how its extension differs from A2A. */
    public Optional<ExtensionStyle> style(String name) {
        return Optional.ofNullable(byName.get(name)).map(ExtensionRow::style);
    }

    @Nullable
    ExtensionRow named(String method) {
        return byName.get(method);
    }

    List<ExtensionRow> routed() {
        return routed;
    }
}

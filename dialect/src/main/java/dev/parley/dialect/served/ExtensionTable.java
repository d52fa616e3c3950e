package dev.parley.dialect.served;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.legacy.LegacyOperations;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.Rest;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.JsonText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The operations of the extensions that an agent has, by their places on the wire. Immutable. */
public final class ExtensionTable {
    public static final ExtensionTable EMPTY = new ExtensionTable(List.of());

    /** In a class of its own, because extensions read and write values while they are loaded. */
    private static final class Installed {
        private static final ExtensionTable TABLE = new ExtensionTable(InstalledExtensions.protocols());
    }

    /** Tables of the methods that extensions cannot have; those of the Agentic Kernel and of AgentVault are among them. */
    private static final List<OperationTable> RESERVED =
            List.of(V1Operations.TABLE, LegacyOperations.KIND, LegacyOperations.TYPE);

    private final List<ExtensionRow> routed = new ArrayList<>();
    private final List<ExtensionRow> streamsFirst;
    private final Map<String, ExtensionRow> byName = new HashMap<>();
    private final Map<String, ExtensionRow> byGrpc = new HashMap<>();

    /** @throws IllegalArgumentException if two operations have the same name, or the place of one is taken */
    public ExtensionTable(List<ExtensionProtocol> protocols) {
        for (ExtensionProtocol protocol : protocols) {
            protocol.methods().forEach(method -> add(ExtensionRow.of(protocol, method)));
        }
        Comparator<ExtensionRow> callsFirst =
                Comparator.comparing(row -> row.method().streams());
        routed.sort(callsFirst);
        streamsFirst = new ArrayList<>(routed);
        streamsFirst.sort(callsFirst.reversed());
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
        boolean ofProtocol = RESERVED.stream().anyMatch(table -> table.named(method) != null);
        // JSON-RPC keeps names with that beginning for itself.
        if (ofProtocol || method.equals(KernelCard.GET_CARD) || method.startsWith("rpc.") || method.isBlank()) {
            throw new IllegalArgumentException(
                    "method: " + method + " (expected: a name that the protocol does not have)");
        }
    }

    /** The operations of the extensions that modules of the program provide, which an agent need not have. */
    public static ExtensionTable installed() {
        return Installed.TABLE;
    }

    /** Names of the operations. */
    public Set<String> names() {
        return Collections.unmodifiableSet(byName.keySet());
    }

    /**
     * Answers a request over REST at an address that is not an agent's. Paths are those of the rows, and bodies are JSON: a web page can
     * send a POST of other types, or without a body, to any address without being allowed to; it cannot send a DELETE.
     *
     * @param caller authenticated before
     * @throws A2AException if there is no such operation, or it is refused
     */
    public WireAnswer answer(WireRequest request, CallContext caller, AgentEndpoint endpoint) {
        Rest<ExtensionRow> route = route(request);
        boolean isBare = request.method().equals("DELETE") && request.hasNoBody();
        if (!request.method().equals("GET") && !isBare) {
            String type = request.header("Content-Type");
            if (type == null || !type.startsWith("application/json")) {
                throw A2AException.of(
                        A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Type: " + type + " (expected: application/json)");
            }
        }
        ExtensionRow row = route.operation();
        if (!(row.read(request, route.variables()) instanceof Operation.ExtensionCall<?> call)) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION);
        }
        CallContext context = caller.withTraceparent(request.header(Headers.TRACE));
        Object answer = requireNonNullElse(endpoint.call(call, context), Codecs.NULL);
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", "application/json", "Cache-Control", "no-store"),
                JsonText.write(row.answer(), answer));
    }

    private Rest<ExtensionRow> route(WireRequest request) {
        var verbs = new TreeSet<String>();
        for (ExtensionRow row : routed) {
            Map<String, String> variables = requireNonNull(row.path()).match(Rest.segments(request.path()));
            if (variables != null) {
                if (row.verbs().contains(request.method())) {
                    return new Rest<>(row, variables);
                }
                verbs.addAll(row.verbs());
            }
        }
        if (verbs.isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "No such path");
        }
        if (verbs.contains("GET")) {
            verbs.add("HEAD");
        }
        throw A2AException.notAllowed(request.method(), String.join(", ", verbs));
    }

    /** Whether an operation has a path over REST. */
    public boolean isAt(String path) {
        return !path.isEmpty() && Rest.isExactlyAt(routed, path);
    }

    /** The operation with a full name of a gRPC method. */
    public Optional<ExtensionMethod<?, ?>> grpc(String fullName) {
        return Optional.ofNullable(byGrpc.get(fullName)).map(ExtensionRow::method);
    }

    /** The operation of that name, and how its extension differs from A2A. */
    public Optional<ExtensionStyle> style(String name) {
        return Optional.ofNullable(byName.get(name)).map(ExtensionRow::style);
    }

    @SuppressWarnings("exports") // for the other packages of this module
    public @Nullable ExtensionRow named(String method) {
        return byName.get(method);
    }

    @SuppressWarnings("exports") // for the other packages of this module
    public List<ExtensionRow> routed() {
        return routed;
    }

    /** The operations over REST, with those first that answer as the caller accepts: a call and a stream may share a path. */
    @SuppressWarnings("exports") // for the other packages of this module
    public List<ExtensionRow> routedFor(WireRequest request) {
        String accept = request.header("Accept");
        boolean streams = accept != null && accept.contains("text/event-stream");
        return streams ? streamsFirst : routed;
    }
}

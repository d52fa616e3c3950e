package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.ErrorKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An extension on the wire: its URI, its operations and its differences from A2A. Servers and clients share it.
 *
 * @param uri of the extension in cards, headers and messages; one that begins with {@code /} is a path of a hub, and stands for the
 *     extension of any hub
 * @param errors of its own, which clients know by the reason, else by the JSON-RPC code
 */
public record ExtensionProtocol(
        String uri, List<ExtensionMethod<?, ?>> methods, ExtensionStyle style, List<ErrorKind> errors) {
    private static final Set<String> GRPC_STATUSES = Set.of(
            "CANCELLED",
            "UNKNOWN",
            "INVALID_ARGUMENT",
            "DEADLINE_EXCEEDED",
            "NOT_FOUND",
            "ALREADY_EXISTS",
            "PERMISSION_DENIED",
            "RESOURCE_EXHAUSTED",
            "FAILED_PRECONDITION",
            "ABORTED",
            "OUT_OF_RANGE",
            "UNIMPLEMENTED",
            "INTERNAL",
            "UNAVAILABLE",
            "DATA_LOSS",
            "UNAUTHENTICATED");

    public ExtensionProtocol {
        requireNonNull(uri, "uri");
        requireNonNull(style, "style");
        methods = List.copyOf(methods);
        errors = List.copyOf(errors);
        errors.forEach(error -> check(uri, error));
        var names = new HashSet<String>();
        for (ExtensionMethod<?, ?> method : methods) {
            if (method.mediaType() == null && !names.add(method.name())) {
                throw new IllegalArgumentException(
                        "extension " + uri + ": operation \"" + method.name() + "\": duplicate name");
            }
        }
    }

    private static void check(String uri, ErrorKind error) {
        for (A2AError taken : A2AError.values()) {
            if (taken.name().equals(error.name()) || taken.code() == error.code()) {
                throw new IllegalArgumentException("extension " + uri + ": error " + error.name() + " (" + error.code()
                        + "): name or code of " + taken + " (expected: others than those of A2A)");
            }
        }
        boolean known = GRPC_STATUSES.contains(error.grpcStatus());
        if (!known || error.httpStatus() < 400 || error.httpStatus() > 599) {
            throw new IllegalArgumentException("extension " + uri + ": error " + error.name() + ": HTTP status "
                    + error.httpStatus() + ", gRPC status " + error.grpcStatus()
                    + " (expected: 400 to 599, and a name such as NOT_FOUND)");
        }
    }

    /** Provides extensions to the clients of a program; found by {@link java.util.ServiceLoader}. */
    @FunctionalInterface
    public interface Provider {
        /** The extensions, which are always the same. */
        Collection<ExtensionProtocol> protocols();

        /** Forms of values that stand in documents of their own, such as files and rows, besides requests and answers. */
        default Map<Class<?>, JsonForm<?>> values() {
            return Map.of();
        }
    }

    /** An extension without differences from A2A. */
    public static ExtensionProtocol of(String uri, ExtensionMethod<?, ?>... methods) {
        return new ExtensionProtocol(uri, List.of(methods), ExtensionStyle.A2A, List.of());
    }

    /** Methods of an agent's own, which belong to no extension: their operations are {@link MethodCall}s. */
    public static ExtensionProtocol ofMethods(Collection<String> names) {
        var methods = new ArrayList<ExtensionMethod<?, ?>>();
        for (String name : names) {
            JsonForm<MethodCall> call = JsonForm.object(params -> new MethodCall(name, params), MethodCall::params);
            methods.add(ExtensionMethod.call(name, MethodCall.class, call, MethodCall.ANY));
        }
        return new ExtensionProtocol("", methods, ExtensionStyle.A2A, List.of());
    }

    /** True if {@code other} is the URI of this extension, or an address of it at any hub. */
    public boolean isUri(String other) {
        return ExtensionUri.isSame(other, uri) || uri.startsWith("/") && other.endsWith(uri);
    }

    /** The entry of this extension among those of a card. */
    public Optional<AgentCard.Extension> in(List<AgentCard.Extension> entries) {
        return entries.stream().filter(entry -> isUri(entry.uri())).findFirst();
    }

    /** Returns this extension with one more operation. */
    public ExtensionProtocol with(ExtensionMethod<?, ?> method) {
        var more = new ArrayList<>(methods);
        more.add(method);
        return new ExtensionProtocol(uri, more, style, errors);
    }

    /** Returns this extension in another style. */
    public ExtensionProtocol with(ExtensionStyle other) {
        return new ExtensionProtocol(uri, methods, other, errors);
    }

    /**
     * This extension with errors of its own.
     *
     * @throws IllegalArgumentException if one has a name or code of A2A, or a status that does not exist
     */
    public ExtensionProtocol with(ErrorKind... own) {
        return new ExtensionProtocol(uri, methods, style, List.of(own));
    }
}

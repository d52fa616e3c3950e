package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentCard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An extension on the wire: its URI, its operations and its differences from A2A. Servers and clients share it.
 *
 * @param uri of the extension in cards, headers and messages; one that begins with {@code /} is a path of a hub, and stands for the
 *     extension of any hub
 */
public record ExtensionProtocol(String uri, List<ExtensionMethod<?, ?>> methods, ExtensionStyle style) {
    public ExtensionProtocol {
        requireNonNull(uri, "uri");
        requireNonNull(style, "style");
        methods = List.copyOf(methods);
        var names = new HashSet<String>();
        for (ExtensionMethod<?, ?> method : methods) {
            if (method.mediaType() == null && !names.add(method.name())) {
                throw new IllegalArgumentException(
                        "extension " + uri + ": operation \"" + method.name() + "\": duplicate name");
            }
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
        return new ExtensionProtocol(uri, List.of(methods), ExtensionStyle.A2A);
    }

    /** Methods of an agent's own, which belong to no extension: their operations are {@link MethodCall}s. */
    public static ExtensionProtocol ofMethods(Collection<String> names) {
        var methods = new ArrayList<ExtensionMethod<?, ?>>();
        for (String name : names) {
            JsonForm<MethodCall> call = JsonForm.object(params -> new MethodCall(name, params), MethodCall::params);
            methods.add(ExtensionMethod.call(name, MethodCall.class, call, MethodCall.ANY));
        }
        return new ExtensionProtocol("", methods, ExtensionStyle.A2A);
    }

    /** True if {@code other} is the URI of this extension, on whichever hub. */
    public boolean isUri(String other) {
        return other.equals(uri) || uri.startsWith("/") && other.endsWith(uri);
    }

    /** The entry of this extension among those of a card. */
    public Optional<AgentCard.Extension> in(List<AgentCard.Extension> entries) {
        return entries.stream().filter(entry -> isUri(entry.uri())).findFirst();
    }

    /** This extension with one more operation. */
    public ExtensionProtocol with(ExtensionMethod<?, ?> method) {
        var more = new ArrayList<>(methods);
        more.add(method);
        return new ExtensionProtocol(uri, more, style);
    }

    /** This extension in another style. */
    public ExtensionProtocol with(ExtensionStyle other) {
        return new ExtensionProtocol(uri, methods, other);
    }
}

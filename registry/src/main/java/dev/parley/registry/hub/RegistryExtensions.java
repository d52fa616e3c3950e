package dev.parley.registry.hub;

import dev.parley.dialect.spi.WireFace;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.registry.spi.RegistryExtension;
import dev.parley.registry.spi.RegistryExtensionSource;
import dev.parley.registry.store.Entries;
import java.net.URL;
import java.security.CodeSource;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The extensions of one registry. Safe for any thread. */
final class RegistryExtensions implements AutoCloseable {
    private final List<Named<RegistryExtension>> all = new ArrayList<>();
    private final Map<String, WireFace> faces = new LinkedHashMap<>();
    private Handlers handlers = Handlers.NONE;

    /** An extension, or its source, with the name of its source for operators, who take its jar away or bring another one. */
    private record Named<T>(String name, T extension) {}

    /**
     * Opens extensions, and brings their tables up to date.
     *
     * @param ownPaths paths of the protocols that the registry has itself
     * @param own handlers of the registry
     * @throws IllegalArgumentException for an operation, a page or a path of two extensions; none of them is open then
     */
    RegistryExtensions(
            List<RegistryExtensionSource> sources,
            HubParts hub,
            Entries entries,
            InstantSource clock,
            Collection<String> ownPaths,
            Handlers own) {
        List<Named<RegistryExtensionSource>> named = sources.stream()
                .map(source -> new Named<>(name(source), source))
                .toList();
        requireDistinct("page", List.of(), named, source -> source.pages().keySet());
        try {
            for (Named<RegistryExtensionSource> each : named) {
                all.add(new Named<>(each.name, each.extension.open(hub, entries, clock)));
            }
            requireDistinct(
                    "path", ownPaths, all, extension -> extension.faces().keySet());
            requireDistinct(
                    "operation",
                    own.byName().keySet(),
                    all,
                    extension -> extension.handlers().byName().keySet());
            for (Named<RegistryExtension> each : all) {
                faces.putAll(each.extension.faces());
                handlers = handlers.and(each.extension.handlers());
            }
            entries.changes().derived().catchUp();
        } catch (RuntimeException | Error failure) {
            close(failure);
            throw failure;
        }
    }

    private static String name(RegistryExtensionSource source) {
        CodeSource code = source.getClass().getProtectionDomain().getCodeSource();
        // Null for a class from an AOT cache whose jars have been moved since it was made.
        @Nullable URL location = code == null ? null : code.getLocation();
        return source.getClass().getName() + (location == null ? "" : " of " + location.getPath());
    }

    private static <T> void requireDistinct(
            String kind, Collection<String> own, List<Named<T>> extensions, Function<T, Collection<String>> parts) {
        var owners = new HashMap<String, String>();
        own.forEach(part -> owners.put(part, "the registry"));
        for (Named<T> each : extensions) {
            for (String part : parts.apply(each.extension)) {
                String other = owners.putIfAbsent(part, each.name);
                if (other != null) {
                    throw new IllegalArgumentException(kind + " \"" + part + "\" of the registry extension " + each.name
                            + ": " + other + " has it, too (expected: one of them; leave out the jar of the other)");
                }
            }
        }
    }

    /** Protocols by their paths. */
    Map<String, WireFace> faces() {
        return faces;
    }

    Handlers handlers() {
        return handlers;
    }

    List<PersonalData> personalData() {
        return all.stream()
                .flatMap(each -> each.extension.personalData().stream())
                .toList();
    }

    /** Closes all extensions, the last one first. */
    @Override
    public void close() {
        RuntimeException failure = close(null);
        if (failure != null) {
            throw failure;
        }
    }

    /** Closes all extensions, and returns the first failure with the others; these are added to a failure that is given. */
    private @Nullable RuntimeException close(@Nullable Throwable before) {
        RuntimeException first = null;
        for (Named<RegistryExtension> each : all.reversed()) {
            try {
                each.extension.close();
            } catch (RuntimeException failure) { // the others hold threads and connections, too
                if (before != null) {
                    before.addSuppressed(failure);
                } else if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        return first;
    }
}

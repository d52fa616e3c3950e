package dev.parley.registry.hub;

import dev.parley.dialect.spi.WireFace;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.registry.spi.RegistryExtension;
import dev.parley.registry.spi.RegistryExtensionSource;
import dev.parley.registry.store.Entries;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The extensions of one registry. Safe for any thread. */
final class RegistryExtensions implements AutoCloseable {
    private final List<RegistryExtension> all = new ArrayList<>();
    private final Map<String, WireFace> faces = new LinkedHashMap<>();
    private Handlers handlers = Handlers.NONE;

    /** Opens extensions, and brings their tables up to date. If one fails, none is open. */
    RegistryExtensions(List<RegistryExtensionSource> sources, HubParts hub, Entries entries, InstantSource clock) {
        try {
            for (RegistryExtensionSource source : sources) {
                all.add(source.open(hub, entries, clock));
            }
            for (RegistryExtension extension : all) {
                faces.putAll(extension.faces());
                handlers = handlers.and(extension.handlers());
            }
            entries.derived().catchUp();
        } catch (RuntimeException | Error failure) {
            close(failure);
            throw failure;
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
                .flatMap(extension -> extension.personalData().stream())
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
        for (RegistryExtension extension : all.reversed()) {
            try {
                extension.close();
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

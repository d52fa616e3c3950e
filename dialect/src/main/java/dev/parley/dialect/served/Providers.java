package dev.parley.dialect.served;

import dev.parley.dialect.operations.Rest;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.DialectProvider;
import dev.parley.protocol.AgentCard;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;

/** The dialects of others on the class path. */
public final class Providers {
    public static final List<DialectProvider> INSTALLED = installed();

    /** Names of the dialects in settings; 0.3 includes 0.2. */
    public static final Set<String> NAMES = Collections.unmodifiableSet(names());

    private Providers() {}

    private static Set<String> names() {
        var names = new LinkedHashSet<>(List.of("1.0", "0.3", "0.1", "kernel", "agentvault"));
        INSTALLED.forEach(provider -> names.add(provider.name()));
        return names;
    }

    private static List<DialectProvider> installed() {
        List<DialectProvider> providers =
                ServiceLoader.load(DialectProvider.class, DialectProvider.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        var taken = new HashSet<>(List.of("1.0", "0.3", "0.1", "kernel", "agentvault", "/kernel", "/agentvault"));
        for (DialectProvider provider : providers) {
            if (!provider.name().matches("[a-z0-9.]+") || !taken.add(provider.name())) {
                throw new ServiceConfigurationError("dialect \"" + provider.name()
                        + "\": name (expected: lower-case letters, digits and dots, of no other dialect)");
            }
            String suffix = provider.suffix();
            if (!suffix.matches("/[A-Za-z0-9._-]+") || Rest.isReserved(suffix) || !taken.add(suffix)) {
                throw new ServiceConfigurationError("dialect \"" + provider.name() + "\": suffix \"" + suffix
                        + "\" (expected: / and one segment, which neither A2A nor another dialect uses)");
            }
        }
        return providers;
    }

    /** @throws IllegalArgumentException if there is none */
    public static DialectProvider named(String name) {
        return INSTALLED.stream()
                .filter(provider -> provider.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("dialect: " + name));
    }

    /** The client's side for an interface that no dialect of this library speaks. */
    public static Optional<Binding> binding(AgentCard.Interface agent) {
        return INSTALLED.stream()
                .map(provider -> provider.binding(agent).orElse(null))
                .filter(Objects::nonNull)
                .findFirst();
    }
}

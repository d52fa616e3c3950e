package dev.parley.cli.host;

import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.AgentSource;
import dev.parley.engine.ExtensionSource;
import dev.parley.extension.HubExtensionSource;
import dev.parley.registry.hub.RegistrySource;
import dev.parley.registry.spi.RegistryExtensionSource;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** Finds agents and extensions in jars: those of every source that a jar names as a service. */
public final class AgentArchives {
    private AgentArchives() {}

    /** Agents and extensions of the jars in a folder. */
    record Contents(
            List<Agent> agents,
            List<AgentExtension> extensions,
            List<HubExtensionSource> ofHub,
            List<RegistryExtensionSource> ofRegistry) {
        boolean isEmpty() {
            return agents.isEmpty() && extensions.isEmpty() && ofHub.isEmpty() && ofRegistry.isEmpty();
        }
    }

    /** Extensions of a hub in archives, with the registry if they have extensions of it. */
    static List<HubExtensionSource> ofHub(List<Contents> archives) {
        var all = new ArrayList<HubExtensionSource>();
        var ofRegistry = new ArrayList<>(RegistrySource.installed());
        for (Contents archive : archives) {
            all.addAll(archive.ofHub);
            ofRegistry.addAll(archive.ofRegistry);
        }
        if (ofRegistry.size() > RegistrySource.installed().size()) {
            all.add(new RegistrySource(ofRegistry));
        }
        return all;
    }

    /**
     * Returns the contents of one jar, or of all jars of a directory together, so that they may share libraries. Their class
     * loader stays open as long as the process runs.
     */
    public static Contents read(Path place) {
        List<URL> jars = jars(place).stream().map(AgentArchives::url).toList();
        if (jars.isEmpty()) {
            throw CommandException.usage(
                    "--agents " + place + ": no jars there", "expected: a jar, or a directory of jars");
        }
        var loader = new URLClassLoader(jars.toArray(URL[]::new), AgentArchives.class.getClassLoader());
        Contents contents;
        try {
            contents = new Contents(
                    services(AgentSource.class, loader)
                            .flatMap(source -> source.agents().stream())
                            .toList(),
                    services(ExtensionSource.class, loader)
                            .flatMap(source -> source.extensions().stream())
                            .toList(),
                    services(HubExtensionSource.class, loader).toList(),
                    services(RegistryExtensionSource.class, loader).toList());
        } catch (ServiceConfigurationError | LinkageError broken) {
            throw CommandException.of(
                    Kind.USAGE,
                    "--agents " + place + ": cannot load: " + broken.getMessage(),
                    "the jar must hold what it needs, built for this version of Parley and Java "
                            + Runtime.version().feature(),
                    broken);
        }
        if (contents.isEmpty()) {
            throw CommandException.usage(
                    "--agents " + place + ": no agents there",
                    "a jar names its source of agents in META-INF/services/" + AgentSource.class.getName());
        }
        return contents;
    }

    /** Services of the jars, without those of the program. */
    private static <S> Stream<S> services(Class<S> type, ClassLoader loader) {
        return ServiceLoader.load(type, loader).stream()
                .filter(provider -> loader.equals(provider.type().getClassLoader()))
                .map(ServiceLoader.Provider::get);
    }

    private static List<Path> jars(Path place) {
        if (Files.isRegularFile(place)) {
            return List.of(place);
        }
        if (!Files.isDirectory(place)) {
            throw CommandException.usage("--agents: no such file or directory: " + place, null);
        }
        try (var files = Files.list(place)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        } catch (IOException unreadable) {
            throw CommandException.usage("--agents: cannot read " + place + ": " + unreadable, null);
        }
    }

    private static URL url(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}

package dev.parley.cli.host;

import dev.parley.cli.connection.Jars;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.AgentSource;
import dev.parley.engine.ExtensionSource;
import dev.parley.extension.HubExtensionSource;
import dev.parley.registry.hub.RegistrySource;
import dev.parley.registry.spi.RegistryExtensionSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;

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
        List<Path> files = Jars.files("--agents", place);
        if (files.isEmpty()) {
            throw CommandException.usage(
                    "--agents " + place + ": no jars there", "expected: a jar, or a directory of jars");
        }
        var jars = new Jars(files);
        Contents contents;
        try {
            contents = new Contents(
                    jars.services(AgentSource.class)
                            .flatMap(source -> source.agents().stream())
                            .toList(),
                    jars.services(ExtensionSource.class)
                            .flatMap(source -> source.extensions().stream())
                            .toList(),
                    jars.services(HubExtensionSource.class).toList(),
                    jars.services(RegistryExtensionSource.class).toList());
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
}

package dev.parley.cli.host;

import dev.parley.cli.output.CliException;
import dev.parley.cli.output.LocalError;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.AgentSource;
import dev.parley.engine.ExtensionSource;
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

/** Finds agents and extensions in jars: those of every source that a jar names as a service. */
public final class AgentArchives {
    private AgentArchives() {}

    /** Agents and extensions of the jars in a folder. */
    record Contents(List<Agent> agents, List<AgentExtension> extensions) {}

    /**
     * Returns what is in one jar, or in all jars of a directory together, so that they may share libraries. Their class
     * loader stays open as long as the process runs.
     */
    public static Contents read(Path place) {
        List<URL> jars = jars(place).stream().map(AgentArchives::url).toList();
        if (jars.isEmpty()) {
            throw CliException.usage(
                    "--agents " + place + ": no jars there", "expected: a jar, or a directory of jars");
        }
        var loader = new URLClassLoader(jars.toArray(URL[]::new), AgentArchives.class.getClassLoader());
        var agents = new ArrayList<Agent>();
        var extensions = new ArrayList<AgentExtension>();
        try {
            for (AgentSource source : ServiceLoader.load(AgentSource.class, loader)) {
                if (loader.equals(source.getClass().getClassLoader())) {
                    agents.addAll(source.agents());
                }
            }
            for (ExtensionSource source : ServiceLoader.load(ExtensionSource.class, loader)) {
                if (loader.equals(source.getClass().getClassLoader())) {
                    extensions.addAll(source.extensions());
                }
            }
        } catch (ServiceConfigurationError | LinkageError broken) {
            throw CliException.local(
                    LocalError.USAGE,
                    "--agents " + place + ": cannot load: " + broken.getMessage(),
                    "the jar must hold what it needs, built for this version of Parley and Java "
                            + Runtime.version().feature(),
                    broken);
        }
        if (agents.isEmpty() && extensions.isEmpty()) {
            throw CliException.usage(
                    "--agents " + place + ": no agents there",
                    "a jar names its source of agents in META-INF/services/" + AgentSource.class.getName());
        }
        return new Contents(agents, extensions);
    }

    private static List<Path> jars(Path place) {
        if (Files.isRegularFile(place)) {
            return List.of(place);
        }
        if (!Files.isDirectory(place)) {
            throw CliException.usage("--agents: no such file or directory: " + place, null);
        }
        try (var files = Files.list(place)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        } catch (IOException unreadable) {
            throw CliException.usage("--agents: cannot read " + place + ": " + unreadable, null);
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

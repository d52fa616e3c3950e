package dev.parley.cli.connection;

import dev.parley.command.CommandException;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** Jars that users name or install. They share a class loader, which stays open as long as the process runs. */
public final class Jars {
    private final ClassLoader loader;

    public Jars(List<Path> files) {
        loader = new URLClassLoader(files.stream().map(Jars::url).toArray(URL[]::new), Jars.class.getClassLoader());
    }

    /**
     * Returns a jar, or all jars of a directory.
     *
     * @param setting that names the place, for messages
     * @throws CommandException if there is no such place
     */
    public static List<Path> files(String setting, Path place) {
        if (Files.isRegularFile(place)) {
            return List.of(place);
        }
        if (!Files.isDirectory(place)) {
            throw CommandException.usage(setting + ": no such file or directory: " + place, null);
        }
        try (var files = Files.list(place)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        } catch (IOException unreadable) {
            throw CommandException.usage(setting + ": cannot read " + place + ": " + unreadable, null);
        }
    }

    /** Services of the jars, without those of the program. */
    public <S> Stream<S> services(Class<S> type) {
        return ServiceLoader.load(type, loader).stream()
                .filter(provider -> loader.equals(provider.type().getClassLoader()))
                .map(ServiceLoader.Provider::get);
    }

    private static URL url(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}

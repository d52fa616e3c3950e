package dev.parley.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * A library of the page, in a jar of org.webjars.npm on the class path.
 *
 * @param name by which modules import it
 * @param artifact name of the jar, and of the directory in which its files are served
 * @param main its module
 */
record Library(String name, String artifact, String main) {
    static final List<Library> ALL = List.of(
            new Library("lit", "lit", "index.js"),
            new Library("lit-html", "lit-html", "lit-html.js"),
            new Library("lit-element", "lit-element", "index.js"),
            new Library("@lit/reactive-element", "lit__reactive-element", "reactive-element.js"),
            new Library("marked", "marked", "lib/marked.esm.js"),
            new Library("dompurify", "dompurify", "dist/purify.es.mjs"));

    /** Opens a file of the library; null if there is none. */
    @Nullable
    InputStream open(String path) {
        return resource("META-INF/resources/webjars/" + artifact + "/" + version() + "/" + path);
    }

    private static @Nullable InputStream resource(String path) {
        return Library.class.getClassLoader().getResourceAsStream(path);
    }

    String version() {
        String resource = "META-INF/maven/org.webjars.npm/" + artifact + "/pom.properties";
        try (InputStream in = resource(resource)) {
            if (in == null) {
                throw new IllegalStateException("library \"" + artifact + "\": not found (expected: org.webjars.npm:"
                        + artifact + " on the class path)");
            }
            var properties = new Properties();
            properties.load(in);
            return properties.getProperty("version");
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}

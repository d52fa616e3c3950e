package dev.parley.guards;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules look at the class of every source: a module that is not on their class path would pass all of them. */
final class ProductClassesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void everySourceHasItsClass() throws IOException {
        var missing = new TreeSet<String>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path sources : modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                missing.addAll(missing(ProductClasses.ALL, sources));
            }
        }

        assertThat(missing)
                .as("sources whose modules are not in guards/pom.xml, or are not compiled")
                .isEmpty();
    }

    @Test
    void aPlantedSourceWithoutClassIsFound() throws IOException {
        JavaClasses first = new ClassFileImporter().importPackages("dev.parley.guards.planted.first");

        assertThat(missing(first, Path.of("src/test/java/dev/parley/guards/planted")))
                .contains("guards/src/test/java/dev/parley/guards/planted/second/Second.java")
                .doesNotContain("guards/src/test/java/dev/parley/guards/planted/first/First.java");
    }

    /** Files below a directory whose classes are not among those given. */
    private static Set<String> missing(JavaClasses classes, Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().matches(".*[/\\\\][A-Z][^/\\\\]*\\.java"))
                    .map(file ->
                            ROOT.relativize(file.toAbsolutePath()).toString().replace('\\', '/'))
                    .filter(file -> !classes.contain(file.replaceFirst(".*/java/", "")
                            .replace(".java", "")
                            .replace('/', '.')))
                    .collect(toCollection(TreeSet::new));
        }
    }
}

package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The wire examples: one file each, under the name of what they are. */
final class Wire {
    private Wire() {}

    /** The names of all examples of 1.0 whose name has the suffix. */
    static List<String> examples(String suffix) {
        return examples("v1", suffix);
    }

    /** The names of all examples of a dialect whose name has the suffix. */
    static List<String> examples(String dialect, String suffix) {
        try (Stream<Path> files = Files.list(Path.of(
                Objects.requireNonNull(Wire.class.getResource("/" + dialect)).toURI()))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(suffix))
                    .sorted()
                    .toList();
        } catch (IOException | URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] example(String name) {
        return example("v1", name);
    }

    static byte[] example(String dialect, String name) {
        try (var in = Objects.requireNonNull(Wire.class.getResourceAsStream("/" + dialect + "/" + name), name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The examples of all dialects, to begin with where any bytes may come. */
    static Stream<byte[]> everything() {
        return Stream.of("v1", "v03", "v03proto", "v01", "kernel", "agentvault")
                .flatMap(dialect -> examples(dialect, ".json").stream().map(name -> example(dialect, name)));
    }

    static byte[] bytes(String json) {
        return json.getBytes(UTF_8);
    }

    static String text(byte[] json) {
        return new String(json, UTF_8);
    }

    /** Any JSON as maps and lists, to compare it without regard for blanks and the order of members. */
    static Object tree(byte[] json) {
        return Json.read(json, Object.class);
    }

    static Object tree(String json) {
        return tree(bytes(json));
    }
}

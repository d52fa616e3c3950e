package dev.parley.knowledge.rdf;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.knowledge.rdf.RdfFiles.Format;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is in a file of JSON-LD, it is read without asking anybody, or what is wrong with it is said. */
final class JsonLdFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "{\"@context\":{\"ex\":\"http://e/\",\"n\":{\"@id\":\"ex:n\",\"@container\":\"@list\",\"@type\":\"@id\"}},"
                                + "\"@id\":\"ex:a\",\"@type\":[\"ex:T\"],\"n\":[\"ex:b\",\"_:c\"],\"ex:v\":{\"@value\":\"x\",\"@language\":\"de\"}}",
                        "{\"@context\":\"http://127.0.0.1/context\",\"@graph\":[{\"@id\":\"a\",\"b\":1.5}]}",
                        "[{\"@id\":\"http://e/g\",\"@graph\":[{\"@id\":\"http://e/s\",\"http://e/p\":[{\"@value\":true},{\"@value\":1e30},null]}]}]",
                        "{\"@context\":[{\"@vocab\":\"http://e/\",\"@base\":\"http://b/\"},{\"p\":{\"@reverse\":\"q\",\"@nest\":\"r\"}}],\"@included\":[{\"p\":{}}]}")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void files(byte[] file) {
        AnyFile.read(file, Format.JSON_LD);
    }
}

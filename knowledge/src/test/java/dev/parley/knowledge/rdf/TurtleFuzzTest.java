package dev.parley.knowledge.rdf;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.knowledge.rdf.RdfFiles.Format;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is in a file of Turtle, TriG, N-Triples or N-Quads, it is read, or what is wrong with it is said. */
final class TurtleFuzzTest {
    private static final List<Format> FORMATS = List.of(Format.TURTLE, Format.TRIG, Format.N_TRIPLES, Format.N_QUADS);

    static Stream<byte[]> examples() {
        return Stream.of(
                        "@prefix ex: <http://e/> . @base <http://b/> . ex:a a <c>, [ ex:p (1 2.5 1e3 true) ] ; ex:q \"x\"@de .",
                        "PREFIX : <#> GRAPH :g { :s :p \"\"\"a\\\\n\"b\"\"\"^^<http://www.w3.org/2001/XMLSchema#date> } :h { _:b :p _:b }",
                        "<http://e/s> <http://e/p> \"\\\\u00e9\\\\U0001F600\"^^<@id> <http://e/g> .\n_:a <p> <o> .\n# end",
                        "<s> <p> << <a> <b> <c> >> {| <q> 1 |} .",
                        "<s> <p> \"x\"^^")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void files(byte[] file) {
        FORMATS.forEach(format -> AnyFile.read(file, format));
    }
}

package dev.parley.knowledge.rdf;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.knowledge.rdf.RdfFiles.Format;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is in a file of CSV, it is read, or what is wrong with it is said. */
final class CsvFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "subject,predicate,object,type,language,graph,certainty\r\nex:a,ex:p,\"x\"\"\n,y\",,de,ex:g,0.5\r\n_:b,q,ex:o,@id,,,\r\n",
                        "\uFEFFobject,subject,predicate\n1,ex:a,ex:p\n,,\n",
                        "subject,predicate,object,certainty\na,b,c,NaN\n")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void files(byte[] file) {
        AnyFile.read(file, Format.CSV);
    }
}

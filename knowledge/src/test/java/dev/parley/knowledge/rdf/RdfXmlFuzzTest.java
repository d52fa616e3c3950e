package dev.parley.knowledge.rdf;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.knowledge.rdf.RdfFiles.Format;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is in a file of RDF/XML, it is read without asking anybody, or what is wrong with it is said. */
final class RdfXmlFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\" xml:base=\"http://b/\">"
                                + "<e:T rdf:about=\"a\"><e:p rdf:parseType=\"Collection\"><e:U/></e:p><e:q xml:lang=\"de\">x</e:q></e:T></rdf:RDF>",
                        "<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\"><!ENTITY y \"&x;&x;\">]>"
                                + "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:li>&y;</rdf:li></rdf:RDF>",
                        "<?xml version=\"1.1\" encoding=\"UTF-16\"?><a xmlns=\"http://e/\"><b c=\"d\" rdf:ID=\"e\"/><![CDATA[x]]></a>")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void files(byte[] file) {
        AnyFile.read(file, Format.RDF_XML);
    }
}

package dev.parley.knowledge.rdf;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.rdf.RdfFiles.Defaults;
import dev.parley.knowledge.rdf.RdfFiles.Format;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

class RdfFilesTest {
    private static final Defaults NO_DEFAULTS = new Defaults("file", null, null);

    private static final List<Statement> STATEMENTS = List.of(
            Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project")),
            Statement.of("ex:p1", "ex:status", Literal.of("active")),
            Statement.of("ex:p1", "ex:label", Literal.of("Brücke, \"alte\"\nund neue \\", "de")),
            Statement.of("ex:p1", "ex:size", Literal.of(42)),
            Statement.of("ex:p1", "ex:share", Literal.of(new BigDecimal("0.50"))),
            Statement.of("ex:p1", "ex:open", Literal.of(true)),
            Statement.of("ex:p1", "ex:since", new Literal("2026-01-05", Term.XSD + "date", null)),
            Statement.of("https://example.org/ü?a=b#c", "https://example.org/knows", Resource.of("urn:x:y")));

    /** KG13: typed literals survive a round trip. */
    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "RDF_XML")
    void kg13StatementsComeBackAsTheyWere(Format format) {
        assertThat(read(write(format, STATEMENTS), format)).containsExactlyInAnyOrderElementsOf(STATEMENTS);
    }

    @ParameterizedTest
    @EnumSource(names = {"TRIG", "N_QUADS", "JSON_LD", "CSV"})
    void keepsNamedGraphs(Format format) {
        List<Statement> statements = List.of(
                STATEMENTS.get(1),
                STATEMENTS.get(1).in("ex:g"),
                STATEMENTS.get(2).in("ex:h"));

        assertThat(read(write(format, statements), format)).containsExactlyInAnyOrderElementsOf(statements);
    }

    @ParameterizedTest
    @EnumSource(names = {"TURTLE", "N_TRIPLES"})
    void refusesNamedGraphsWhereThereAreNone(Format format) {
        assertThatThrownBy(() -> write(format, List.of(STATEMENTS.get(1).in("ex:g"))))
                .isInstanceOf(RdfFileException.class)
                .hasMessageContaining("ex:g");
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"RDF_XML", "JSON_LD"})
    void keepsNamesThatAreNoIris(Format format) {
        List<Statement> plain = List.of(Statement.of("plain", "knows", Resource.of("other")));

        assertThat(read(write(format, plain), format)).isEqualTo(plain);
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"RDF_XML", "CSV"})
    void refusesToWriteIdsThatNobodyCouldRead(Format format) {
        assertThatThrownBy(() -> write(format, List.of(Statement.of("ex:a> <ex:b", "ex:knows", Literal.of(1)))))
                .isInstanceOf(RdfFileException.class);
    }

    @Test
    void writesEmptyFilesThatCanBeRead() {
        for (Format format : List.of(Format.TURTLE, Format.N_QUADS, Format.JSON_LD, Format.CSV)) {
            assertThat(read(write(format, List.of()), format)).isEmpty();
        }
    }

    @Test
    void keepsCertaintyInCsv() {
        List<Statement> statements = List.of(STATEMENTS.get(1).withCertainty(0.25), STATEMENTS.get(2));

        assertThat(read(write(Format.CSV, statements), Format.CSV)).isEqualTo(statements);
    }

    @Test
    void readsCsvAsPeopleWriteIt() {
        String csv = """
                subject,predicate,object,type,certainty
                ex:p1,rdf:type,ex:Project,@id,

                ex:p1,ex:name,"One, two",,0.5
                ex:p1,ex:size,4,xsd:integer,1
                """;

        assertThat(read("\uFEFF" + csv.replace("\n", "\r\n"), Format.CSV))
                .containsExactly(
                        STATEMENTS.get(0),
                        Statement.of("ex:p1", "ex:name", Literal.of("One, two")).withCertainty(0.5),
                        Statement.of("ex:p1", "ex:size", Literal.of(4)).withCertainty(1.0));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "TURTLE|<ex:a> <ex:b> 1 .\\n<ex:a> <ex:b> .|2",
                "TRIG|<ex:g> {\\n <ex:a> <ex:b> 1 .\\n ex:a <ex:b> 2 }|3",
                "N_TRIPLES|<ex:a> <ex:b> <ex:c> .\\n<ex:a> nothing|2",
                "N_QUADS|<ex:a> <ex:b> <ex:c> <ex:g> .\\n\\n<ex:a> <ex:b> \"c|3",
                "CSV|subject,predicate,object,certainty\\nex:a,ex:b,c,\\nex:a,ex:b,c,1.5|3",
                "CSV|subject,predicate,object\\nex:a,ex:b,c\\n,ex:b,c|3",
                "CSV|subject,verb,object\\nex:a,ex:b,c|1",
                "CSV|subject,predicate,object,type\\nex:a,ex:b,c,rdf:langString|2",
            })
    void saysOnWhichLineAFileIsWrong(Format format, String text, long line) {
        assertThatThrownBy(() -> read(text.replace("\\n", "\n"), format))
                .isInstanceOfSatisfying(
                        RdfFileException.class,
                        broken -> assertThat(broken.line())
                                .as(broken.getMessage())
                                .isEqualTo(line))
                .hasMessageStartingWith("line " + line + ": ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "JSON_LD|{\"@id\": \"ex:a\", |",
                "JSON_LD|{\"@context\": \"http://127.0.0.1:9/context\", \"@id\": \"ex:a\", \"name\": \"x\"}|",
                "JSON_LD|{\"@context\": {\"@import\": \"http://127.0.0.1:9/context\"}, \"@id\": \"ex:a\"}|",
                "JSON_LD|{\"@context\": \"file:///etc/hostname\", \"@id\": \"ex:a\", \"name\": \"x\"}|",
                "TURTLE|<< <ex:a> <ex:b> <ex:c> >> <ex:d> 1 .|",
                "TURTLE|<ex:a> <ex:b> \"x\"^^|",
                "N_QUADS|<ex:a> <ex:b> \"x\"^^|",
                "TURTLE|@base <http:/e\"p://e/> . @base <http:/e\"<htt<http:// true) ]@de .|",
                "RDF_XML|<a xmlns='ex:' xml:lang='+de'><b>c</b></a>|",
                "RDF_XML|<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description>|",
            })
    void refusesWhatItCannotRead(Format format, String text) {
        assertThatThrownBy(() -> read(text, format)).isInstanceOf(RdfFileException.class);
    }

    @Test
    void refusesMoreDotsThanTheParserBears() {
        assertThatThrownBy(() -> read("@pr" + ".".repeat(40) + "e", Format.TURTLE))
                .isInstanceOf(RdfFileException.class);
    }

    @Test
    void readsRdfXmlWithoutItsEntities() {
        String xml = """
                <?xml version="1.0"?>
                <!DOCTYPE rdf:RDF [ <!ENTITY host SYSTEM "file:///etc/hostname"> ]>
                <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="https://example.org/">
                  <rdf:Description rdf:about="https://example.org/p1">
                    <ex:name xml:lang="en">One</ex:name>
                    <ex:host>%s</ex:host>
                  </rdf:Description>
                </rdf:RDF>
                """;

        assertThat(read(xml.formatted("x"), Format.RDF_XML))
                .contains(Statement.of("https://example.org/p1", "https://example.org/name", Literal.of("One", "en")));
        assertThat(read(xml.formatted("&host;"), Format.RDF_XML))
                .contains(Statement.of("https://example.org/p1", "https://example.org/host", Literal.of("")));
    }

    @Test
    void readsJsonLdWithItsOwnContext() {
        String json = """
                {"@context": {"ex": "https://example.org/", "name": "ex:name", "knows": {"@id": "ex:knows", "@type": "@id"}},
                 "@id": "plain", "@type": "ex:Person", "name": {"@value": "Ann", "@language": "en"}, "knows": "#bob"}
                """;

        assertThat(read(json, Format.JSON_LD))
                .containsExactlyInAnyOrder(
                        Statement.of("plain", Term.TYPE, Resource.of("https://example.org/Person")),
                        Statement.of("plain", "https://example.org/name", Literal.of("Ann", "en")),
                        Statement.of("plain", "https://example.org/knows", Resource.of("#bob")));
    }

    @Test
    void resolvesAgainstTheBaseOfTheFileOnly() {
        String turtle = "<a> <ex:b> <c> . @base <https://example.org/x/> . <a> <ex:b> <c> .";

        assertThat(read(turtle, Format.TURTLE))
                .containsExactly(
                        Statement.of("a", "ex:b", Resource.of("c")),
                        Statement.of("https://example.org/x/a", "ex:b", Resource.of("https://example.org/x/c")));
    }

    @ParameterizedTest
    @EnumSource(names = {"TURTLE", "N_QUADS", "CSV"})
    void tellsBlankNodesOfFilesApart(Format format) {
        String text = format == Format.CSV
                ? "subject,predicate,object,type\n_:x,ex:knows,_:y,@id\n_:y,ex:knows,_:x,@id\n"
                : "_:x <ex:knows> _:y . \n _:y <ex:knows> _:x .";

        List<Statement> one = read(text, format, new Defaults("one", null, null));
        List<Statement> two = read(text, format, new Defaults("two", null, null));

        assertThat(one.get(0).subject()).isEqualTo(one.get(1).object());
        assertThat(one.get(0).subject().id()).startsWith("_:");
        assertThat(one).doesNotContainAnyElementsOf(two);
        assertThat(read(text, format, new Defaults("one", null, null))).isEqualTo(one);
    }

    @Test
    void fillsInWhatAFileDoesNotSay() {
        String csv = "subject,predicate,object,graph,certainty\nex:a,ex:b,c,,\nex:a,ex:b,c,ex:h,0.1\n";

        assertThat(read(csv, Format.CSV, new Defaults("file", 0.9, "ex:g")))
                .containsExactly(
                        Statement.of("ex:a", "ex:b", Literal.of("c")).in("ex:g").withCertainty(0.9),
                        Statement.of("ex:a", "ex:b", Literal.of("c")).in("ex:h").withCertainty(0.1));
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "RDF_XML")
    void tellsHowManyBytesItHasRead(Format format) {
        byte[] file = write(format, STATEMENTS);
        var last = new AtomicLong();

        RdfFiles.read(new ByteArrayInputStream(file), format, NO_DEFAULTS, last::set, statement -> {});

        assertThat(last).hasValue(file.length);
    }

    @ParameterizedTest
    @EnumSource(names = {"TURTLE", "TRIG", "N_TRIPLES", "N_QUADS", "CSV"})
    void givesStatementsWhileItReads(Format format) {
        String line = format == Format.CSV ? "subject,predicate,object\n" : "<ex:a> <ex:b> <ex:c> .\n";
        var endless = new Repeated(line.getBytes(UTF_8));
        var bytes = new AtomicLong();
        var enough = new IllegalStateException("enough");

        assertThatThrownBy(() -> RdfFiles.read(endless, format, NO_DEFAULTS, bytes::set, statement -> {
                    throw enough;
                }))
                .isSameAs(enough);
        assertThat(bytes).hasValueLessThan(4 << 20);
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "["})
    void refusesJsonLdThatIsTooLargeOrTooDeep(String piece) {
        var endless = new Repeated(piece.getBytes(UTF_8));

        assertThatThrownBy(() -> RdfFiles.read(endless, Format.JSON_LD, NO_DEFAULTS, bytes -> {}, statement -> {}))
                .isInstanceOf(RdfFileException.class);
    }

    @ParameterizedTest
    @CsvSource({"a.ttl,TURTLE", "b.TRIG,TRIG", "c.nt,N_TRIPLES", "d.nq,N_QUADS", "e.jsonld,JSON_LD", "f.csv,CSV"})
    void knowsFormatsByTheEndingsOfNames(String name, Format format) {
        assertThat(Format.of(name)).contains(format);
        assertThat(Format.of(name + ".bak")).isEmpty();
    }

    private static byte[] write(Format format, List<Statement> statements) {
        var out = new ByteArrayOutputStream();
        try (RdfFiles.Writer writer = RdfFiles.writer(out, format)) {
            statements.forEach(writer::write);
        }
        return out.toByteArray();
    }

    private static List<Statement> read(String file, Format format) {
        return read(file.getBytes(UTF_8), format);
    }

    private static List<Statement> read(String file, Format format, Defaults defaults) {
        return read(file.getBytes(UTF_8), format, defaults);
    }

    private static List<Statement> read(byte[] file, Format format) {
        return read(file, format, NO_DEFAULTS);
    }

    private static List<Statement> read(byte[] file, Format format, Defaults defaults) {
        List<Statement> statements = new ArrayList<>();
        RdfFiles.read(new ByteArrayInputStream(file), format, defaults, bytes -> {}, statements::add);
        return statements;
    }

    /** The same bytes again and again, without end. */
    private static final class Repeated extends InputStream {
        private final byte[] piece;
        private int position;

        Repeated(byte[] piece) {
            this.piece = piece;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0];
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            for (int i = 0; i < length; i++) {
                bytes[offset + i] = piece[position];
                position = (position + 1) % piece.length;
            }
            return length;
        }
    }
}

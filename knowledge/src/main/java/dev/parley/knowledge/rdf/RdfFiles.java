package dev.parley.knowledge.rdf;

import com.apicatalog.jsonld.JsonLdError;
import com.apicatalog.jsonld.JsonLdErrorCode;
import com.apicatalog.jsonld.JsonLdOptions;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.protocol.InvalidField;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.IllegalFormatException;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.graph.Triple;
import org.apache.jena.irix.IRIxResolver;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFFormat;
import org.apache.jena.riot.RDFParser;
import org.apache.jena.riot.RiotParseException;
import org.apache.jena.riot.lang.LabelToNode;
import org.apache.jena.riot.lang.LangJSONLD11;
import org.apache.jena.riot.system.ErrorHandler;
import org.apache.jena.riot.system.StreamRDF;
import org.apache.jena.riot.system.StreamRDFBase;
import org.apache.jena.riot.system.StreamRDFWriter;
import org.apache.jena.shared.JenaException;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sys.JenaSystem;
import org.jspecify.annotations.Nullable;

/**
 * Statements in files: reads and writes them one after the other, so a file may be larger than memory; only JSON-LD is read
 * as a whole.
 *
 * <p>IRIs are taken as they are written unless the file names a base. Blank nodes belong to their file: the same source read
 * again gives the same ids, another source others.
 */
public final class RdfFiles {
    static {
        JenaSystem.init();
    }

    /** JSON-LD cannot be read piece by piece. */
    private static final long MAX_JSON_LD = 64L << 20;

    /** JSON-LD drops relative IRIs without a base, so it gets this one, which is removed from the result. */
    private static final String AS_WRITTEN = "as-written:/";

    private RdfFiles() {}

    /** File format of statements. */
    public enum Format {
        TURTLE,
        TRIG,
        N_TRIPLES,
        N_QUADS,
        JSON_LD,
        /** Is read only. */
        RDF_XML,
        /** With a header; columns {@code subject,predicate,object,type,language,graph,certainty}. */
        CSV;

        /** Returns the format of a file name's extension. */
        public static Optional<Format> of(String fileName) {
            return Optional.ofNullable(
                    switch (fileName.substring(fileName.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT)) {
                        case "ttl" -> TURTLE;
                        case "trig" -> TRIG;
                        case "nt" -> N_TRIPLES;
                        case "nq" -> N_QUADS;
                        case "jsonld", "json" -> JSON_LD;
                        case "rdf", "owl", "xml" -> RDF_XML;
                        case "csv" -> CSV;
                        default -> null;
                    });
        }

        private Lang lang() {
            return switch (this) {
                case TURTLE -> Lang.TURTLE;
                case TRIG -> Lang.TRIG;
                case N_TRIPLES -> Lang.NTRIPLES;
                case N_QUADS -> Lang.NQUADS;
                case JSON_LD -> Lang.JSONLD;
                case RDF_XML -> Lang.RDFXML;
                case CSV -> Lang.CSV;
            };
        }

        private boolean hasGraphs() {
            return switch (this) {
                case TRIG, N_QUADS, JSON_LD, CSV -> true;
                case TURTLE, N_TRIPLES, RDF_XML -> false;
            };
        }
    }

    /**
     * Default values for statements of a file.
     *
     * @param source name of the file, which distinguishes its blank nodes from those of other files
     * @param certainty of statements that have none; null for unknown
     * @param graph for statements that are in none; null for the default graph
     */
    public record Defaults(
            String source,
            @Nullable Double certainty,
            @Nullable String graph) {
        Statement complete(Statement statement) {
            Statement placed = statement.graph() == null ? statement.in(graph) : statement;
            return placed.certainty() == null ? placed.withCertainty(certainty) : placed;
        }

        String blankNode(String label) {
            String name = source + '\0' + label;
            return RdfTerms.BLANK
                    + UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8))
                            .toString()
                            .replace("-", "");
        }
    }

    /**
     * Reads a file to its end, and does not close it.
     *
     * @param progress receives the number of bytes read so far, now and then
     * @param sink receives the statements in the order of the file; its exceptions end the reading
     * @throws RdfFileException if the file is not in this format; the sink has received the statements before the fault
     */
    public static void read(
            InputStream in, Format format, Defaults defaults, LongConsumer progress, Consumer<Statement> sink) {
        var counted = new Counted(in, progress, format == Format.JSON_LD ? MAX_JSON_LD : Long.MAX_VALUE);
        try {
            if (format == Format.CSV) {
                RdfCsv.read(counted, defaults, sink);
            } else {
                parse(counted, format, new Reader(defaults, sink));
            }
        } catch (RiotParseException broken) {
            throw new RdfFileException(String.valueOf(broken.getOriginalMessage()), broken.getLine(), broken);
        } catch (JenaException broken) {
            throw new RdfFileException(String.valueOf(broken.getMessage()), 0, broken);
        } catch (IllegalFormatException | ArrayIndexOutOfBoundsException unsaid) {
            // Jena does not explain invalid language tags, repeated dots, and files that end too early.
            throw new RdfFileException("malformed", 0, unsaid);
        } catch (StackOverflowError deep) {
            throw new RdfFileException("nested too deeply", 0, deep);
        }
    }

    private static void parse(InputStream in, Format format, StreamRDF to) {
        var options = new JsonLdOptions((url, how) -> {
            throw new JsonLdError(
                    JsonLdErrorCode.LOADING_REMOTE_CONTEXT_FAILED, url + " (expected: a context in the file itself)");
        });
        options.setBase(URI.create(AS_WRITTEN));
        RDFParser.source(in)
                .forceLang(format.lang())
                .resolver(asWritten())
                .checking(false)
                .labelToNode(LabelToNode.createUseLabelAsGiven())
                .errorHandler(Strict.INSTANCE)
                .set(LangJSONLD11.JSONLD_OPTIONS, options)
                .parse(to);
    }

    /** Keeps IRIs unchanged until there is a base. */
    public static IRIxResolver asWritten() {
        return IRIxResolver.create().noBase().resolve(true).allowRelative(true).build();
    }

    /** Writer of statements; the file is complete after {@link #close}. */
    public interface Writer extends AutoCloseable {
        /** @throws RdfFileException if this format cannot hold the statement */
        void write(Statement statement);

        @Override
        void close();
    }

    /**
     * Begins a file. Certainty is kept in CSV only, provenance nowhere.
     *
     * @param out is flushed, not closed
     * @throws IllegalArgumentException for {@link Format#RDF_XML}
     */
    public static Writer writer(OutputStream out, Format format) {
        return switch (format) {
            case CSV -> new RdfCsv.Writer(out);
            case JSON_LD -> new RdfJsonLdWriter(out);
            case RDF_XML -> throw new IllegalArgumentException("RDF_XML (expected: another format)");
            case TURTLE -> new StreamWriter(out, format, RDFFormat.TURTLE_BLOCKS);
            case TRIG -> new StreamWriter(out, format, RDFFormat.TRIG_BLOCKS);
            case N_TRIPLES -> new StreamWriter(out, format, RDFFormat.NTRIPLES);
            case N_QUADS -> new StreamWriter(out, format, RDFFormat.NQUADS);
        };
    }

    /** Returns an id as IRI. */
    static String requireIri(String id) {
        boolean legal = id.chars().noneMatch(c -> c <= ' ' || "<>\"{}|^`\\".indexOf(c) >= 0);
        if (!legal) {
            throw new RdfFileException(id + " (expected: an IRI; CSV can hold any id)", 0, null);
        }
        return id;
    }

    private static final class StreamWriter implements Writer {
        private final Format format;
        private final StreamRDF to;

        StreamWriter(OutputStream out, Format format, RDFFormat how) {
            this.format = format;
            this.to = StreamRDFWriter.getWriterStream(out, how);
            to.start();
            if (format == Format.TURTLE || format == Format.TRIG) {
                to.prefix("rdf", Term.RDF);
                to.prefix("rdfs", Term.RDFS);
                to.prefix("owl", Term.OWL);
                to.prefix("xsd", Term.XSD);
            }
        }

        @Override
        public void write(Statement statement) {
            requireIri(statement.subject().id());
            requireIri(statement.predicate());
            if (statement.object() instanceof Term.Resource resource) {
                requireIri(resource.id());
            }
            Quad quad = RdfTerms.quad(statement);
            if (statement.graph() == null) {
                to.triple(quad.asTriple());
            } else if (format.hasGraphs()) {
                requireIri(statement.graph());
                to.quad(quad);
            } else {
                throw new RdfFileException(
                        "graph " + statement.graph() + " (expected: the default graph; TriG and N-Quads have others)",
                        0,
                        null);
            }
        }

        @Override
        public void close() {
            to.finish();
        }
    }

    /** Receives the statements of the parser. */
    private static final class Reader extends StreamRDFBase {
        private final Defaults defaults;
        private final Consumer<Statement> sink;
        private long read;

        Reader(Defaults defaults, Consumer<Statement> sink) {
            this.defaults = defaults;
            this.sink = sink;
        }

        @Override
        public void triple(Triple triple) {
            take(Quad.defaultGraphIRI, triple);
        }

        @Override
        public void quad(Quad quad) {
            // A quad of Turtle-like formats can have no graph at all.
            take(quad.getGraph() == null ? Quad.defaultGraphIRI : quad.getGraph(), quad.asTriple());
        }

        private void take(Node graph, Triple triple) {
            Statement statement;
            try {
                statement = RdfTerms.statement(
                        own(graph), own(triple.getSubject()), own(triple.getPredicate()), own(triple.getObject()));
            } catch (InvalidField invalid) {
                throw new RdfFileException(read + 1 + ". statement: " + invalid.getMessage(), 0, invalid);
            }
            if (statement == null) {
                throw new RdfFileException(
                        read + 1 + ". statement: " + triple
                                + " (expected: a subject, a predicate and an object that have" + " ids or are values)",
                        0,
                        null);
            }
            read++;
            sink.accept(defaults.complete(statement));
        }

        private Node own(Node node) {
            if (node.isBlank()) {
                return RdfTerms.resource(defaults.blankNode(node.getBlankNodeLabel()));
            }
            return node.isURI() && node.getURI().startsWith(AS_WRITTEN)
                    ? NodeFactory.createURI(node.getURI().substring(AS_WRITTEN.length()))
                    : node;
        }
    }

    /** Ends reading at the first error; warnings are ignored. */
    public enum Strict implements ErrorHandler {
        INSTANCE;

        @Override
        public void warning(String message, long line, long column) {}

        @Override
        public void error(String message, long line, long column) {
            throw new RiotParseException(message, line, column);
        }

        @Override
        public void fatal(String message, long line, long column) {
            throw new RiotParseException(message, line, column);
        }
    }

    /** Counts the bytes read, up to a limit. */
    private static final class Counted extends FilterInputStream {
        private final LongConsumer progress;
        private final long limit;
        private long count;

        Counted(InputStream in, LongConsumer progress, long limit) {
            super(in);
            this.progress = progress;
            this.limit = limit;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int read = super.read(bytes, offset, length);
            if (read > 0) {
                count += read;
                if (count > limit) {
                    throw new RdfFileException(
                            "more than " + limit + " bytes of JSON-LD (expected: less, or another format)", 0, null);
                }
                progress.accept(count);
            }
            return read;
        }

        @Override
        public void close() {
            // The parsers close the stream; its owner closes it, too.
        }
    }
}

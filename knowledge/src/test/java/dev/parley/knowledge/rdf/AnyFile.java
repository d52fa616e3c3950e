package dev.parley.knowledge.rdf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.rdf.RdfFiles.Defaults;
import dev.parley.knowledge.rdf.RdfFiles.Format;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** For tests that read files of which nobody knows what is in them. */
final class AnyFile {
    private AnyFile() {}

    /** Reads a file; what is one has to come back as it was from CSV, which can hold everything but blank nodes. */
    static void read(byte[] file, Format format) {
        List<Statement> statements;
        try {
            statements = statements(file, format);
        } catch (RdfFileException refused) {
            assertThat(refused).hasMessageNotContaining("dev.parley");
            return;
        }
        if (statements.stream().noneMatch(AnyFile::hasBlankNode)) {
            var csv = new ByteArrayOutputStream();
            try (RdfFiles.Writer writer = RdfFiles.writer(csv, Format.CSV)) {
                statements.forEach(writer::write);
            }
            assertThat(statements(csv.toByteArray(), Format.CSV)).isEqualTo(statements);
        }
    }

    private static List<Statement> statements(byte[] file, Format format) {
        var statements = new ArrayList<Statement>();
        RdfFiles.read(
                new ByteArrayInputStream(file), format, new Defaults("file", null, null), bytes -> {}, statements::add);
        return statements;
    }

    private static boolean hasBlankNode(Statement statement) {
        return statement.subject().id().startsWith(RdfTerms.BLANK)
                || statement.graph() != null && statement.graph().startsWith(RdfTerms.BLANK)
                || statement.object() instanceof Term.Resource object
                        && object.id().startsWith(RdfTerms.BLANK);
    }
}

package dev.parley.pipelines.research;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.pdfbox.Loader;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.text.PDFTextStripper;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jspecify.annotations.Nullable;

/** Reads the title and the paragraphs of HTML, PDF and plain text. */
final class Extraction {
    private static final int MAX_PAGES = 200;
    private static final int MAX_PARAGRAPHS = 2000;
    private static final int MIN_PARAGRAPH = 20;

    private Extraction() {}

    /**
     * Reads a document.
     *
     * @param charset that its server names; null to detect it
     * @throws IOException with a message for the caller, if it is of another type or malformed
     */
    static Source of(int number, String address, String mediaType, @Nullable String charset, byte[] bytes)
            throws IOException {
        String name = address.toLowerCase(Locale.ROOT);
        if (mediaType.equals("application/pdf") || startsWith(bytes, "%PDF-")) {
            return pdf(number, address, bytes);
        }
        if (mediaType.equals("text/html") || mediaType.equals("application/xhtml+xml") || name.endsWith(".html")) {
            return html(number, address, charset, bytes);
        }
        if (mediaType.startsWith("text/") || name.endsWith(".md") || name.endsWith(".txt")) {
            return text(number, address, new String(bytes, UTF_8));
        }
        throw new IOException(address + ": " + (mediaType.isEmpty() ? "no media type" : mediaType)
                + " (expected: HTML, PDF or text)");
    }

    private static boolean startsWith(byte[] bytes, String prefix) {
        return new String(bytes, 0, Math.min(bytes.length, prefix.length()), UTF_8).equals(prefix);
    }

    private static Source html(int number, String address, @Nullable String charset, byte[] bytes) throws IOException {
        Document page = Jsoup.parse(new ByteArrayInputStream(bytes), charset, "");
        page.select("script, style, noscript, nav, header, footer, aside, form, svg")
                .remove();
        Element main = page.selectFirst("main, article, [role=main]");
        List<String> paragraphs = (main == null ? page.body() : main)
                .select("p, li, td, blockquote, dd, pre").stream()
                        .filter(element -> element.selectFirst("p, li, td") == null || element.is("p"))
                        .map(Element::text)
                        .toList();
        Element heading = page.selectFirst("h1");
        String title = page.title().isBlank() ? heading == null ? address : heading.text() : page.title();
        return source(number, title, address, paragraphs.stream());
    }

    private static Source pdf(int number, String address, byte[] bytes) throws IOException {
        try (PDDocument document = Loader.loadPDF(bytes)) {
            var stripper = new PDFTextStripper();
            stripper.setEndPage(MAX_PAGES);
            stripper.setParagraphStart("\n\n");
            String text = stripper.getText(document);
            String said = document.getDocumentInformation().getTitle();
            Source read = text(number, address, text);
            return said == null || said.isBlank() ? read : new Source(number, said, address, read.paragraphs());
        } catch (IOException | IllegalArgumentException | LinkageError malformed) {
            throw new IOException(address + ": no readable PDF (" + malformed.getMessage() + ")", malformed);
        }
    }

    /** Plain text or Markdown: its first line is the title. */
    private static Source text(int number, String address, String text) {
        String title = text.lines()
                .map(line -> line.replaceFirst("^#+ ", "").strip())
                .filter(line -> !line.isEmpty())
                .findFirst()
                .orElse(address);
        Stream<String> paragraphs =
                Arrays.stream(text.split("\\R\\s*\\R")).filter(paragraph -> !paragraph.startsWith("#"));
        return source(number, title, address, paragraphs);
    }

    private static Source source(int number, String title, String address, Stream<String> paragraphs) {
        return new Source(
                number,
                title.strip(),
                address,
                paragraphs
                        .map(paragraph -> paragraph.strip().replaceAll("\\s+", " "))
                        .filter(paragraph -> paragraph.length() >= MIN_PARAGRAPH)
                        .distinct()
                        .limit(MAX_PARAGRAPHS)
                        .toList());
    }
}

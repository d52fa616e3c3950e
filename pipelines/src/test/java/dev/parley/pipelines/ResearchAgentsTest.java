package dev.parley.pipelines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.pipelines.research.ResearchAgents;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.font.PDType1Font;
import org.apache.pdfbox.pdmodel.font.Standard14Fonts.FontName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ResearchAgentsTest {
    private final ResearchAgents agents = new ResearchAgents(List.of("127.0.0.1"));
    private final Steps steps = new Steps(agents.all());
    private HttpServer server;
    private String url;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] page = exchange.getRequestURI().getPath().equals("/currents")
                    ? Steps.sample("currents.html")
                    : new byte[0];
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(page.length == 0 ? 404 : 200, page.length == 0 ? -1 : page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
        url = "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void close() {
        server.stop(0);
        steps.close();
        agents.close();
    }

    @Test
    @DisplayName("AV34 the research agents write a report with citations about pages and files")
    void pagesAndFilesBecomeAReport() throws IOException {
        steps.run(
                "research-fetch",
                Map.of("sources", List.of(url + "/currents", url + "/gone", "http://10.0.0.1/")),
                List.of(),
                Part.file("tides.html", "text/html", Steps.sample("tides.html")),
                Part.file("barrages.md", "text/markdown", Steps.sample("barrages.md")),
                Part.file(
                        "fish.pdf",
                        "application/pdf",
                        pdf("Fish that migrate pass the turbines of a barrage with losses.")));
        steps.run("research-extract", Map.of(), List.of("research-fetch"));
        steps.run("research-compare", Map.of("topic", "tidal turbines, barrages"), List.of("research-extract"));
        steps.run("research-chart", Map.of(), List.of("research-extract", "research-compare"));
        Task written = steps.run(
                "research-write", Map.of(), List.of("research-extract", "research-compare", "research-chart"));

        String report = ((Part.Text) EtlAgentsTest.part(written, 0)).text();
        assertThat(report)
                .startsWith("# tidal turbines, barrages\n\n4 sources, ")
                .contains("## Several sources agree")
                .contains("Fish that migrate pass the turbines of a barrage with losses. [1][3]")
                .contains("## The sources name different numbers")
                .contains("240 megawatts")
                .contains("254 megawatts. [2]")
                .contains("## One source says")
                .contains("![Statements by source](sources.png)")
                .contains("1. Tidal power in short, <tides.html>")
                .contains("4. Turbines in tidal currents, <" + url + "/currents>")
                .contains("## Not read")
                .contains("/gone: HTTP 404")
                .contains("10.0.0.1 is a private address")
                .doesNotContain("A sample page for a demonstration", "Home");
        assertThat(((Part.Raw) EtlAgentsTest.part(written, 1)).raw()).startsWith(0x89, 'P', 'N', 'G');
    }

    @Test
    void aSourceThatCannotBeReadIsNamed() {
        Task none = steps.send("research-fetch", Map.of("sources", List.of(url + "/gone")), List.of());
        assertThat(none.state()).isEqualTo(TaskState.FAILED);
        assertThat(requireNonNull(none.status().message()).text()).contains("/gone: HTTP 404");

        steps.run(
                "research-fetch",
                Map.of(),
                List.of(),
                Part.file("a.pdf", "application/pdf", "%PDF-1.7 broken".getBytes(UTF_8)),
                Part.file("a.txt", "text/plain", "A text of one sentence is enough.".getBytes(UTF_8)));
        Task extracted = steps.run("research-extract", Map.of(), List.of("research-fetch"));
        assertThat(String.valueOf(((Part.Data) EtlAgentsTest.part(extracted, 0)).data()))
                .contains("a.pdf: no readable PDF");
    }

    private static byte[] pdf(String text) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var document = new PDDocument()) {
            var page = new PDPage();
            document.addPage(page);
            try (var content = new PDPageContentStream(document, page)) {
                content.beginText();
                content.setFont(new PDType1Font(FontName.HELVETICA), 12);
                content.newLineAtOffset(72, 700);
                content.showText(text);
                content.endText();
            }
            document.getDocumentInformation().setTitle("Fish and turbines");
            document.save(bytes);
        }
        return bytes.toByteArray();
    }
}

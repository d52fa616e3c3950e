package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@Tag("heavy")
final class BuilderTest {
    private static final String WRAPPER =
            "'agent_builder_type':'simple_wrapper','wrapper_llm_backend_type':'local_openai_compatible','wrapper_model_name':'m'";
    private static final String ADK =
            "'agent_builder_type':'adk_agent','adk_model_name':'gemini','adk_instruction':'Help','adk_tools':['google_search']";

    @TempDir
    private Path directory;

    private static WireAnswer.Whole answer(String config) {
        return Builder.answer(
                ("{'agent_name':'My ADK Agent','agent_description':'Says \\'it\\'',".replace("\\'", "\\\"") + config
                                + "}")
                        .replace('\'', '"')
                        .getBytes(UTF_8),
                "Some Developer");
    }

    private static Map<String, String> files(WireAnswer.Whole answer) throws IOException {
        var files = new LinkedHashMap<String, String>();
        try (var zip = new ZipInputStream(new ByteArrayInputStream(answer.body()))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), new String(zip.readAllBytes(), UTF_8));
            }
        }
        return files;
    }

    @Test
    @DisplayName("AV27 a wrapper is a project in Python with a valid card, named after the agent")
    void wrapper() throws IOException {
        WireAnswer.Whole answer = answer(WRAPPER);
        Map<String, String> files = files(answer);

        assertThat(answer.headers())
                .containsEntry("Content-Type", "application/zip")
                .containsEntry("Content-Disposition", "attachment; filename=\"my_adk_agent.zip\"");
        assertThat(files)
                .containsOnlyKeys(
                        ".gitignore",
                        ".env.example",
                        "agent-card.json",
                        "INSTRUCTIONS.md",
                        "Dockerfile",
                        "requirements.txt",
                        "src/my_adk_agent/agent.py",
                        "src/my_adk_agent/main.py",
                        "tests/");
        Map<?, ?> card = Json.read(requireNonNull(files.get("agent-card.json")).getBytes(UTF_8), Map.class);
        assertThat(CardForm.problem(card)).isEmpty();
        assertThat(card.get("humanReadableId")).isEqualTo("some-developer/my-adk");
        assertThat(((Map<?, ?>) requireNonNull(card.get("capabilities"))).get("a2aVersion"))
                .as("D7: the profile")
                .isEqualTo("0.2");
        assertThat(card.get("url")).isEqualTo("http://localhost:8001/a2a");
        assertThat(card.get("authSchemes")).isEqualTo(List.of(Map.of("scheme", "none")));
        assertThat(files.get("Dockerfile")).contains("src.my_adk_agent.main:app");
        assertThat(files.get("src/my_adk_agent/main.py")).contains("description=\"Says \\\"it\\\"\"");
        assertThat(files.values()).noneMatch(text -> text.matches("(?s).*@[a-z]+@.*"));
    }

    @Test
    @DisplayName("AV27 an agent of the kit has its tools in the code and on its card")
    void adk() throws IOException {
        Map<String, String> files = files(answer(
                ADK + ",'human_readable_id':'org/kit','wrapper_auth_type':'apiKey','wrapper_service_id':'kit-key'"));

        assertThat(files).containsKeys("src/my_adk_agent/tools.py", "src/my_adk_agent/agent.py");
        assertThat(files.get("src/my_adk_agent/tools.py")).contains("ALL = [google_search]");
        assertThat(files.get("requirements.txt")).contains("google-adk").doesNotContain("agentvault");
        Map<?, ?> card = Json.read(requireNonNull(files.get("agent-card.json")).getBytes(UTF_8), Map.class);
        assertThat(CardForm.problem(card)).isEmpty();
        assertThat(card.get("name")).isEqualTo("My ADK Agent (ADK)");
        assertThat(card.get("humanReadableId")).isEqualTo("org/kit");
        assertThat(card.get("authSchemes"))
                .isEqualTo(List.of(Map.of("scheme", "apiKey", "service_identifier", "kit-key")));
        assertThat((List<?>) card.get("skills"))
                .extracting(skill -> ((Map<?, ?>) skill).get("id"))
                .isEqualTo(List.of("core_logic", "google_search"));
    }

    @Test
    @DisplayName("AV27 each missing member is named as by AgentVault")
    void refused() {
        for (String missing :
                List.of("wrapper_llm_backend_type", "wrapper_model_name", "adk_model_name", "adk_instruction")) {
            String type = missing.startsWith("adk") ? "adk_agent" : "simple_wrapper";
            String config = (missing.startsWith("adk") ? ADK : WRAPPER).replaceFirst(",?'" + missing + "':'[^']*'", "");
            assertThatThrownBy(() -> answer(config))
                    .hasMessageContaining(
                            "Value error, '" + missing + "' is required when agent_builder_type is '" + type + "'");
        }
        assertThatThrownBy(() -> answer(WRAPPER + ",'wrapper_auth_type':'apiKey'"))
                .hasMessageContaining("'wrapper_service_id' is required when wrapper_auth_type is 'apiKey'");
        assertThatThrownBy(() -> answer("'agent_builder_type':'other'")).hasMessageContaining("literal_error");
    }

    @Test
    @DisplayName("texts of a caller are literals in the code, whatever they contain")
    void texts() throws IOException {
        String nasty = "\\\\\\\"; import os # @model@ \\n\\u2028 ";
        Map<String, String> files = files(answer(WRAPPER + ",'wrapper_system_prompt':\"" + nasty + "\""));
        assertThat(files.get("src/my_adk_agent/agent.py"))
                .contains("SYSTEM_PROMPT = \"\\\\\\\"; import os # @model@ \\n");
        WireAnswer.Whole named = Builder.answer(
                ("{'agent_name':'a\\r\\nX: y/../#','agent_description':'d'," + WRAPPER + "}")
                        .replace('\'', '"')
                        .getBytes(UTF_8),
                "x");
        assertThat(named.headers().get("Content-Disposition")).matches("attachment; filename=\"[a-z0-9_]+\\.zip\"");
        assertThat(files(named).keySet()).noneMatch(name -> name.contains(".."));
    }

    @Test
    @DisplayName("AV27 a project in Java builds and starts by one command, and answers by its language model")
    void java() throws Exception {
        Map<String, String> files = files(answer(WRAPPER.replace("simple_wrapper", "java_agent")));
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = directory.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            if (!file.getKey().endsWith("/")) {
                Files.writeString(path, file.getValue());
            }
        }
        assertThat(files.get("INSTRUCTIONS.md")).contains("parley run src/my_adk_agent/Main.java");
        HttpServer model = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        model.createContext("/v1/chat/completions", exchange -> {
            Map<?, ?> asked = Json.read(exchange.getRequestBody().readAllBytes(), Map.class);
            Map<?, ?> last = (Map<?, ?>) ((List<?>) requireNonNull(asked.get("messages"))).getLast();
            byte[] answer = Json.write(Map.of(
                    "choices",
                    List.of(Map.of("message", Map.of("content", asked.get("model") + ": " + last.get("content"))))));
            exchange.sendResponseHeaders(200, answer.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer);
            }
        });
        model.start();
        // As parley run does it.
        var command = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--class-path",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "src/my_adk_agent/Main.java",
                        "0")
                .directory(directory.toFile())
                .redirectError(directory.resolve("error.log").toFile());
        command.environment()
                .put(
                        "LOCAL_API_BASE_URL",
                        "http://127.0.0.1:" + model.getAddress().getPort() + "/v1");
        Process process = command.start();
        try (var lines = process.inputReader(UTF_8)) {
            String url = lines.readLine();
            assertThat(url).as(() -> error(directory)).isNotNull().startsWith("http://");
            // D7: each address in the instructions is served.
            var addresses = Pattern.compile("http://localhost:8001[^\\s`]*")
                    .matcher(requireNonNull(files.get("INSTRUCTIONS.md")))
                    .results()
                    .map(address -> address.group().replace("http://localhost:8001", url))
                    .distinct()
                    .toList();
            assertThat(addresses).hasSizeGreaterThan(2);
            for (String address : addresses) {
                HttpRequest get = HttpRequest.newBuilder(URI.create(address))
                        .header("Accept", "application/json")
                        .build();
                assertThat(HttpClient.newHttpClient()
                                .send(get, HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                        .as(address)
                        .isEqualTo(200);
            }
            try (AgentClient client = AgentClient.connect(url)) {
                assertThat(client.send("Hello").toString()).contains("m: Hello");
            }
        } finally {
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            model.stop(0);
        }
    }

    private static String error(Path directory) {
        try {
            return Files.readString(directory.resolve("error.log"));
        } catch (IOException none) {
            return "";
        }
    }
}

package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley demo repair-shop} with its MCP servers in processes of their own. */
@Timeout(120)
@Tag("heavy")
final class RepairShopCommandTest {
    @TempDir
    private Path directory;

    private Shell.Ran shop(String... words) {
        String[] all = new String[words.length + 2];
        all[0] = "demo";
        all[1] = "repair-shop";
        System.arraycopy(words, 0, all, 2, words.length);
        return new Shell(directory).run(all);
    }

    @Test
    @DisplayName("GEM35 the story of the repair shop runs to its end by three agents and three MCP servers")
    void story() {
        Shell.Ran ran = shop();

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out())
                .containsSubsequence(
                        "customer: My Toyota Camry makes a rattling noise.",
                        "shop-manager: What does the noise sound like? Please send a video of it.",
                        "rattling-noise.mp4. This agent follows rules and cannot watch it.",
                        "How long has the fluid been leaking?",
                        "customer: For about two weeks.",
                        "mechanic: Scanning the vehicle for error codes",
                        "shop-manager: Error codes: {",
                        "P0300",
                        "mechanic: Looking up the procedure for P0300",
                        "shop-manager: Raise the platform by 2.0 m?",
                        "customer: yes",
                        "shop-manager: Repair plan: 1. Raise the vehicle",
                        "Is part #12345 for a Camry 2018 in stock?",
                        "Part #12345 (Hydraulic engine mount) is ordered: ORDER-");
    }

    @Test
    @DisplayName("GEM35 a scanner that crashes is started again, and the story goes on")
    void scannerCrash() {
        Shell.Ran ran = shop("--fault", "scanner-crash");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out())
                .containsSubsequence("The scanner failed", "Error codes: {", "#12345", "is ordered: ORDER-");
    }

    @Test
    @DisplayName("GEM35 a part that is out of stock is not ordered")
    void outOfStock() {
        Shell.Ran ran = shop("--fault", "out-of-stock");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out())
                .contains("Part #12345 (Hydraulic engine mount) is out of stock and expected in 5 days")
                .doesNotContain("ORDER-");
    }

    @Test
    @DisplayName("GEM35 the lift stays down if the person declines, and the plan says so")
    void liftDeclined() {
        Shell.Ran ran = shop("--fault", "lift-declined");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).containsSubsequence("customer: no", "The platform was not raised", "#12345");
    }

    @Test
    @DisplayName("parley demo repair-shop --interactive reads the customer's lines from standard input")
    void interactive() {
        Shell.Ran ran = new Shell(directory)
                .typing("It rattles\nno video\ntwo weeks\nyes\n")
                .run("demo", "repair-shop", "--interactive");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).contains("No video came", "is ordered: ORDER-");
    }

    @Test
    @DisplayName(
            "GEM35 a language model calls the tools of the mechanic, and the question of the lift reaches the customer")
    void model() throws IOException {
        var answers = new ArrayDeque<>(List.of(
                call("scan_vehicle_for_error_codes", "{'vehicle_id':'XYZ123'}"),
                call("get_repair_procedure", "{'error_code':'P0300','vehicle_make':'Toyota','vehicle_model':'Camry'}"),
                call("raise_platform", "{'height_meters':2}"),
                "{\"role\":\"assistant\",\"content\":\"Replace the engine mount, part #12345\"}"));
        var requests = new CopyOnWriteArrayList<String>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/chat/completions", exchange -> {
            requests.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            byte[] body =
                    ("{\"id\":\"1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
                                    + "\"finish_reason\":\"stop\",\"message\":" + answers.remove() + "}]}")
                            .getBytes(UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            Shell.Ran ran =
                    shop("--model", "http://127.0.0.1:" + server.getAddress().getPort() + "/v1");

            assertThat(ran.status()).as(ran.err()).isZero();
            assertThat(ran.out())
                    .containsSubsequence(
                            "Raise the platform by",
                            "customer: yes",
                            "Repair plan: Replace the engine mount, part #12345",
                            "Part #12345 (Hydraulic engine mount) is ordered: ORDER-");
            assertThat(requests).hasSize(4);
            assertThat(requests.getFirst()).contains("scan_vehicle_for_error_codes", "raise_platform", "llama3.2");
            assertThat(requests.getLast()).contains("Random misfire detected", "12345", "raised");
        } finally {
            server.stop(0);
        }
    }

    private static String call(String tool, String arguments) {
        return "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call-" + tool
                + "\",\"type\":\"function\",\"function\":{\"name\":\"" + tool + "\",\"arguments\":\""
                + arguments.replace("'", "\\\"")
                + "\"}}]}";
    }

    @Test
    void unknownFaultsAreRefused() {
        Shell.Ran ran = shop("--fault", "flood");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err()).contains("--fault flood: unknown (expected: scanner-crash, out-of-stock, lift-declined)");
    }
}

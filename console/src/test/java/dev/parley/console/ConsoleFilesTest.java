package dev.parley.console;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of the console and its files, at a real hub. */
@Timeout(60)
@Tag("heavy")
final class ConsoleFilesTest {
    private static final int MAX_SCRIPT = 40_000;
    private static final int MAX_STYLE = 15_000;
    private static final int MAX_DOCUMENTS = 250_000;
    private static final String BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    private static final Pattern MAP = Pattern.compile("<script type=\"importmap\">(.*?)</script>");
    private static final Pattern ADDRESS = Pattern.compile("(?:href|src)=\"\\./(-/[^\"]*)\"");
    private static final Pattern BASE = Pattern.compile("<base href=\"([./]+)\">");

    private final HttpClient http = HttpClient.newHttpClient();

    @ParameterizedTest
    @ValueSource(
            strings = {"/ui/", "/ui/agents", "/ui/agents/my.agent/try?tab=raw", "/ui/tasks/0199?event=3", "/ui/none"})
    void everyAddressBelowUiIsThePage(String path) throws Exception {
        try (Hub hub = hub().start()) {
            HttpResponse<String> page = get(hub.url() + path);

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(header(page, "Content-Type")).isEqualTo("text/html; charset=utf-8");
            assertThat(page.body()).contains("type=\"module\"");
            assertThat(base(hub.url() + path, page)).isEqualTo(hub.url() + "/ui/");
        }
    }

    @Test
    void thePolicyOfThePageAllowsItsOwnFilesAndItsImportMapOnly() throws Exception {
        try (Hub hub = hub().start()) {
            HttpResponse<String> page = get(hub.url() + "/ui/");
            String hash = Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-256")
                            .digest(importMap(page.body()).getBytes(StandardCharsets.UTF_8)));

            assertThat(header(page, "Content-Security-Policy"))
                    .contains(
                            "default-src 'self'",
                            "script-src 'self' 'sha256-" + hash + "';",
                            "style-src 'self';",
                            "object-src 'none'",
                            "frame-ancestors 'none'",
                            "require-trusted-types-for 'script'")
                    .doesNotContain("unsafe", "http:", "https:", "*");
            assertThat(header(page, "X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(header(page, "Referrer-Policy")).isEqualTo("no-referrer");
            assertThat(header(page, "Cache-Control")).isEqualTo("no-cache");
        }
    }

    @Test
    void filesThatThePageNamesAreServedCompressedAndForever() throws Exception {
        try (Hub hub = hub().start()) {
            List<String> addresses = addresses(get(hub.url() + "/ui/").body());

            assertThat(addresses).isNotEmpty();
            for (String address : addresses) {
                HttpResponse<byte[]> file = http.send(
                        request(hub.url() + address)
                                .header("Accept-Encoding", "br, gzip")
                                .build(),
                        BodyHandlers.ofByteArray());

                assertThat(file.statusCode()).as(address).isEqualTo(200);
                assertThat(header(file, "Cache-Control")).contains("max-age=31536000", "immutable");
                assertThat(header(file, "X-Content-Type-Options")).isEqualTo("nosniff");
                assertThat(header(file, "Vary")).isEqualTo("Accept-Encoding");
                assertThat(unpacked(file)).isEqualTo(get(hub.url() + address).body());
                String tag = header(file, "ETag");
                for (String known : List.of(tag, "W/" + tag, "\"other\", " + tag, "*")) {
                    assertThat(http.send(
                                            request(hub.url() + address)
                                                    .header("Accept-Encoding", "gzip")
                                                    .header("If-None-Match", known)
                                                    .build(),
                                            BodyHandlers.ofString())
                                    .statusCode())
                            .as(known)
                            .isEqualTo(304);
                }
            }
        }
    }

    @Test
    void filesAreShortAndTheConsoleStaysSmall() {
        ConsoleFiles files = ConsoleFiles.packaged();
        long lines = 0;
        for (String name : files.own()) {
            if (name.endsWith(".js") || name.endsWith(".css")) {
                long count = new String(requireNonNull(files.read(name)), StandardCharsets.UTF_8)
                        .lines()
                        .count();
                assertThat(count).as(name).isLessThanOrEqualTo(250);
                lines += count;
            }
        }
        assertThat(lines).isBetween(1_000L, 11_640L); // ADR 112
    }

    @Test
    void everyEntryOfTheImportMapIsAModuleOfThisHub() throws Exception {
        try (Hub hub = hub().start()) {
            String map = importMap(get(hub.url() + "/ui/").body());
            var entry = Pattern.compile("\"([^\"]+)\":\"\\./(-/[^\"]*)\"").matcher(map);
            int entries = 0;
            while (entry.find()) {
                entries++;
                boolean directory = entry.group(1).endsWith("/");
                assertThat(entry.group(2).endsWith("/")).isEqualTo(directory);
                if (!directory) {
                    HttpResponse<String> module = get(hub.url() + "/ui/" + entry.group(2));
                    assertThat(module.statusCode()).as(entry.group(1)).isEqualTo(200);
                    assertThat(header(module, "Content-Type")).startsWith("text/javascript");
                }
            }
            assertThat(entries).isEqualTo(2 * Library.ALL.size());
        }
    }

    @Test
    void everyImportOfAModuleIsAFileOfTheConsole() {
        ConsoleFiles files = ConsoleFiles.packaged();
        for (String module : files.own()) {
            if (module.endsWith(".js")) {
                Modules.of(files)
                        .imports(module)
                        .forEach((name, path) -> assertThat(files.read(path))
                                .as(module + " imports " + name)
                                .isNotNull());
            }
        }
        for (Library library : Library.ALL) {
            String main = "lib/" + library.artifact() + "/" + library.main();
            Modules.of(files)
                    .imports(main)
                    .forEach((name, path) -> assertThat(files.read(path))
                            .as(main + " imports " + name)
                            .isNotNull());
        }
        assertThat(Modules.of(files).imports("lib/lit/index.js").keySet())
                .contains("@lit/reactive-element", "lit-html", "lit-element/lit-element.js");
    }

    @Test
    void theFirstLoadStaysWithinItsBudgets() {
        ConsoleFiles files = ConsoleFiles.packaged();
        Edition edition = new Edition(files, "hash");
        var scripts = new ArrayList<>(Modules.of(files).reachable(Edition.APP));
        scripts.add(Edition.APP);

        assertThat(compressed(edition, scripts)).as("bytes of %s", scripts).isLessThanOrEqualTo(MAX_SCRIPT);
        assertThat(compressed(edition, List.of(Edition.STYLES)))
                .as("bytes of styles")
                .isLessThanOrEqualTo(MAX_STYLE);
    }

    @Test
    void theDocumentsOfTheRepositoryAreServedWithTheFilesOfThePage(@TempDir Path other) {
        for (ConsoleFiles files : List.of(ConsoleFiles.packaged(), ConsoleFiles.in(other))) {
            Edition edition = new Edition(files, "hash");
            Asset documents = requireNonNull(edition.file(Edition.DOCUMENTS));

            assertThat(new String(documents.bytes(), StandardCharsets.UTF_8))
                    .contains("\"console\":\"# The console\\n", "\"first-agent\":\"# First agent");
            assertThat(compressed(edition, List.of(Edition.DOCUMENTS))).isLessThanOrEqualTo(MAX_DOCUMENTS);
            assertThat(requireNonNull(edition.file("docs/images/console-task.png"))
                            .type())
                    .isEqualTo("image/png");
            assertThat(edition.file("docs/console.md"))
                    .as("the type of no file of a page")
                    .isNull();
        }
    }

    @Test
    void theConsoleWorksBelowAPathAndAtTheAddressOfTheHub() throws Exception {
        try (Hub hub = hub().publicUrl("http://127.0.0.1/team/parley").start()) {
            String local = "http://127.0.0.1:" + hub.port();
            HttpResponse<String> root = get(local + "/");

            assertThat(root.statusCode()).isEqualTo(307);
            assertThat(header(root, "Location")).isEqualTo("ui/");
            assertThat(header(get(local + "/ui"), "Location")).isEqualTo("ui/");
            for (String path :
                    List.of("/ui/", "/ui/agents", "/ui/agents/", "/ui/agents/a%2Fb/try", "/ui/a/b/c/d?e=/f")) {
                HttpResponse<String> page = get(local + path);
                for (String at : List.of(local, "http://127.0.0.1/team/parley")) {
                    assertThat(base(at + path, page)).isEqualTo(at + "/ui/");
                }
                assertThat(addresses(page.body())).isNotEmpty();
                assertThat(get(local + addresses(page.body()).getFirst()).statusCode())
                        .isEqualTo(200);
                assertThat(importMap(page.body())).contains("\"lit\":\"./-/");
                assertThat(page.body()).doesNotContain("/team/parley");
            }
            assertThat(get(local + "/ui" + "/a".repeat(20)).statusCode()).isEqualTo(404);
        }
    }

    @Test
    void browsersAreLedToTheConsoleAndProgramsGetWhatTheyGot() throws Exception {
        try (Hub hub = hub().start()) {
            HttpResponse<String> browser = get(hub.url() + "/");
            HttpResponse<String> program = http.send(
                    HttpRequest.newBuilder(URI.create(hub.url() + "/")).build(), BodyHandlers.ofString());

            assertThat(browser.statusCode()).isEqualTo(307);
            assertThat(header(browser, "Location")).isEqualTo("ui/");
            assertThat(header(browser, "Vary")).isEqualTo("Accept");
            assertThat(program.statusCode()).isEqualTo(200);
            assertThat(program.body()).contains("Agents of this hub", hub.agentUrl("echo"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "verify-success?status=already_verified, ?verified=yes",
        "verify-failed?reason=expired, ?verified=no",
        "register, ?tab=signup",
        "forgot-password, ?tab=recover",
        "login, ''"
    })
    void pagesOfAccountsLeadToTheConsole(String page, String query) throws Exception {
        try (Hub hub = hub().start()) {
            HttpResponse<String> answer = get(hub.url() + "/ui/" + page);

            assertThat(answer.statusCode()).isEqualTo(303);
            assertThat(header(answer, "Location")).isEqualTo("registry/account" + query);
            assertThat(get(hub.url() + "/ui/login/other").statusCode()).isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/ui/-/",
                "/ui/-/none/app.js",
                "/ui/-/HASH/",
                "/ui/-/HASH/none.js",
                "/ui/-/HASH/lib/lit/package.json.js",
                "/ui/-/HASH/lib/lit/LICENSE",
                "/ui/-/HASH/lib/none/index.js",
                "/ui/-/HASH/lib/lit/../../app.js",
                "/ui/-/HASH/lib/lit/..%2f..%2fapp.js",
                "/ui/-/HASH/..%2fConsole.class"
            })
    void otherAddressesOfFilesAreNotFound(String path) throws Exception {
        try (Hub hub = hub().start()) {
            String hash = addresses(get(hub.url() + "/ui/").body()).getFirst().split("/", -1)[3];

            assertThat(get(hub.url() + path.replace("HASH", hash)).statusCode()).isIn(404, 400);
        }
    }

    @Test
    void aFileHasOnePath() {
        ConsoleFiles files = ConsoleFiles.packaged();

        assertThat(files.read("lib/lit/index.js")).isNotNull();
        for (String path : List.of("lib/lit/./index.js", "lib/lit//index.js", "lib/./lit/index.js", "./app.js", "")) {
            assertThat(files.read(path)).as(path).isNull();
        }
    }

    @Test
    void theConsoleCanBeTurnedOff() throws Exception {
        try (Hub hub = hub().set("console", "off").start()) {
            assertThat(get(hub.url() + "/ui/").statusCode()).isEqualTo(404);
            assertThat(get(hub.url() + "/ui/agents").statusCode()).isEqualTo(404);
            assertThat(get(hub.url() + "/").body()).contains("Agents of this hub");
        }
    }

    private static HubBuilder hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named("echo", "Repeats").handle((request, reply) -> reply.complete(request.text())));
    }

    private HttpResponse<String> get(String url) throws Exception {
        return http.send(request(url).build(), BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).header("Accept", BROWSER);
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElseThrow();
    }

    private static String importMap(String html) {
        var map = MAP.matcher(html);
        assertThat(map.find()).isTrue();
        return map.group(1);
    }

    /** Addresses of files at the hub. */
    private static List<String> addresses(String html) {
        return ADDRESS.matcher(html)
                .results()
                .map(each -> "/ui/" + each.group(1))
                .toList();
    }

    /** The base of a page as a browser reads it. */
    private static String base(String url, HttpResponse<String> page) {
        var base = BASE.matcher(page.body());
        assertThat(base.find()).isTrue();
        return URI.create(url).resolve(base.group(1)).toString();
    }

    private static String unpacked(HttpResponse<byte[]> file) throws IOException {
        if (file.headers().firstValue("Content-Encoding").isEmpty()) {
            return new String(file.body(), StandardCharsets.UTF_8);
        }
        assertThat(header(file, "Content-Encoding")).isEqualTo("gzip");
        try (var in = new GZIPInputStream(new ByteArrayInputStream(file.body()))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static int compressed(Edition edition, List<String> paths) {
        return paths.stream()
                .mapToInt(path -> {
                    Asset asset = edition.file(path);
                    assertThat(asset).as(path).isNotNull();
                    byte[] gzip = asset.gzip();
                    return gzip == null ? asset.bytes().length : gzip.length;
                })
                .sum();
    }
}

package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.testkit.Eventually;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The portal of the registry in a browser, on a hub that requires credentials. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RegistryScreenTest {
    private static final Pattern LINK = Pattern.compile("http://\\S+/(auth/verify-email\\?token=\\S+)");

    private volatile byte[] served = new byte[0];
    private HttpServer other;
    private Path mails;
    private ConsoleHub hub;
    private Browser browser;

    @BeforeAll
    void start(@TempDir Path directory) throws IOException {
        mails = Files.createDirectory(directory.resolve("mails"));
        other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, served.length);
            exchange.getResponseBody().write(served);
            exchange.close();
        });
        other.start();
        hub = new ConsoleHub(Hub.builder()
                .inMemory()
                .port(0)
                .set("auth", "required")
                .set("fetch-allow", "127.0.0.1")
                .set("registry-mail", mails.toString()));
        hub.post("/registry/agents", Map.of("card", card("Courier", 2), "visibility", "public"));
        hub.post("/registry/agents", Map.of("card", card("Smuggler", 1), "visibility", "private"));
        hub.post("/registry/agents", Map.of("card", card("Insider", 1), "visibility", "group"));
        hub.post("/registry/agents", Map.of("card", card("Veiled", 1), "visibility", "public"));
        hub.call(
                "PUT",
                "/registry/agents/" + id("Veiled") + "/views",
                Map.of("views", Map.of("partners", Map.of("groups", List.of("partners")))));
        browser = Browser.at(hub.url());
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.close();
        }
        hub.close();
        other.stop(0);
    }

    @BeforeEach
    void signOut() {
        browser.leave();
        browser.deleteCookies();
        browser.forget();
    }

    @AfterEach
    void quiet() {
        browser.assertQuiet("the registry");
    }

    private Map<String, Object> card(String name, int skills) {
        var card = new LinkedHashMap<String, Object>();
        card.put("name", name);
        card.put("description", "Carries parcels");
        card.put("version", "1.0." + skills);
        String url = "http://127.0.0.1:" + other.getAddress().getPort() + "/a2a";
        card.put(
                "supportedInterfaces",
                List.of(Map.of("url", url, "protocolBinding", "JSONRPC", "protocolVersion", "1.0")));
        card.put("capabilities", Map.of("streaming", true));
        card.put("defaultInputModes", List.of("text/plain"));
        card.put("defaultOutputModes", List.of("text/plain"));
        card.put(
                "skills",
                IntStream.rangeClosed(1, skills)
                        .mapToObj(number -> Map.of(
                                "id",
                                "skill-" + number,
                                "name",
                                "Delivery " + number,
                                "description",
                                "Carries a parcel",
                                "tags",
                                List.of("parcels")))
                        .toList());
        return card;
    }

    private void signIn(String principal) {
        Map<?, ?> key =
                hub.post("/admin/keys", Map.of("group", "team", "principal", principal, "scopes", List.of("registry")));
        browser.see("h1", "Sign in");
        browser.type("input[type=password]", String.valueOf(key.get("key")));
        browser.press(Keys.ENTER);
    }

    // ---- Search

    @Test
    @DisplayName("S13: AV36 a visitor without credentials searches public entries, and reaches no other screen")
    void aVisitorSearchesPublicEntries() {
        browser.go("registry");
        browser.see(".tr .agent a", "Courier");
        browser.picture("registry-visitor");
        assertThat(browser.texts(".tr .agent"))
                .noneMatch(text -> text.contains("Smuggler") || text.contains("Insider"));
        assertThat(browser.texts("nav a[href*='/ui/']:not(.brand)"))
                .as("screens that need no credentials")
                .satisfiesExactly(
                        screen -> assertThat(screen).contains("Registry"),
                        screen -> assertThat(screen).contains("Learn"));
        assertThat(browser.texts("main button")).noneMatch(text -> text.contains("Publish") || text.contains("Check"));
        browser.type("input[type=search]", "delivery");
        browser.see(".foot-line", "1 agent");
        browser.see(".tr .skill mark", "Delivery");
        browser.click(".tr .agent a", "Courier");
        browser.see("h1", "Courier");
        browser.see(".skill-list b", "Delivery 2");
        browser.click("[role=tab]", "Reviews");
        browser.see("main", "Sign in to leave a review.");
        browser.paste("http://127.0.0.1/card.json");
        browser.assertQuiet("the pages of a visitor");

        browser.go("registry/" + id("Smuggler"));
        browser.see(".failure", "unknown");
        browser.forget("status of 404");
        browser.go("registry/" + id("Veiled"));
        browser.see("h1", "Veiled");
        browser.see("section h2", "0 skills");
        assertThat(browser.texts("main")).noneMatch(text -> text.contains("parcel"));
        browser.forget("status of 401");
        for (String path : List.of("tasks", "", "agents", "inbox")) {
            browser.go(path);
            browser.see("h1", "Sign in");
            assertThat(browser.texts("nav a, .tr")).isEmpty();
        }
        browser.go("registry");
        browser.press("g", "t");
        browser.see("h1", "Sign in");
        browser.back();
        browser.see(".tr .agent a", "Courier");
        browser.click(".top button", "Sign in");
        signIn("alice");
        browser.see(".who", "alice @ team");
        browser.see(".tr .agent a", "Courier");
        assertThat(browser.address()).contains("/ui/registry");
    }

    private String id(String name) {
        return ((List<?>) requireNonNull(
                        hub.call("GET", "/registry/agents?pageSize=100", null).get("agents")))
                .stream()
                        .map(entry -> (Map<?, ?>) entry)
                        .filter(entry -> name.equals(entry.get("name")))
                        .map(entry -> String.valueOf(entry.get("id")))
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    @DisplayName("S13: a registry that is closed to visitors leads to the sign-in")
    void aClosedRegistryLeadsToTheSignIn() {
        try (var closed = new ConsoleHub(Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("auth", "required")
                        .set("agent-auth", "registry=required"));
                Browser visitor = Browser.at(closed.url())) {
            visitor.go("registry");
            visitor.see("h1", "Sign in");
            assertThat(visitor.texts("nav a")).isEmpty();
        }
    }

    // ---- Entry

    @Test
    @DisplayName(
            "S13: an agent is published by pasting its address; its page has verdict, difference, reviews and health")
    void anAgentIsPublishedByPastingItsAddress() {
        served = Json.write(card("Porter", 1));
        String url = "http://127.0.0.1:" + other.getAddress().getPort() + "/card.json";
        browser.go("registry?signin=1");
        signIn("bob");
        browser.see(".tr .agent a", "Courier");
        browser.paste(url);
        browser.click("dialog footer button", "Publish");
        browser.see("dialog .check.ok", "Porter is published");
        browser.click("dialog footer button", "Close");
        browser.click(".tr .agent a", "Porter");
        browser.see(".seal", "No signature");
        browser.see(".kv dd .state", "unsigned");
        browser.see(".kv dd", url);

        served = Json.write(card("Porter", 2));
        browser.click(".head button", "Publish a version");
        browser.type("dialog textarea", url);
        browser.click("dialog footer button", "Read the card");
        browser.click("dialog footer button", "Register the version");
        browser.click("dialog footer button", "Close");
        browser.click("[role=tab]", "Versions 2");
        browser.see("h2", "Version 1 to 2");
        browser.see(".findings li", "skill added");
        browser.picture("registry-versions");
        browser.click(".versions a", "Compare with 1");
        assertThat(browser.address()).contains("registry/urn", "from=1&to=2");

        browser.click("[role=tab]", "Reviews 0");
        browser.choose("select[name=stars]", "4 stars");
        browser.type("textarea[name=text]", "Carries <b>all</b>");
        browser.click("form button", "Leave the review");
        browser.see(".reviews", "Carries <b>all</b>");
        browser.see("h2", "4.0 of 5");
        browser.picture("registry-reviews");
        browser.click("[role=tab]", "Health");
        String health = "/registry/agents/" + id("Porter") + "/health";
        Eventually.holds(
                "a probe", () -> !List.of().equals(hub.call("GET", health, null).get("probes")));
        browser.reload();
        browser.see("main", "found it up");
        browser.see("ol .state", "");
        browser.picture("registry-health");
        browser.click("[role=tab]", "Reviews 1");
        browser.click("form button", "Withdraw mine");
        browser.see(".empty h2", "No review yet");
        browser.click("[role=tab]", "Card");
        browser.see(".card-lines li", "\"Porter\"");
    }

    // ---- Account

    private String mailedLink(String address) throws IOException {
        return Eventually.value("a mail to " + address, () -> link(address), Optional::isPresent)
                .orElseThrow();
    }

    private Optional<String> link(String address) throws IOException {
        try (Stream<Path> files = Files.list(mails)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".eml")).toList()) {
                String mail = Files.readString(file);
                var link = LINK.matcher(mail);
                if (mail.startsWith("To: " + address + "\n") && link.find()) {
                    return Optional.of(link.group(1));
                }
            }
        }
        return Optional.empty();
    }

    private void account(String name, String password) {
        browser.go("registry/account?tab=signup");
        browser.type("input[name=name]", name);
        browser.type("input[name=email]", name + "@example.com");
        browser.type("input[name=password]", password);
        browser.click("form button", "Sign up");
    }

    private void logIn(String name, String password) {
        browser.type("input[name=email]", name + "@example.com");
        browser.type("input[name=password]", password);
        browser.click("form button", "Log in");
    }

    @Test
    @DisplayName("S13: AV15 AV36 a developer signs up, verifies by mail, logs in, has cards and keys, and recovers")
    void aDeveloperSignsUpAndRecovers() throws IOException {
        browser.go("registry");
        browser.click(".head a", "Developer account");
        browser.see("h1", "Developer account");
        account("ada", "first password");
        browser.see("[role=status]", "Please check your email");
        List<String> recovery = browser.see("pre", "avrec-").getText().lines().toList();
        assertThat(recovery).hasSize(3);
        browser.picture("registry-recovery-keys");
        browser.click("button", "I have kept them");
        logIn("ada", "first password");
        browser.see(".head .state", "not verified");
        browser.leave();

        browser.load(mailedLink("ada@example.com"));
        browser.see("[role=status]", "The mail address is verified.");
        browser.picture("registry-verified");
        assertThat(browser.address()).endsWith("/ui/registry/account?verified=yes");
        logIn("ada", "wrong");
        browser.see(".failure", "Incorrect email or password");
        browser.forget("status of 401");
        logIn("ada", "first password");
        browser.see(".head .state.ok", "verified");

        browser.click("button", "New card");
        browser.click("button", "Validate");
        browser.see("[role=status]", "The card is valid.");
        browser.click("button", "Register");
        browser.see(".list li", "My agent");
        browser.see(".list .state.ok", "active");
        browser.picture("registry-cards");
        browser.click(".list button", "Deactivate");
        browser.see(".list .state.off", "not active");
        browser.click(".list button", "Activate");
        browser.see(".list .state.ok", "active");
        browser.click(".list button", "Edit");
        browser.holds("document.querySelector('textarea')");
        browser.run(
                "const text = document.querySelector('textarea'); text.value = text.value.replace('https:', 'gopher:')");
        browser.click("button", "Save the version");
        browser.see(".failure", "url");
        browser.run("const text = document.querySelector('textarea');"
                + " text.value = text.value.replace('gopher:', 'https:').replace('My agent', 'Ada agent')");
        browser.click("button", "Save the version");
        browser.see(".list li", "Ada agent");

        browser.click("[role=tab]", "My keys");
        browser.type("input[name=description]", "pipeline");
        browser.click("button", "Make a key");
        browser.see("pre", "avreg_");
        browser.see(".list li", "pipeline");
        browser.picture("registry-keys");
        browser.click(".list button", "Revoke");
        browser.see(".empty h2", "No key yet");
        assertThat(browser.texts("pre")).isEmpty();
        assertThat(browser.strings("return [document.cookie, JSON.stringify(localStorage),"
                        + " JSON.stringify(sessionStorage), document.documentElement.outerHTML, location.href]"))
                .noneMatch(text -> text.contains("eyJ"));
        browser.click("[role=tab]", "My cards");
        browser.click(".list button", "Edit");
        browser.click("main a", "Entry of the registry");
        browser.see("h1", "Ada agent");
        browser.back();
        browser.see(".list li", "Ada agent"); // the login lasts as long as the page
        browser.reload();
        browser.see("button", "Log in");

        browser.click("[role=tab]", "Recover");
        browser.type("input[name=email]", "ada@example.com");
        browser.type("input[name=key]", recovery.get(1));
        browser.type("input[name=password]", "second password");
        browser.click("form button", "Set the password");
        browser.see("[role=status]", "The password is set.");
        logIn("ada", "second password");
        browser.see(".head .state.ok", "verified");
        browser.click(".head button", "Log out");
        browser.see("button", "Log in");
    }

    @Test
    @DisplayName("S13: AV36 faults of the fields of a registration are named, and a known address is refused")
    void faultsOfARegistrationAreNamed() {
        account("x", "some password");
        browser.see(".failure", "name: String should have at least 3 characters");
        account("bernd", "some password");
        browser.see("h2", "Recovery keys");
        account("bernd", "some password");
        browser.see(".failure", "Email already registered.");
        browser.forget("status of 4");
        browser.go("verify-failed?reason=expired");
        browser.see(".check.bad", "older than 24 hours");
    }

    @Test
    @DisplayName("S13: AV36 the builder downloads the project of an agent as a ZIP")
    void theBuilderDownloadsAProject() throws IOException {
        account("clara", "some password");
        browser.click("button", "I have kept them");
        logIn("clara", "some password");
        browser.see(".empty h2", "No card yet");
        browser.click("[role=tab]", "Agent builder");
        browser.run("""
            window.saved = [];
            const create = URL.createObjectURL;
            URL.createObjectURL = blob => (saved.push({blob}), create.call(URL, blob));
            const click = HTMLAnchorElement.prototype.click;
            HTMLAnchorElement.prototype.click = function () { saved.at(-1).name = this.download; click.call(this); };
            """);
        browser.choose("select[name=agent_builder_type]", "Java");
        browser.type("input[name=agent_name]", "Weather Agent");
        browser.type("input[name=agent_description]", "Tells the weather");
        browser.type("input[name=wrapper_model_name]", "small-1");
        browser.picture("registry-builder");
        browser.click("form button", "Download the project");
        browser.see("[role=status]", "The project is downloaded");

        assertThat(browser.strings("return saved.map(each => each.name)")).containsExactly("weather_agent.zip");
        String bytes = String.valueOf(browser.runAsync("""
            const done = arguments[arguments.length - 1];
            const reader = new FileReader();
            reader.onload = () => done(reader.result.split(',')[1]);
            reader.readAsDataURL(saved[0].blob);
            """));
        var files = new LinkedHashMap<String, String>();
        try (var zip =
                new ZipInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(bytes)))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), new String(zip.readAllBytes(), UTF_8));
            }
        }
        assertThat(files).containsKeys("INSTRUCTIONS.md", "agent-card.json");
        assertThat(files.get("src/weather_agent/Main.java")).contains("small-1");
        assertThat(new ArrayList<>(files.keySet())).noneMatch(name -> name.contains(".."));
        browser.choose("select[name=agent_builder_type]", "Google");
        browser.see("input[name=adk_model_name]", "");
        browser.gone("select[name=wrapper_llm_backend_type]", "");
    }
}

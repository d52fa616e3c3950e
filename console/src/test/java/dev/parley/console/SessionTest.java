package dev.parley.console;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of browsers, at a real hub that requires credentials. */
@Timeout(60)
@Tag("heavy")
final class SessionTest {
    private static final String SESSION = "/ui/-/session";
    private static final String OWN = "same-origin";
    private static final String MESSAGE =
            "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello\"}]}}";

    @TempDir
    @Nullable
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    /** Proofs of sessions, by their ids. */
    private final Map<String, String> proofs = new HashMap<>();

    private final CountDownLatch ended = new CountDownLatch(1);
    private Hub hub = Hub.builder().inMemory().port(0).start();
    private String admin = "";

    @BeforeEach
    void start() {
        hub.close();
        hub = builder().start();
        admin = hub.bootstrapKey().orElseThrow();
    }

    @AfterEach
    void stop() {
        ended.countDown();
        hub.close();
    }

    private HubBuilder builder() {
        return Hub.builder()
                .data(data())
                .port(0)
                .set("auth", "required")
                .set("cors-origin", "https://app.example.com")
                .agents(
                        Agent.named("echo", "Repeats").handle((request, reply) -> reply.complete(request.text())),
                        Agent.named("slow", "Waits").handle((request, reply) -> {
                            do {
                                reply.working("waits");
                            } while (!ended.await(100, TimeUnit.MILLISECONDS));
                            reply.complete();
                        }));
    }

    private Path data() {
        return requireNonNull(directory).resolve("data");
    }

    @Test
    void aKeyIsExchangedForACookieThatStandsForIt() throws Exception {
        assertThat(session(null)).containsEntry("signedIn", false).containsEntry("needsSignIn", true);
        assertThat(session(null).get("methods")).isEqualTo(List.of("key", "token"));
        assertThat(session(null).get("hub")).isEqualTo(Map.of("name", "Parley", "url", hub.url()));

        HttpResponse<String> answer = signIn("key", key("alice", "reader"));
        String cookie = header(answer, "Set-Cookie");
        Map<?, ?> session = session(cookie(answer));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(header(answer, "Cache-Control")).isEqualTo("no-store");
        assertThat(cookie)
                .startsWith("parley_session_" + hub.port() + "=")
                .contains("; HttpOnly", "; SameSite=Strict", "; Path=/;")
                .doesNotContain("Secure", "Domain");
        assertThat(session.get("signedIn")).isEqualTo(true);
        assertThat(session.get("name")).isEqualTo("alice");
        assertThat(session.get("group")).isEqualTo("team");
        assertThat(session.get("scopes")).isEqualTo(List.of("reader"));
        assertThat(session.get("expires")).asString().endsWith("Z");
        assertThat(session.get("hub")).isEqualTo(Map.of("name", "Parley", "version", version(), "url", hub.url()));
        assertThat(send(cookie(answer), OWN).statusCode()).isEqualTo(200);
        assertThat(send(null, OWN).statusCode()).isEqualTo(401);
    }

    /** The version of the jar that serves sessions; classes in a directory have none. */
    private static String version() {
        String version = Hub.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    @Test
    void aBearerTokenOfTheHubIsExchangedToo() throws Exception {
        String key = key("alice");
        String cookie = cookie(signIn("token", key));

        assertThat(session(cookie)).containsEntry("name", "alice");
        assertThat(send(cookie, OWN).statusCode()).isEqualTo(200);
        assertThat(administer("GET", "/audit?action=session.begun&limit=10", null))
                .contains("\"token\"", key.split("_", -1)[1])
                .doesNotContain(key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"key", "token"})
    void aKeyIsGoodWhereverKeysAreHoweverItCame(String kind) throws Exception {
        String key = key("alice");
        hub.close();
        hub = builder().set("auth", "bearer").set("agent-auth", "echo=apiKey").start();
        String cookie = cookie(signIn(kind, key));

        assertThat(send(cookie, OWN).statusCode()).isEqualTo(200);
        assertThat(call("GET", "/agents/slow/tasks", null, cookie, OWN).statusCode())
                .isEqualTo(200);
    }

    @Test
    void aSessionThatIsNotGoodAtAnAgentIsSaidToBeThat() throws Exception {
        String key = key("alice");
        hub.close();
        hub = builder().set("agent-auth", "slow=basic").start();
        String cookie = cookie(signIn("key", key));

        HttpResponse<String> answer = call("GET", "/agents/slow/tasks", null, cookie, OWN);
        assertThat(answer.statusCode()).isEqualTo(401);
        assertThat(answer.body()).contains("not good here");
        assertThat(session(cookie)).containsEntry("signedIn", true);
    }

    @Test
    void aSessionMayDoWhatItsKeyMayAndNoMore() throws Exception {
        String user = cookie(signIn("key", key("alice")));
        String operator = cookie(signIn("key", admin));

        assertThat(call("GET", "/admin/keys", null, user, OWN).statusCode()).isEqualTo(403);
        assertThat(call("GET", "/admin/keys", null, operator, OWN).statusCode()).isEqualTo(200);
        assertThat(call("GET", "/metrics", null, user, OWN).statusCode()).isEqualTo(403);
    }

    @ParameterizedTest
    @CsvSource({
        "same-origin,,200",
        "cross-site,,403",
        "same-site,,403",
        "none,,401",
        ",,200",
        ",OWN,200",
        ",http://localhost:1,403",
        ",https://evil.example.com,403",
        ",https://app.example.com,401",
        "cross-site,https://app.example.com,401",
        "same-site,OWN,403"
    })
    void aSessionCountsForPagesOfTheHubOnly(@Nullable String site, @Nullable String origin, int status)
            throws Exception {
        String cookie = cookie(signIn("key", key("alice")));
        HttpRequest.Builder request = request("POST", "/agents/echo/message:send", MESSAGE, cookie, site);
        if (origin != null) {
            request.header("Origin", origin.equals("OWN") ? hub.url() : origin);
        }

        assertThat(http.send(request.build(), BodyHandlers.ofString()).statusCode())
                .isEqualTo(status);
    }

    @Test
    void aReadOfAnotherSiteIsOneWithoutCredentials() throws Exception {
        String cookie = cookie(signIn("key", admin));

        for (String site : List.of("cross-site", "same-site", "none")) {
            assertThat(call("GET", "/admin/keys", null, cookie, site).statusCode())
                    .as(site)
                    .isEqualTo(401);
        }
    }

    @Test
    void aRequestWithAnotherCredentialIsOneOfThatCredential() throws Exception {
        String operator = cookie(signIn("key", admin));

        for (String header : List.of("X-Api-Key", "Authorization")) {
            String value = header.equals("X-Api-Key") ? key("bob") : "Bearer " + key("bob");
            HttpRequest request = request("GET", "/admin/keys", null, operator, OWN)
                    .header(header, value)
                    .build();
            assertThat(http.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(403);
            HttpRequest wrong = request("GET", "/admin/keys", null, operator, OWN)
                    .header(header, "Bearer no")
                    .build();
            assertThat(http.send(wrong, BodyHandlers.ofString()).statusCode()).isEqualTo(401);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"revoke", "rotate", "disable", "archive", "erase"})
    void aSessionEndsWithItsKey(String way) throws Exception {
        String key = key("alice");
        String cookie = cookie(signIn("key", key));
        assertThat(send(cookie, OWN).statusCode()).isEqualTo(200);

        String id = key.split("_", -1)[1];
        switch (way) {
            case "revoke" -> administer("POST", "/keys/" + id + "/revoke", "{}");
            case "rotate" -> administer("POST", "/keys/" + id + "/rotate", "{\"overlapSeconds\":0}");
            case "disable" -> administer("POST", "/users/team/alice/disable", "{}");
            case "archive" -> administer("POST", "/groups/team/archive", "{}");
            default -> administer("POST", "/privacy/erase?group=team&principal=alice", "{}");
        }

        assertThat(send(cookie, OWN).statusCode()).isEqualTo(401);
        HttpResponse<String> shown = call("GET", SESSION, null, cookie, OWN);
        assertThat(shown.body()).contains("\"signedIn\":false");
    }

    @Test
    void aStreamOfAPageEndsWithItsKeyAndWithItsSession() throws Exception {
        for (boolean revoked : List.of(true, false)) {
            String key = key("alice");
            String cookie = cookie(signIn("key", key));
            var stream = http.send(
                    request(
                                    "POST",
                                    "/agents/slow/message:stream",
                                    MESSAGE.replace("\"m\"", "\"" + revoked + "\""),
                                    cookie,
                                    OWN)
                            .header("Accept", "text/event-stream")
                            .build(),
                    BodyHandlers.ofInputStream());
            var lines = new ArrayList<String>();
            try (var reader = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
                lines.add(reader.readLine());
                if (revoked) {
                    administer("POST", "/keys/" + key.split("_", -1)[1] + "/revoke", "{}");
                } else {
                    assertThat(call("DELETE", SESSION, null, cookie, OWN).statusCode())
                            .isEqualTo(204);
                }
                reader.lines().forEach(lines::add);
            }
            assertThat(String.join("\n", lines)).contains("no longer good");
        }
    }

    @Test
    void signingOutEndsTheSessionAndItsCookie() throws Exception {
        String cookie = cookie(signIn("key", key("alice")));
        HttpResponse<String> answer = call("DELETE", SESSION, null, cookie, OWN);

        assertThat(answer.statusCode()).isEqualTo(204);
        assertThat(header(answer, "Set-Cookie")).startsWith("parley_session_" + hub.port() + "=; Max-Age=0;");
        assertThat(header(answer, "Clear-Site-Data")).isEqualTo("\"cache\"");
        assertThat(send(cookie, OWN).statusCode()).isEqualTo(401);
        assertThat(call("DELETE", SESSION, null, cookie, OWN).statusCode()).isEqualTo(204);
        assertThat(call("DELETE", SESSION, null, null, OWN).statusCode()).isEqualTo(204);
    }

    @Test
    void foreignPagesNeitherSignInNorOut() throws Exception {
        String key = key("alice");
        String cookie = cookie(signIn("key", key));
        String body = "{\"key\":\"" + key + "\"}";

        for (String site : List.of("cross-site", "same-site")) {
            assertThat(call("POST", SESSION, body, null, site).statusCode()).isEqualTo(403);
            assertThat(call("DELETE", SESSION, null, cookie, site).statusCode()).isEqualTo(403);
        }
        HttpRequest allowed = request("POST", SESSION, body, null, "cross-site")
                .header("Origin", "https://app.example.com")
                .build();
        assertThat(http.send(allowed, BodyHandlers.ofString()).statusCode()).isEqualTo(403);
        assertThat(send(cookie, OWN).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "{\"key\":\"a\",\"token\":\"b\"}",
                "{\"key\":7}",
                "{\"key\":\"\"}",
                "{\"key\":\"a\\nb\"}",
                "{\"key\":\"a\",\"key\":\"b\"}",
                "{\"key"
            })
    void otherBodiesAreRefused(String body) throws Exception {
        assertThat(call("POST", SESSION, body, null, OWN).statusCode()).isEqualTo(400);
    }

    @Test
    void aSignInThatWouldNotCountIsRefused() throws Exception {
        String body = "{\"key\":\"" + key("alice") + "\"}";

        for (String header : List.of("Authorization", "X-Api-Key")) {
            HttpRequest request = request("POST", SESSION, body, null, OWN)
                    .header(header, "Basic cHJveHk6cHJveHk=")
                    .build();
            HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(header).isEqualTo(400);
            assertThat(answer.body()).contains("instead of the session");
        }
    }

    @Test
    void wrongKeysAreCounted() throws Exception {
        int status = 0;
        for (int i = 0; i < 40 && status != 429; i++) {
            status = signIn("key", "parley_0123456789ab_" + "0".repeat(48)).statusCode();
            assertThat(status).isIn(401, 429);
        }
        assertThat(status).isEqualTo(429);
        assertThat(signIn("key", key("alice")).statusCode()).isEqualTo(200);
    }

    @Test
    void aWrongKeyLeavesARowInTheAuditWhereverItIsTried() throws Exception {
        HttpRequest guess = request("GET", SESSION, null, null, OWN)
                .header("X-Api-Key", "parley_0123456789ab_" + "0".repeat(48))
                .build();

        assertThat(http.send(guess, BodyHandlers.ofString()).body()).contains("\"signedIn\":false");
        assertThat(session(null)).containsEntry("signedIn", false); // which is not an attempt
        key("next"); // whose rows come after the others
        assertThat(administer("GET", "/audit?action=call.denied&limit=10", null).split("The API key is not known", -1))
                .hasSize(2);
        assertThat(administer("GET", "/audit?action=call.denied&limit=10", null))
                .doesNotContain("Authentication required");
    }

    @Test
    void idsThatTheHubDidNotMakeAreNoSessions() throws Exception {
        String cookie = cookie(signIn("key", key("alice")));
        String id = cookie.substring(cookie.indexOf('=') + 1);
        char last = id.charAt(id.length() - 2) == 'A' ? 'B' : 'A';

        for (String other : List.of(
                "", ".", "x", id.substring(1), id.substring(0, id.length() - 2) + last + id.charAt(id.length() - 1))) {
            HttpRequest request = request("GET", "/admin/keys", null, "parley_session_" + hub.port() + "=" + other, OWN)
                    .header("Parley-Session-Proof", requireNonNull(proofs.get(id)))
                    .build();
            assertThat(http.send(request, BodyHandlers.ofString()).statusCode())
                    .as(other)
                    .isEqualTo(401);
        }
        assertThat(send("a=b; " + cookie + "; c=d", OWN).statusCode()).isEqualTo(200);
    }

    @Test
    void sessionsSurviveARestartAndAreInTheAuditButNotInTheClear() throws Exception {
        String key = key("alice");
        String cookie = cookie(signIn("key", key));
        call("DELETE", SESSION, null, cookie(signIn("key", key)), OWN);
        hub.close();
        hub = builder().start();

        assertThat(send(atThisPort(cookie), OWN).statusCode()).isEqualTo(200);
        HttpRequest audit = request("GET", "/admin/audit?action=session.begun&limit=10", null, null, null)
                .header("X-Api-Key", admin)
                .build();
        assertThat(http.send(audit, BodyHandlers.ofString()).body())
                .contains("session.begun", "\"actor\":\"alice\"", key.split("_", -1)[1])
                .doesNotContain(key);
        hub.close();
        String id = cookie.substring(cookie.indexOf('=') + 1);
        try (var files = Files.walk(data())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(key.substring(key.lastIndexOf('_') + 1), id, requireNonNull(proofs.get(id)));
            }
        }
    }

    @Test
    void aSessionEndsAfterItsTime() throws Exception {
        String cookie = cookie(signIn("key", key("alice")));
        hub.close();
        try (var database = DriverManager.getConnection("jdbc:sqlite:" + data().resolve("parley.db"));
                var statement = database.createStatement()) {
            assertThat(statement.executeUpdate("UPDATE trust_session SET expires_ms = 1"))
                    .isEqualTo(1);
        }
        hub = builder().start();

        assertThat(send(atThisPort(cookie), OWN).statusCode()).isEqualTo(401);
    }

    @Test
    void anotherPageOfTheBrowserSignsInBesideTheFirst() throws Exception {
        String key = key("alice");
        HttpResponse<String> first = signIn("key", key);
        HttpResponse<String> second = call("POST", SESSION, "{\"key\":\"" + key + "\"}", cookie(first), OWN);

        assertThat(second.statusCode()).isEqualTo(200);
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(header(second, "Set-Cookie")).isEqualTo(header(first, "Set-Cookie"));
        assertThat(send(cookie(first), OWN).statusCode()).isEqualTo(200);

        HttpResponse<String> bob = call("POST", SESSION, "{\"key\":\"" + key("bob") + "\"}", cookie(first), OWN);
        assertThat(session(cookie(bob))).containsEntry("name", "bob");
        assertThat(send(cookie(first), OWN).statusCode()).isEqualTo(401);
    }

    @Test
    void withoutTheConsoleThereAreNoSessions() throws Exception {
        String cookie = cookie(signIn("key", admin));
        hub.close();
        hub = builder().set("console", "off").start();

        assertThat(call("GET", "/admin/keys", null, atThisPort(cookie), OWN).statusCode())
                .isEqualTo(401);
        assertThat(send(atThisPort(cookie), OWN).statusCode()).isEqualTo(401);
        hub.close();
        hub = builder().start();
        assertThat(call("GET", "/admin/keys", null, atThisPort(cookie), OWN).statusCode())
                .isEqualTo(200);
    }

    @Test
    void signInsCountAsCallsOfTheirUser() throws Exception {
        String alice = key("alice");
        String bob = key("bob");
        Path policy = Files.writeString(
                requireNonNull(directory).resolve("policy.json"), "{\"limits\":{\"principal\":{\"perDay\":2}}}");
        hub.close();
        hub = builder().set("policy", policy.toString()).start();

        assertThat(signIn("key", alice).statusCode()).isEqualTo(200);
        String cookie = cookie(signIn("key", alice));
        HttpResponse<String> third = signIn("key", alice);
        assertThat(third.statusCode()).isEqualTo(429);
        assertThat(third.headers().firstValue("Retry-After")).isPresent();
        assertThat(third.headers().firstValue("Set-Cookie")).isEmpty();
        assertThat(signIn("key", bob).statusCode()).isEqualTo(200);
        assertThat(session(cookie)).containsEntry("name", "alice");
        assertThat(administer("GET", "/audit?action=session.begun&limit=10", null)
                        .split("\"actor\":\"alice\"", -1))
                .hasSize(3);
    }

    @Test
    void aDamagedSessionIsNoneAndItsBrowserSignsInAgain() throws Exception {
        String key = key("alice");
        String cookie = cookie(signIn("key", key));
        hub.close();
        try (var database = DriverManager.getConnection("jdbc:sqlite:" + data().resolve("parley.db"));
                var statement = database.createStatement()) {
            assertThat(statement.executeUpdate("UPDATE trust_session SET credential = 'x'"))
                    .isEqualTo(1);
        }
        hub = builder().start();
        cookie = atThisPort(cookie);

        assertThat(send(cookie, OWN).statusCode()).isEqualTo(401);
        assertThat(session(cookie)).containsEntry("signedIn", false);
        HttpResponse<String> again = call("POST", SESSION, "{\"key\":\"" + key + "\"}", cookie, OWN);
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(send(cookie(again), OWN).statusCode()).isEqualTo(200);
        assertThat(call("DELETE", SESSION, null, cookie, OWN).statusCode()).isEqualTo(204);
    }

    @Test
    void aCookieWithoutItsProofIsNoSession() throws Exception {
        String cookie = cookie(signIn("key", admin));
        String other = cookie(signIn("key", admin));
        String id = cookie.substring(cookie.indexOf('=') + 1);
        proofs.remove(id);

        for (String path : List.of("/admin/keys", "/metrics")) {
            assertThat(call("GET", path, null, cookie, OWN).statusCode()).isEqualTo(401);
            for (String proof : List.of("x", id, requireNonNull(proofs.get(id(other))))) {
                HttpRequest request = request("GET", path, null, cookie, OWN)
                        .header("Parley-Session-Proof", proof)
                        .build();
                assertThat(http.send(request, BodyHandlers.ofString()).statusCode())
                        .as(path + " " + proof)
                        .isEqualTo(401);
            }
        }
        assertThat(session(cookie)).containsEntry("signedIn", false);
        assertThat(call("GET", "/admin/keys", null, other, OWN).statusCode()).isEqualTo(200);
    }

    @Test
    void aCookieOfANeighbourIsNotTakenForTheOneOfTheUser() throws Exception {
        String alice = cookie(signIn("key", key("alice")));
        String bob = cookie(signIn("key", key("bob")));

        for (String both : List.of(bob + "; " + alice, alice + "; " + bob, alice + ", " + bob)) {
            assertThat(send(both, OWN).statusCode()).as(both).isEqualTo(401);
            assertThat(session(both)).as(both).containsEntry("signedIn", false);
        }
        assertThat(send(alice + "; " + alice, OWN).statusCode()).isEqualTo(200);
        assertThat(send(alice + "; parley_session=x; parley_session_1=y", OWN).statusCode())
                .isEqualTo(200);
        assertThat(call("DELETE", SESSION, null, alice + "; " + bob, OWN).statusCode())
                .isEqualTo(204);
        assertThat(send(alice, OWN).statusCode()).isEqualTo(401);
        assertThat(send(bob, OWN).statusCode()).isEqualTo(401);
    }

    @Test
    void overHttpsTheCookieIsForHttpsOnly() throws Exception {
        hub.close();
        hub = builder().publicUrl("https://hub.example.com/parley").start();

        HttpResponse<String> answer = signIn("key", key("alice"));
        String cookie = cookie(answer);

        // Without a domain, and for all paths: else browsers do not take the prefix.
        assertThat(header(answer, "Set-Cookie"))
                .startsWith("__Host-parley_session_parley=")
                .contains("; Path=/;")
                .endsWith("; Secure")
                .doesNotContain("Domain");
        assertThat(session(cookie)).containsEntry("name", "alice");
        assertThat(session(cookie.replace("__Host-", ""))).containsEntry("signedIn", false);
        assertThat(header(call("DELETE", SESSION, null, cookie, OWN), "Set-Cookie"))
                .startsWith("__Host-parley_session_parley=; Max-Age=0;")
                .endsWith("; Secure");
    }

    @Test
    void overHttpsAPageWithoutTlsIsAnother() throws Exception {
        String body = "{\"key\":\"" + key("alice") + "\"}";
        hub.close();
        hub = builder().publicUrl("https://hub.example.com").start();

        for (String origin : List.of("http://127.0.0.1:" + hub.port(), "http://hub.example.com")) {
            HttpRequest forged = request("POST", SESSION, body, null, null)
                    .header("Origin", origin)
                    .build();
            assertThat(http.send(forged, BodyHandlers.ofString()).statusCode())
                    .as(origin)
                    .isEqualTo(403);
        }
        assertThat(call("POST", SESSION, body, null, OWN).statusCode()).isEqualTo(200);
    }

    @Test
    void aHubWithoutAuthenticationNeedsNoSignIn() throws Exception {
        hub.close();
        hub = Hub.builder().inMemory().port(0).start();

        assertThat(session(null))
                .containsEntry("signedIn", false)
                .containsEntry("needsSignIn", false)
                .containsEntry("methods", List.of());
        assertThat(signIn("key", "some-long-key-of-nobody").statusCode()).isEqualTo(400);
        assertThat(call("DELETE", SESSION, null, null, OWN).statusCode()).isEqualTo(204);
    }

    @Test
    void aHubThatTakesNoKeysHasNoSignIn() throws Exception {
        hub.close();
        hub = builder().set("auth", "basic").start();

        assertThat(session(null)).containsEntry("needsSignIn", true).containsEntry("methods", List.of());
        HttpResponse<String> refusal = signIn("key", admin);
        assertThat(refusal.statusCode()).isEqualTo(400);
        assertThat(refusal.body()).contains("--auth").doesNotContain("need no credentials");
    }

    @Test
    void anAgentWithKeysMakesAnOpenHubOneWithASignIn() throws Exception {
        String key = key("alice");
        hub.close();
        hub = builder().set("auth", "none").set("agent-auth", "echo=apiKey").start();

        assertThat(session(null)).containsEntry("needsSignIn", false).containsEntry("methods", List.of("key"));
        assertThat(send(null, OWN).statusCode()).isEqualTo(401);
        String cookie = cookie(signIn("key", key));
        assertThat(session(cookie)).containsEntry("signedIn", true);
        assertThat(send(cookie, OWN).statusCode()).isEqualTo(200);
    }

    // ---- Requests

    private String key(String name, String... scopes) throws Exception {
        String body = new String(
                Json.write(Map.of("group", "team", "principal", name, "scopes", List.of(scopes))),
                StandardCharsets.UTF_8);
        return String.valueOf(read(administer("POST", "/keys", body)).get("key"));
    }

    private String administer(String method, String path, @Nullable String body) throws Exception {
        HttpRequest request = request(method, "/admin" + path, body, null, null)
                .header("X-Api-Key", admin)
                .build();
        HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    private HttpResponse<String> signIn(String kind, String credential) throws Exception {
        return call("POST", SESSION, "{\"" + kind + "\":\"" + credential + "\"}", null, OWN);
    }

    @SuppressWarnings("unchecked") // an object
    private Map<String, Object> session(@Nullable String cookie) throws Exception {
        return (Map<String, Object>)
                read(call("GET", SESSION, null, cookie, OWN).body());
    }

    private HttpResponse<String> send(@Nullable String cookie, String site) throws Exception {
        return call("POST", "/agents/echo/message:send", MESSAGE, cookie, site);
    }

    private HttpResponse<String> call(
            String method, String path, @Nullable String body, @Nullable String cookie, @Nullable String site)
            throws Exception {
        return http.send(request(method, path, body, cookie, site).build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(
            String method, String path, @Nullable String body, @Nullable String cookie, @Nullable String site) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + hub.port() + path))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .header("A2A-Version", "1.0")
                .header("Content-Type", "application/json");
        if (cookie != null) {
            request.header("Cookie", cookie);
            proofs.entrySet().stream()
                    .filter(proof -> cookie.contains(proof.getKey()))
                    .findFirst()
                    .ifPresent(proof -> request.header("Parley-Session-Proof", proof.getValue()));
        }
        if (site != null) {
            request.header("Sec-Fetch-Site", site);
        }
        return request;
    }

    /** The cookie of a sign-in; requests with it have its proof, too. */
    private String cookie(HttpResponse<String> answer) {
        String cookie = header(answer, "Set-Cookie").split(";", 2)[0];
        proofs.put(id(cookie), String.valueOf(read(answer.body()).get("proof")));
        return cookie;
    }

    private static String id(String cookie) {
        return cookie.substring(cookie.indexOf('=') + 1);
    }

    /** The name of a cookie has the port of its hub. */
    private String atThisPort(String cookie) {
        return "parley_session_" + hub.port() + "=" + id(cookie);
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElseThrow(() -> new AssertionError(answer.toString()));
    }

    private static Map<?, ?> read(String json) {
        return Json.read(json.getBytes(StandardCharsets.UTF_8), Map.class);
    }
}

package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.registry.vault.Api.Answer;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.MimeMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The cases of the tests of AgentVault's registry, over HTTP, on SQLite. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("heavy")
class VaultApiTest {
    private static final Pattern LINK = Pattern.compile("http://[^\\s]+(/auth/verify-email\\?token=\\S{43})\\s");
    private static final String CARDS = "/api/v1/agent-cards/";

    private Path directory;

    private final GreenMail mail = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    private Hub hub;
    private Api api;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        directory = temporary;
        mail.start();
        hub = on(Hub.builder()
                        .port(0)
                        .set(
                                "registry-mail",
                                "smtp://127.0.0.1:" + mail.getSmtp().getPort() + "?from=registry@example.com")
                        .agents(Agent.named("echo", "Echoes")
                                .handle((request, reply) -> reply.complete(request.text()))))
                .start();
        api = new Api(hub.url());
    }

    HubBuilder on(HubBuilder builder) throws java.io.IOException {
        return builder.data(directory);
    }

    @AfterAll
    void stop() {
        hub.close();
        mail.stop();
    }

    /** The path of the link in the verification mail of an account. */
    private String verificationLink(String name) throws Exception {
        MimeMessage message = Eventually.value(
                        "a mail to " + name, () -> mailTo(name + "@example.com"), Optional::isPresent)
                .orElseThrow();
        assertThat(message.getFrom()[0]).hasToString("registry@example.com");
        Matcher link = LINK.matcher(String.valueOf(message.getContent()));
        assertThat(link.find()).as(String.valueOf(message.getContent())).isTrue();
        return link.group(1);
    }

    private Optional<MimeMessage> mailTo(String address) throws MessagingException {
        for (MimeMessage message : mail.getReceivedMessages()) {
            if (message.getAllRecipients()[0].toString().equals(address)) {
                return Optional.of(message);
            }
        }
        return Optional.empty();
    }

    // ---- Accounts

    @Test
    @DisplayName("AV15 an account is registered, verified by the link of a mail, and logs in")
    void registrationVerificationAndLogin() throws Exception {
        Answer registered = api.register("alice", "Correct horse").is(201);
        assertThat(registered.text("message"))
                .isEqualTo("Registration successful. Please check your email to verify your account.");
        assertThat((List<?>) registered.at("recovery_keys"))
                .hasSize(3)
                .allMatch(key -> String.valueOf(key).matches("avrec(-[0-9a-f]{8}){3}"));

        Answer login = api.login("alice@example.com", "Correct horse").is(200);
        assertThat(login.text("token_type")).isEqualTo("bearer");
        String[] token = Api.bearer(login.text("access_token"));
        Answer me = api.get("/developers/me", token).is(200);
        assertThat(me.text("name")).isEqualTo("alice");
        assertThat(me.text("email")).isEqualTo("alice@example.com");
        assertThat(me.at("is_verified")).isEqualTo(false);
        assertThat(me.at("id")).isInstanceOf(Number.class);
        assertThat(me.text("created_at")).matches("\\d{4}-\\d\\d-\\d\\dT.*");

        String link = verificationLink("alice");
        Answer verified = api.get(link).is(303);
        assertThat(verified.header("Location")).isEqualTo("/ui/verify-success");
        assertThat(api.get("/developers/me", token).at("is_verified")).isEqualTo(true);
        assertThat(api.get(link).is(303).header("Location")).isEqualTo("/ui/verify-success?status=already_verified");
        assertThat(api.get("/auth/verify-email?token=unknown").is(303).header("Location"))
                .isEqualTo("/ui/verify-failed");
        Answer page = api.get("/ui/verify-success").is(200);
        assertThat(page.header("Content-Type")).startsWith("text/html");
        assertThat(page.body()).contains("<body>");
    }

    @Test
    @DisplayName("AV15 a known address, a known name and fields that break a rule are refused as by AgentVault")
    void registrationIsRefused() throws Exception {
        api.register("bob", "secret").is(201);
        api.register("bob", "secret").is(400, "Email already registered.");
        api.send("POST", "/auth/register", "{'name':'carl','email':'BOB@example.com','password':'x'}")
                .is(400, "Email already registered.");
        api.send("POST", "/auth/register", "{'name':'bob','email':'other@example.com','password':'x'}")
                .is(409, "Username or email already exists.");

        Answer faults = api.send("POST", "/auth/register", "{'name':'x','email':'nobody','password':'hidden'}")
                .is(422);
        assertThat(faults.at("detail", 0, "loc")).isEqualTo(List.of("body", "name"));
        assertThat(faults.text("detail", 0, "type")).isEqualTo("string_too_short");
        assertThat(faults.text("detail", 0, "msg")).isEqualTo("String should have at least 3 characters");
        assertThat(faults.text("detail", 0, "input")).isEqualTo("x");
        assertThat(faults.at("detail", 1, "loc")).isEqualTo(List.of("body", "email"));
        assertThat(api.send("POST", "/auth/register", "{'name':'a\\u0000bc','email':'nul@example.com','password':'x'}")
                        .is(422)
                        .text("detail", 0, "msg"))
                .isEqualTo("Value error, control characters are not allowed");
        Answer missing = api.send("POST", "/auth/register", "{'email':'a@example.com','password':'hidden'}")
                .is(422);
        assertThat(missing.text("detail", 0, "type")).isEqualTo("missing");
        assertThat(missing.body()).doesNotContain("hidden");
        assertThat(api.send("POST", "/auth/register", "{'name'").is(422).text("detail", 0, "type"))
                .isEqualTo("json_invalid");
        assertThat(api.send("POST", "/auth/register", null).is(422).at("detail", 0, "loc"))
                .isEqualTo(List.of("body"));
    }

    @Test
    @DisplayName("AV15 a login takes both kinds of forms, and refuses unknown accounts and wrong passwords alike")
    void login() throws Exception {
        api.register("dora", "p&ss wörd").is(201);
        api.login("dora@example.com", "p&ss wörd").is(200);
        Answer multipart = api.send(
                "POST", "/auth/login", """
                --b1
                Content-Disposition: form-data; name="username"

                dora@example.com
                --b1
                Content-Disposition: form-data; name="password"

                p&ss wörd
                --b1--
                """.replace("\n", "\r\n"), "Content-Type", "multipart/form-data; boundary=b1");
        multipart.is(200);
        Answer wrong = api.login("dora@example.com", "wrong").is(401, "Incorrect email or password");
        Answer unknown = api.login("nobody@example.com", "wrong").is(401, "Incorrect email or password");
        assertThat(unknown.body()).isEqualTo(wrong.body());
        assertThat(unknown.header("WWW-Authenticate")).isEqualTo("Bearer");
        assertThat(api.send("POST", "/auth/login", "{'username':'x','password':'in the clear'}")
                        .is(422)
                        .body())
                .doesNotContain("in the clear");
        assertThat(api.send("POST", "/auth/login", "username=x", "Content-Type", "application/x-www-form-urlencoded")
                        .is(422)
                        .at("detail", 0, "loc"))
                .isEqualTo(List.of("body", "password"));
    }

    @Test
    @DisplayName("AV15 each recovery key of a verified account sets a new password once, which ends older tokens")
    void recovery() throws Exception {
        Answer registered = api.register("erna", "old password").is(201);
        String key = registered.text("recovery_keys", 1);
        recover("erna", key).is(400, "Invalid email or recovery key.");
        api.get(verificationLink("erna")).is(303);
        recover("erna", "avrec-00000000-00000000-00000000").is(400, "Invalid email or recovery key.");
        recover("unknown", key).is(400, "Invalid email or recovery key.");
        String[] before =
                Api.bearer(api.login("erna@example.com", "old password").is(200).text("access_token"));

        Answer recovered = recover("erna", key).is(200);
        assertThat(recovered.text("token_type")).isEqualTo("bearer");
        String[] token = Api.bearer(recovered.text("access_token"));
        api.get("/developers/me", token).is(401, "Could not validate credentials");
        Answer set = api.send("POST", "/auth/set-new-password", "{'new_password':'new password'}", token);
        set.is(200);
        assertThat(set.at()).isEqualTo(Map.of("message", "Password updated successfully."));

        api.login("erna@example.com", "old password").is(401);
        api.login("erna@example.com", "new password").is(200);
        api.get("/developers/me", before).is(401, "Could not validate credentials");
        Answer again = api.send("POST", "/auth/set-new-password", "{'new_password':'stolen'}", token)
                .is(401, "Invalid or expired password recovery token");
        assertThat(again.header("WWW-Authenticate")).isEqualTo("Bearer error=\"invalid_token\"");
        recover("erna", key).is(400, "Invalid email or recovery key.");
        recover("erna", registered.text("recovery_keys", 2)).is(200);
        api.send("POST", "/auth/set-new-password", "{'new_password':'x'}", Api.bearer("no.real.token"))
                .is(401, "Invalid or expired password recovery token");
    }

    private Answer recover(String name, String key) throws Exception {
        return api.send(
                "POST", "/auth/recover-account", "{'email':'%s@example.com','recovery_key':'%s'}".formatted(name, key));
    }

    @Test
    @DisplayName("M7: each 401 of a hub that wants credentials says which ones an account has")
    void each401HasAChallenge() throws Exception {
        try (Hub required = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var stranger = new Api(required.url());

            assertThat(List.of(
                            stranger.get("/api/v1/agent-cards/?owned_only=true"),
                            stranger.get("/developers/me"),
                            stranger.login("nobody@example.com", "wrong-password"),
                            stranger.send(
                                    "POST", "/api/v1/agent-cards/", "{'card_data':{}}", "X-Api-Key", "avreg_wrong")))
                    .allSatisfy(answer -> assertThat(answer.is(401).header("WWW-Authenticate"))
                            .isEqualTo("Bearer"));
        }
    }

    @Test
    @DisplayName("AV15 requests without a token, with a forged one or with one of no account are refused")
    void tokens() throws Exception {
        Answer none = api.get("/developers/me").is(401, "Not authenticated");
        assertThat(none.header("WWW-Authenticate")).isEqualTo("Bearer");
        api.get("/developers/me", Api.bearer("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."))
                .is(401, "Could not validate credentials");
        String token = api.developer("fred")[1];
        String forged = token.substring(0, token.length() - 3) + (token.endsWith("AAA") ? "BBB" : "AAA");
        api.get("/developers/me", "Authorization", forged).is(401, "Could not validate credentials");
        api.get("/developers/me", "Authorization", "Basic YTpi").is(401, "Not authenticated");
    }

    @Test
    @DisplayName(
            "AV16 a key is shown once, accepted in X-Api-Key, listed without its text, and refused once it is revoked")
    void keys() throws Exception {
        String[] login = api.developer("gina");
        Answer made = api.send("POST", "/developers/me/apikeys", "{'description':'for the build'}", login)
                .is(201);
        String key = made.text("plain_api_key");
        assertThat(key).matches("avreg_[A-Za-z0-9_-]{43}");
        assertThat(made.text("api_key_info", "key_prefix")).isEqualTo("avreg_");
        assertThat(made.text("api_key_info", "description")).isEqualTo("for the build");
        assertThat(made.at("api_key_info", "is_active")).isEqualTo(true);
        assertThat(made.at("api_key_info", "last_used_at")).isNull();
        Answer plain = api.send("POST", "/developers/me/apikeys", null, login).is(201);
        assertThat(plain.at("api_key_info", "description")).isNull();

        assertThat(api.get("/developers/me", "X-Api-Key", key).is(200).text("name"))
                .isEqualTo("gina");
        Answer list = api.get("/developers/me/apikeys", login).is(200);
        assertThat(list.at(0, "id")).isEqualTo(plain.at("api_key_info", "id"));
        assertThat(list.at(1, "last_used_at")).isNotNull();
        assertThat(list.body()).doesNotContain(key);

        String[] other = api.developer("hans");
        String place = "/developers/me/apikeys/" + made.text("api_key_info", "id");
        api.send("DELETE", place, null, other).is(404, "API Key not found or not owned by the current user.");
        api.send("DELETE", place, null, login).is(204);
        api.get("/developers/me", "X-Api-Key", key).is(401, "Invalid or inactive API Key");
        api.send("POST", CARDS, "{'card_data':{}}", "X-Api-Key", key).is(401, "Invalid or inactive API Key");
        api.send("DELETE", place, null, login).is(404, "API Key not found or not owned by the current user.");
        assertThat((List<?>) api.get("/developers/me/apikeys", login).at()).hasSize(1);
        assertThat(api.send("DELETE", "/developers/me/apikeys/x", null, login)
                        .is(422)
                        .text("detail", 0, "type"))
                .isEqualTo("int_parsing");
        api.get("/developers/me", "X-Api-Key", "").is(403, "Not authenticated: X-Api-Key header missing or empty");
        assertThat((List<?>) api.get("/developers/me/apikeys", other).is(200).at())
                .isEmpty();
        api.get("/developers/me/apikeys").is(401, "Not authenticated");
    }

    @Test
    @DisplayName("AV16 a stolen key makes no keys that would outlast it")
    void keysNeedALogin() throws Exception {
        String[] login = api.developer("ivan");
        String key = api.send("POST", "/developers/me/apikeys", "{}", login).text("plain_api_key");
        api.send("POST", "/developers/me/apikeys", "{}", "X-Api-Key", key).is(401, "Not authenticated");
    }

    @Test
    @DisplayName("an erased account has no name, mail address, key, login or card any more")
    void erasure() throws Exception {
        String[] login = api.developer("uwe");
        String number = api.get("/developers/me", login).text("id");
        String key = api.send("POST", "/developers/me/apikeys", "{}", login).text("plain_api_key");
        String card = api.card(login, "uwe/one", "Card of Uwe", "");

        Answer erased = api.send("POST", "/admin/privacy/erase?group=agentvault&principal=developer-" + number, "{}")
                .is(200);
        assertThat(erased.at("registryAccounts")).as(erased.body()).isEqualTo(1);
        api.login("uwe@example.com", "secret-uwe").is(401);
        api.get("/developers/me", login).is(401, "Could not validate credentials");
        api.get("/developers/me", "X-Api-Key", key).is(401, "Invalid or inactive API Key");
        assertThat(erased.at("agents")).isEqualTo(1);
        api.get(CARDS + card).is(404);
        assertThat(api.get(CARDS + "?search=Uwe").at("items")).isEqualTo(List.of());
        api.register("uwe", "again").is(201);
    }

    private List<String> audited(String member, String action) throws Exception {
        List<?> rows =
                (List<?>) requireNonNull(api.get("/admin/audit?group=agentvault&limit=1000&after=0&action=" + action)
                        .is(200)
                        .at("rows"));
        return rows.stream()
                .map(row -> String.valueOf(((Map<?, ?>) row).get(member)))
                .toList();
    }

    @Test
    @DisplayName(
            "AV35: registrations, logins, refused logins, keys and cards leave rows in the audit, without mail addresses and secrets")
    void actionsAreAudited() throws Exception {
        String[] login = api.developer("vera");
        String number = api.get("/developers/me", login).text("id");
        String developer = "developer-" + number;
        api.login("vera@example.com", "wrong").is(401);
        api.login("unknown@example.com", "wrong").is(401);
        String key = api.send("POST", "/developers/me/apikeys", "{}", login).text("api_key_info", "id");
        api.send("DELETE", "/developers/me/apikeys/" + key, "", login).is(204);
        String card = api.card(login, "vera/one", "Card of Vera", "");
        api.send("PUT", CARDS + card, "{}", login).is(200);
        api.send("DELETE", CARDS + card, "", login).is(204);

        assertThat(audited("actor", "agentvault.registered")).contains(developer);
        assertThat(audited("actor", "agentvault.login")).contains(developer, "anonymous");
        assertThat(audited("outcome", "agentvault.login")).contains("ok", "denied");
        assertThat(audited("subject", "agentvault.login")).contains("agentvault/" + developer, "null");
        assertThat(audited("target", "agentvault.key.created")).contains(key);
        assertThat(audited("target", "agentvault.key.revoked")).contains(key);
        for (String action : List.of("created", "changed", "deleted")) {
            assertThat(audited("target", "agentvault.card." + action)).contains(card);
        }
        assertThat(api.get("/admin/audit?group=agentvault&limit=1000&after=0").body())
                .doesNotContain("example.com", "secret-vera", "avreg_");
    }

    @Test
    @DisplayName("AV35: rules of the policy deny single calls of AgentVault's clients, and refusals are audited")
    void rulesOfThePolicy() throws Exception {
        Path file = directory.resolve("policy.json");
        Files.writeString(
                file,
                "{\"rules\":[{\"effect\":\"deny\",\"agents\":[\"registry\"],\"operations\":[\"agentvault/register\",\"agentvault/keys-*\"]}]}");
        try (Hub closed = Hub.builder()
                .data(directory.resolve("closed"))
                .port(0)
                .policy(PolicyFile.read(file))
                .start()) {
            var there = new Api(closed.url());

            assertThat(there.send(
                                    "POST",
                                    "/auth/register",
                                    "{'name':'wanda','email':'wanda@example.com','password':'secret-wanda'}")
                            .status())
                    .isEqualTo(403);
            assertThat(there.get("/developers/me/apikeys").status()).isEqualTo(403);
            there.login("wanda@example.com", "secret-wanda").is(401, "Incorrect email or password");
            there.get(CARDS).is(200);
            String rows = there.get("/admin/audit?action=call.denied&limit=100&after=0")
                    .body();
            assertThat(rows).contains("agentvault/register", "agentvault/keys-list");
        }
    }

    // ---- Cards

    @Test
    @DisplayName("AV17 a card is created, read, changed and deactivated by its owner only")
    void cardOfAnOwner() throws Exception {
        String[] owner = api.developer("judy");
        String[] other = api.developer("karl");
        String card = Api.cardData("judy/weather", "Weather", ",'x-own':{'kept':true}");
        api.send("POST", CARDS, "{'card_data':" + card + "}").is(401, "Not authenticated");

        Answer made =
                api.send("POST", CARDS, "{'card_data':" + card + "}", owner).is(201);
        String id = made.text("id");
        assertThat(UUID.fromString(id)).hasToString(id);
        assertThat(made.text("name")).isEqualTo("Weather");
        assertThat(made.text("description")).isEqualTo("Does Weather");
        assertThat(made.at("is_active")).isEqualTo(true);
        assertThat(made.at("developer_is_verified")).isEqualTo(false);
        assertThat(made.at("developer_id"))
                .isEqualTo(api.get("/developers/me", owner).at("id"));
        assertThat(made.at("card_data", "x-own", "kept")).isEqualTo(true);
        assertThat(api.get(CARDS + id).is(200).at()).isEqualTo(made.at());

        Answer changed = api.send("PUT", CARDS + id, "{'card_data':{'name':'Storms','description':'Warns'}}", owner)
                .is(200);
        assertThat(changed.text("name")).isEqualTo("Storms");
        assertThat(changed.text("card_data", "humanReadableId")).isEqualTo("judy/weather");
        assertThat(changed.text("id")).isEqualTo(id);
        assertThat(api.send("PUT", CARDS + id, "{}", owner).is(200).at()).isEqualTo(changed.at());
        api.send("PUT", CARDS + id, "{'is_active':false}", other).is(403, "Not authorized to update this agent card");
        api.send("PUT", CARDS + UUID.randomUUID(), "{}", owner).is(404, "Agent Card not found");
        assertThat(api.send("PUT", CARDS + id, "{'card_data':{'url':'http://evil.example'}}", owner)
                        .is(422)
                        .text("detail"))
                .startsWith(
                        "Failed to update agent card: Invalid merged Agent Card data provided for update: 1 validation"
                                + " error for AgentCard\nurl\n  Value error, Agent URL must use HTTPS unless it is localhost");

        api.send("DELETE", CARDS + id, null, other).is(403, "Not authorized to delete this agent card");
        api.send("DELETE", CARDS + UUID.randomUUID(), null, owner).is(404, "Agent Card not found");
        api.send("DELETE", CARDS + id, null, owner).is(204);
        api.send("DELETE", CARDS + id, null, owner).is(204);
        assertThat(api.get(CARDS + id).is(200).at("is_active")).isEqualTo(false);
        assertThat(names("?search=storms")).isEmpty();
        assertThat(names("?search=storms&active_only=false")).containsExactly("Storms");
        assertThat(api.send("PUT", CARDS + id, "{'card_data':{'description':'Still off'}}", owner)
                        .is(200)
                        .at("is_active"))
                .isEqualTo(false);
        assertThat(api.send("PUT", CARDS + id, "{'is_active':true}", owner)
                        .is(200)
                        .at("is_active"))
                .isEqualTo(true);
        assertThat(names("?search=storms")).containsExactly("Storms");
    }

    @Test
    @DisplayName("AV17 invalid cards and readable ids that are taken are refused")
    void cardIsRefused() throws Exception {
        String[] owner = api.developer("lena");
        assertThat(api.send("POST", CARDS, "{'card_data':{'name':'x'}}", owner)
                        .is(422)
                        .text("detail"))
                .startsWith("Failed to create agent card: Invalid Agent Card data provided: 8 validation errors for"
                        + " AgentCard\nschemaVersion\n  Field required [type=missing]");
        assertThat(api.send("POST", CARDS, "{}", owner).is(422).at("detail", 0, "loc"))
                .isEqualTo(List.of("body", "card_data"));
        api.card(owner, "lena/one", "One", "");
        api.send("POST", CARDS, "{'card_data':" + Api.cardData("Lena/ONE", "Twin", "") + "}", api.developer("mona"))
                .is(409, "Agent Card with humanReadableId 'Lena/ONE' already exists");
        assertThat(api.get(CARDS + "no-uuid").is(422).text("detail", 0, "type")).isEqualTo("uuid_parsing");
        api.get(CARDS + UUID.randomUUID()).is(404, "Agent Card not found");
    }

    private List<String> names(String query, String... headers) throws Exception {
        return ((List<?>) requireNonNull(
                        api.get("/api/v1/agent-cards" + query, headers).is(200).at("items")))
                .stream()
                        .map(item -> String.valueOf(((Map<?, ?>) item).get("name")))
                        .toList();
    }

    @Test
    @DisplayName("AV18 lists select by text, all tags, TEE and owner, the newest change first, with figures of pages")
    void lists() throws Exception {
        String[] owner = api.developer("nora");
        String tee = ",'capabilities':{'a2aVersion':'0.2','teeDetails':{'type':'Intel SGX'}}";
        api.card(owner, "nora/a", "Zeta alpha", ",'tags':['zeta','Red']");
        api.card(owner, "nora/b", "Zeta beta 100%", ",'tags':['zeta','Red','blue']");
        api.card(api.developer("olga"), "olga/c", "Zeta gamma", ",'tags':['zeta']" + tee);

        assertThat(names("?tags=zeta")).containsExactly("Zeta gamma", "Zeta beta 100%", "Zeta alpha");
        assertThat(names("/?tags=zeta&tags=Red")).containsExactly("Zeta beta 100%", "Zeta alpha");
        assertThat(names("?tags=zeta&tags=red")).isEmpty();
        assertThat(names("?tags=zeta&search=BETA")).containsExactly("Zeta beta 100%");
        assertThat(names("?tags=zeta&search=100%25")).containsExactly("Zeta beta 100%");
        assertThat(names("?tags=zeta&search=_eta")).isEmpty();
        assertThat(names("?tags=zeta&has_tee=true")).containsExactly("Zeta gamma");
        assertThat(names("?tags=zeta&has_tee=false")).containsExactly("Zeta beta 100%", "Zeta alpha");
        assertThat(names("?tags=zeta&tee_type=intel%20sgx")).containsExactly("Zeta gamma");
        assertThat(names("?tags=zeta&tee_type=AMD")).isEmpty();
        assertThat(names("?has_tee=true&tee_type=Intel%20SGX&tags=zeta")).hasSize(1);
        assertThat(names("?owned_only=true", owner)).containsExactly("Zeta beta 100%", "Zeta alpha");
        assertThat(names("?tags=zeta&owned_only=false")).hasSize(3);
        Answer refused = api.get("/api/v1/agent-cards?owned_only=true", Api.bearer("x"))
                .is(401, "Authentication required to list owned agent cards.");
        assertThat(refused.header("WWW-Authenticate")).isEqualTo("Bearer");

        Answer page = api.get("/api/v1/agent-cards?limit=1&offset=1&active_only=true&tags=zeta")
                .is(200);
        assertThat(page.text("items", 0, "name")).isEqualTo("Zeta beta 100%");
        assertThat(String.valueOf(page.at("pagination")))
                .isEqualTo(String.valueOf(
                        api.get("/api/v1/agent-cards/?limit=1&skip=1&tags=zeta").at("pagination")));
        assertThat(page.at("pagination"))
                .isEqualTo(Map.of("total_items", 3, "limit", 1, "offset", 1, "total_pages", 3, "current_page", 2));
        assertThat(api.get("/api/v1/agent-cards?tags=none").at("pagination"))
                .isEqualTo(Map.of("total_items", 0, "limit", 100, "offset", 0, "total_pages", 0, "current_page", 1));
        for (String wrong : List.of(
                "limit=0", "limit=251", "skip=-1", "limit=x", "active_only=perhaps", "search=" + "x".repeat(101))) {
            assertThat(api.get("/api/v1/agent-cards?" + wrong).is(422).text("detail", 0, "loc", 0))
                    .as(wrong)
                    .isEqualTo("query");
        }
    }

    @Test
    @DisplayName(
            "AV19 a card is found by its readable id, with a slash that is encoded once, twice or not, and in any case")
    void readableId() throws Exception {
        String id = api.card(api.developer("paul"), "Paul-Org/agent_1", "Finder", "");
        for (String path : List.of(
                "id/Paul-Org/agent_1",
                "id/Paul-Org%2Fagent_1",
                "id/Paul-Org%252Fagent_1",
                "id/paul-org/AGENT_1",
                "by-hri?hri=Paul-Org/agent_1",
                "by-hri/?hri=Paul-Org%2Fagent_1")) {
            assertThat(api.get(CARDS + path).is(200).text("id")).as(path).isEqualTo(id);
        }
        api.get(CARDS + "id/paul/none").is(404, "Agent Card with humanReadableId 'paul/none' not found");
        assertThat(api.get(CARDS + "by-hri").is(422).at("detail", 0, "loc")).isEqualTo(List.of("query", "hri"));
    }

    @Test
    @DisplayName("AV13 a valid card passes the validation, and each broken one is told its member")
    void validation() throws Exception {
        Answer valid = validated(Api.cardData("a/b", "Name", ""));
        assertThat(valid.at("is_valid")).isEqualTo(true);
        assertThat(valid.at("detail")).isNull();
        assertThat(valid.text("validated_card_data", "humanReadableId")).isEqualTo("a/b");
        var broken = Map.of(
                "schemaVersion", "'schemaVersion':'1.0',",
                "humanReadableId", "'humanReadableId':'a/b',",
                "agentVersion", "'agentVersion':'1.0.0',",
                "name", "'name':'Name',",
                "description", "'description':'Does Name',",
                "url", "'url':'https://agents.example.com/a2a',",
                "provider", "'provider':{'name':'Example'},",
                "authSchemes", "'authSchemes':[{'scheme':'none'}],");
        String card = Api.cardData("a/b", "Name", "");
        for (Map.Entry<String, String> member : broken.entrySet()) {
            Answer answer = validated(card.replace(member.getValue(), ""));
            assertThat(answer.at("is_valid")).as(member.getKey()).isEqualTo(false);
            assertThat(answer.text("detail")).contains("\n" + member.getKey() + "\n  Field required");
            assertThat(answer.at("validated_card_data")).isNull();
        }
        String[][] replaced = {
            {"[{'scheme':'none'}]", "[]", "List should have at least 1 item after validation, not 0"},
            {
                "{'scheme':'none'}",
                "{'scheme':'basic'}",
                "authSchemes.0.scheme\n  Input should be 'apiKey', 'bearer', 'oauth2' or 'none'"
            },
            {"{'scheme':'none'}", "{'scheme':'oauth2'}", "'tokenUrl' is required when scheme is 'oauth2'"},
            {"https://agents.example.com/a2a", "http://127.0.0.1/a2a", "must use HTTPS unless it is localhost"},
            {"https://agents.example.com/a2a", "http://localhost.evil.example/", "must use HTTPS unless it is localhost"
            },
            {"https://agents.example.com/a2a", "nowhere", "url\n  Input should be a valid URL"},
            {"'name':'Name'", "'name':7", "name\n  Input should be a valid string"},
            {"{'a2aVersion':'0.2'}", "{'teeDetails':{}}", "capabilities.teeDetails.type\n  Field required"}
        };
        for (String[] fault : replaced) {
            assertThat(validated(card.replace(fault[0], fault[1])).text("detail"))
                    .contains(fault[2]);
        }
        assertThat(api.send("POST", "/api/v1/utils/validate-card", "{}").is(422).at("detail", 0, "loc"))
                .isEqualTo(List.of("body", "card_data"));
    }

    private Answer validated(String card) throws Exception {
        return api.send("POST", "/api/v1/utils/validate-card", "{'card_data':" + card + "}")
                .is(200);
    }

    // ---- The rest

    @Test
    @DisplayName("AV17 a card of AgentVault is found in the other faces of the registry")
    void oneRecord() throws Exception {
        api.card(api.developer("quin"), "quin/one", "Unique onion", "");
        assertThat(api.get("/registry/agents?humanId=quin/one").is(200).body()).contains("Unique onion");
    }

    @Test
    @DisplayName("AV17 agents of the hub are cards of AgentVault, with their addresses in its dialect")
    void ownAgents() throws Exception {
        Answer own = api.get(CARDS + "?search=echoes").is(200);
        assertThat(own.text("items", 0, "name")).isEqualTo("echo");
        Answer card = api.get(CARDS + own.text("items", 0, "id")).is(200);
        assertThat(card.text("card_data", "url")).endsWith("/agents/echo/agentvault");
        assertThat(validated(new String(Json.write(requireNonNull(card.at("card_data"))), UTF_8))
                        .at("is_valid"))
                .isEqualTo(true);
        String[] developer = api.developer("tina");
        api.send("PUT", CARDS + own.text("items", 0, "id"), "{'is_active':false}", developer)
                .is(403, "Not authorized to update this agent card");
    }

    @Test
    @DisplayName("AV31 the 101st call of a minute from one address to one route is refused, and other routes answer")
    void rateLimit() throws Exception {
        String path = "/api/v1/openapi.json";
        List<Integer> statuses =
                IntStream.range(0, 100).mapToObj(i -> status(path)).distinct().toList();
        assertThat(statuses).containsExactly(200);
        Answer refused = api.get(path).is(429);
        assertThat(refused.at()).isEqualTo(Map.of("error", "Rate limit exceeded: 100 per 1 minute"));
        api.get("/developers/me").is(401);
    }

    private int status(String path) {
        try {
            return api.get(path).status();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    @DisplayName("unknown paths and methods are answered as by AgentVault, and pages of any origin may call")
    void routes() throws Exception {
        api.get("/api/v1/none").is(404, "Not Found");
        api.send("PATCH", CARDS, "{}").is(405, "Method Not Allowed");
        assertThat(api.get(CARDS, "Origin", "https://pages.example").is(200).header("Access-Control-Allow-Origin"))
                .isEqualTo("*");
        for (String page : AccountPages.PATHS) {
            Answer answer = api.get(page).is(200);
            assertThat(answer.header("Content-Type")).startsWith("text/html");
            assertThat(answer.body()).contains("<body>");
        }
    }

    @Test
    @DisplayName("S78 passwords, keys, recovery keys and verification tokens are not in the database")
    void secretsAreHashed() throws Exception {
        Answer registered = api.register("rosa", "plain-password-of-rosa").is(201);
        String[] login = Api.bearer(
                api.login("rosa@example.com", "plain-password-of-rosa").text("access_token"));
        String key = api.send("POST", "/developers/me/apikeys", "{}", login).text("plain_api_key");
        String token = verificationLink("rosa").replaceFirst(".*=", "");
        List<String> stored = stored();
        assertThat(stored).anyMatch(row -> row.contains("$argon2id$v=19$m=19456,t=2,p=1$"));
        for (String secret : List.of("plain-password-of-rosa", key, token, registered.text("recovery_keys", 0))) {
            assertThat(stored).noneMatch(row -> row.contains(secret));
        }
    }

    private List<String> stored() {
        try (Database database = Database.openForReading(directory)) {
            return database.read(session -> {
                var rows = new ArrayList<String>();
                for (String table : List.of(
                        "SELECT name || email || password || coalesce(token_hash, '') FROM registry_developer",
                        "SELECT hash FROM registry_recovery_key",
                        "SELECT hash FROM registry_developer_key",
                        "SELECT id || content FROM extension_timer",
                        "SELECT action || target || detail FROM audit")) {
                    rows.addAll(session.list(row -> row.getString(1), table));
                }
                return rows;
            });
        }
    }
}

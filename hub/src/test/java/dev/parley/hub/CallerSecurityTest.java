package dev.parley.hub;

import static dev.parley.hub.SecurityTarget.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.SecurityOperation.Answer;
import dev.parley.hub.SecurityTarget.Inside;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Security checks of who calls and what they may do; each is named by its row in {@code docs/security.md}. */
@Tag("security")
@ExtendWith(SecurityTable.class)
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CallerSecurityTest {
    private static final String SOMETHING = "/agents/interview/tasks";

    private static final List<String> OF_OPERATORS = List.of(
            "/admin/keys",
            "/admin/users",
            "/admin/groups",
            "/admin/audit",
            "/admin/webhooks/dead",
            "/admin/tasks/unreadable",
            "/admin/knowledge/reviews",
            "/metrics");

    /** The operations that are about a task. */
    private static final EnumSet<SecurityOperation> ABOUT_TASKS =
            EnumSet.complementOf(EnumSet.of(SecurityOperation.LIST_TASKS, SecurityOperation.GET_EXTENDED_AGENT_CARD));

    private final SecurityTarget target = SecurityTarget.ONE;
    private final ManagedChannel channel = target.channel();

    @AfterAll
    void stop() {
        channel.shutdownNow();
    }

    // ---- Authentication

    @Test
    @DisplayName("S1: without credentials every operation is refused over every binding, and told what is needed")
    void whoShowsNothingIsRefused() {
        for (SecurityOperation operation : SecurityOperation.values()) {
            String id = UUID.randomUUID().toString();
            for (Answer refused : List.of(operation.overJsonRpc(target, id), operation.overRest(target, id))) {
                assertThat(refused.status()).as(operation.name()).isEqualTo("401");
                assertThat(refused.challenge())
                        .as(operation.name())
                        .contains("ApiKey", "Bearer", "resource_metadata=\"");
            }
            Answer refused = operation.overGrpc(channel, id);
            assertThat(refused.status()).as(operation.name()).isEqualTo("UNAUTHENTICATED");
            assertThat(refused.challenge()).as(operation.name()).contains("resource_metadata");
        }
        assertThat(target.send("GET", "/agents/interview/.well-known/agent-card.json", "")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    @DisplayName("S2: what protects the resource is told")
    void theResourceIsDescribed() {
        HttpResponse<String> answer = target.send("GET", "/.well-known/oauth-protected-resource", "");

        Shown document = Shown.of(answer.body());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(document.at("resource").text()).isEqualTo(target.url());
        if (target.isInside()) { // another may take nothing but keys, which nobody issues
            assertThat(document.at("authorization_servers").size()).isPositive();
        }
    }

    private JWTClaimsSet claims(UnaryOperator<JWTClaimsSet.Builder> change) {
        Instant now = Instant.now();
        String issuer = target.isInside() ? target.inside().issuer() : target.url();
        return change.apply(new JWTClaimsSet.Builder()
                        .issuer(issuer)
                        .audience(target.url())
                        .subject("alice")
                        .issueTime(Date.from(now))
                        .expirationTime(Date.from(now.plusSeconds(300))))
                .build();
    }

    private String signed(JWSHeader header, JWSSigner by, UnaryOperator<JWTClaimsSet.Builder> change) throws Exception {
        var token = new SignedJWT(header, claims(change));
        token.sign(by);
        return token.serialize();
    }

    /** A token of the issuer that the hub trusts: what is wrong with it is the change alone. */
    private String issued(UnaryOperator<JWTClaimsSet.Builder> change) throws Exception {
        Inside inside = target.inside();
        var header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first").build();
        return signed(header, new RSASSASigner(inside.issuerKey()), change);
    }

    private int statusWith(String token) {
        return target.send("GET", SOMETHING, "", "Authorization", "Bearer " + token, "A2A-Version", "1.0")
                .statusCode();
    }

    @Test
    @DisplayName("S3: a token without signature is refused")
    void aTokenWithoutSignatureIsRefused() {
        assertThat(statusWith(new PlainJWT(claims(claims -> claims)).serialize()))
                .isEqualTo(401);
    }

    @Test
    @DisplayName("S4: the public key is not a secret to sign with")
    void aPublicKeyIsNoSecret() throws Exception {
        RSAKey key = target.isInside() ? target.inside().issuerKey() : new RSAKeyGenerator(2048).generate();
        var header = new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("first").build();
        var signer = new MACSigner(key.toRSAPublicKey().getEncoded());

        assertThat(statusWith(signed(header, signer, claims -> claims))).isEqualTo(401);
    }

    @Test
    @DisplayName("S5: a token does not say which keys count, and nothing is fetched for it")
    void aTokenDoesNotBringItsKey() throws Exception {
        RSAKey strangers = new RSAKeyGenerator(2048).keyID("first").generate();
        var signer = new RSASSASigner(strangers);
        try (var trap = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            URI there = URI.create("http://127.0.0.1:" + trap.getLocalPort() + "/keys");
            var header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first");

            assertThat(statusWith(signed(header.jwkURL(there).build(), signer, claims -> claims)))
                    .isEqualTo(401);
            assertThat(statusWith(signed(header.x509CertURL(there).build(), signer, claims -> claims)))
                    .isEqualTo(401);
            assertThat(statusWith(signed(header.jwk(strangers.toPublicJWK()).build(), signer, claims -> claims)))
                    .isEqualTo(401);

            // Whoever had come would be in the queue of the socket by now, for the answers are here.
            trap.setSoTimeout(1);
            assertThat(comes(trap)).isFalse();
        }
    }

    private static boolean comes(ServerSocket trap) throws IOException {
        try (var guest = trap.accept()) {
            return guest.isConnected();
        } catch (SocketTimeoutException nobody) {
            return false;
        }
    }

    @Test
    @DisplayName("S6, S8: a token for others, of others, or of another kind is refused")
    void aTokenForOthersIsRefused() throws Exception {
        assertThat(statusWith(issued(claims -> claims))).isEqualTo(200);

        assertThat(statusWith(issued(claims -> claims.audience("https://elsewhere.example"))))
                .isEqualTo(401);
        assertThat(statusWith(issued(claims -> claims.audience((String) null)))).isEqualTo(401);
        assertThat(statusWith(issued(claims -> claims.issuer("https://elsewhere.example"))))
                .isEqualTo(401);
        var idToken = new JWSHeader.Builder(JWSAlgorithm.RS256)
                .keyID("first")
                .type(new JOSEObjectType("dpop+jwt"))
                .build();
        var signer = new RSASSASigner(target.inside().issuerKey());
        assertThat(statusWith(signed(idToken, signer, claims -> claims))).isEqualTo(401);
    }

    @Test
    @DisplayName("S7: a token that has ended, or has not begun, is refused")
    void aTokenHasItsTime() throws Exception {
        Instant now = Instant.now();

        assertThat(statusWith(issued(claims -> claims.expirationTime(Date.from(now.minusSeconds(61))))))
                .isEqualTo(401);
        assertThat(statusWith(issued(claims -> claims.notBeforeTime(Date.from(now.plusSeconds(90))))))
                .isEqualTo(401);
    }

    @Test
    @DisplayName("S9: another group's name in the request opens nothing")
    void theNameOfAGroupOpensNothing() {
        String id = target.task("alice", "interview");
        String mallory = target.key("mallory");
        for (String tenant : List.of("T1", "alice", "interview")) {
            String params = "{'tenant':'" + tenant + "','id':'" + id + "'}";
            assertThat(target.rpc("interview", "GetTask", params, mallory).body())
                    .as(tenant)
                    .contains("\"error\"")
                    .doesNotContain("history");
        }
        assertThat(target.send("GET", "/T1" + SOMETHING + "/" + id, "", "X-Api-Key", mallory, "A2A-Version", "1.0")
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    @DisplayName("S13: a key in the address is not accepted")
    void aKeyInTheAddressIsNone() {
        for (String name : List.of("api_key", "apiKey", "key", "X-Api-Key", "access_token")) {
            assertThat(target.send("GET", SOMETHING + "?" + name + "=" + target.key("alice"), "", "A2A-Version", "1.0")
                            .statusCode())
                    .as(name)
                    .isEqualTo(401);
        }
    }

    @Test
    @DisplayName("S14: who guesses is not listened to for a while, others are")
    void whoGuessesHasToWait() throws Exception {
        // From an address of its own, for what it is denied would be denied to the other checks too.
        boolean here = URI.create(target.url()).getHost().equals("127.0.0.1");
        assumeTrue(here, "needs a second address");
        try (HttpClient guesser = HttpClient.newBuilder()
                .localAddress(InetAddress.getByName("127.0.0.2"))
                .build()) {
            var refusals = new ArrayList<HttpResponse<String>>();
            for (int i = 0; i < 50; i++) {
                refusals.add(SecurityTarget.send(
                        guesser, target.request("GET", SOMETHING, "", "X-Api-Key", "guess-number-000000" + i)));
            }

            assertThat(refusals.getFirst().statusCode()).isEqualTo(401);
            assertThat(refusals.getLast().statusCode()).isEqualTo(429);
            assertThat(refusals.getLast()
                            .headers()
                            .firstValueAsLong("Retry-After")
                            .orElse(0))
                    .isPositive();
        }
        assertThat(target.send("GET", SOMETHING, "", "X-Api-Key", target.key("alice"), "A2A-Version", "1.0")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    @DisplayName("S15: a key that was revoked is refused within five seconds")
    void aRevokedKeyIsRefused() {
        String admin = target.key("admin");
        String dave = target.newKey("T1", "dave");
        assertThat(target.rpc("interview", "ListTasks", "{}", dave).statusCode())
                .isEqualTo(200);

        String id = dave.split("_", -1)[1];
        target.send("POST", "/admin/keys/" + id + "/revoke", "{}", "X-Api-Key", admin);

        assertThat(target.rpc("interview", "ListTasks", "{}", dave).statusCode())
                .isEqualTo(401);
    }

    // ---- Authorization

    @Test
    @DisplayName("S17, S18, S19, S20: what belongs to others is answered as what never was, over every binding")
    void whatBelongsToOthersDoesNotExist() {
        String id = target.task("alice", "interview");
        String alice = target.key("alice");
        SecurityOperation.CREATE_TASK_PUSH_NOTIFICATION_CONFIG.overJsonRpc(target, id, alice);
        String never = UUID.randomUUID().toString();
        for (String stranger : List.of(target.key("mallory"), target.key("bob"))) {
            for (SecurityOperation operation : ABOUT_TASKS) {
                assertThat(operation.overJsonRpc(target, id, stranger))
                        .as(operation.name())
                        .isEqualTo(operation.overJsonRpc(target, never, stranger));
                assertThat(operation.overRest(target, id, stranger))
                        .as(operation.name())
                        .isEqualTo(operation.overRest(target, never, stranger));
                Answer overGrpc = operation.overGrpc(channel, id, stranger);
                assertThat(overGrpc).as(operation.name()).isEqualTo(operation.overGrpc(channel, never, stranger));
                assertThat(overGrpc.status()).as(operation.name()).isEqualTo("NOT_FOUND");
            }
        }
        assertThat(SecurityOperation.GET_TASK.overRest(target, id, alice).said())
                .contains("TASK_STATE_INPUT_REQUIRED");
        assertThat(SecurityOperation.GET_TASK_PUSH_NOTIFICATION_CONFIG
                        .overRest(target, id, alice)
                        .status())
                .isEqualTo("200");
    }

    @Test
    @DisplayName("S17: how long it takes to say so tells nothing")
    void othersTasksTakeAsLongAsThoseThatNeverWere() {
        String others = target.task("alice", "interview");
        String never = UUID.randomUUID().toString();
        String mallory = target.key("mallory");
        int pairs = 500;
        int longer = 0;
        for (int i = 0; i < pairs; i++) {
            // In turn, so that what else the machine does falls on both alike: by chance it is half of them.
            boolean othersFirst = i % 2 == 0;
            long first = nanos(othersFirst ? others : never, mallory);
            long second = nanos(othersFirst ? never : others, mallory);
            longer += (first > second) == othersFirst ? 1 : 0;
        }

        assertThat((double) longer / pairs).isBetween(0.25, 0.75);
    }

    private long nanos(String task, String key) {
        long before = System.nanoTime();
        target.rpc("interview", "GetTask", "{'id':'" + task + "'}", key);
        return System.nanoTime() - before;
    }

    @Test
    @DisplayName("S21: lists have one's own tasks alone, and their tokens are of no use to others")
    void listsHaveOnesOwnTasksAlone() {
        String id = target.task("alice", "interview");
        target.task("alice", "interview");
        String context = Shown.of(target.rpc("interview", "GetTask", "{'id':'" + id + "'}", target.key("alice"))
                        .body())
                .at("result", "contextId")
                .text();
        String token = Shown.of(target.rpc("interview", "ListTasks", "{'pageSize':1}", target.key("alice"))
                        .body())
                .at("result", "nextPageToken")
                .text();
        String mallory = target.key("mallory");

        assertThat(target.rpc("interview", "ListTasks", "{}", mallory).body()).doesNotContain(id);
        assertThat(Shown.of(target.rpc("interview", "ListTasks", "{'contextId':'" + context + "'}", mallory)
                                .body())
                        .at("result", "totalSize")
                        .value())
                .isEqualTo(0);
        assertThat(target.rpc("interview", "ListTasks", "{'pageSize':1,'pageToken':'" + token + "'}", mallory)
                        .body())
                .contains("-32602");
        assertThat(target.rpc(
                                "interview",
                                "ListTasks",
                                "{'pageSize':1,'pageToken':'" + token + "'}",
                                target.key("alice"))
                        .statusCode())
                .isEqualTo(200);
        assertThat(target.rpc("interview", "SendMessage", message("hello", ",'contextId':'" + context + "'"), mallory)
                        .body())
                .doesNotContain(id);
    }

    @Test
    @DisplayName("S24: operators' addresses are not for users")
    void operatorsAddressesAreNotForUsers() {
        for (String path : OF_OPERATORS) {
            assertThat(target.send("GET", path, "", "X-Api-Key", target.key("alice"))
                            .statusCode())
                    .as(path)
                    .isEqualTo(403);
            assertThat(target.send("GET", path, "").statusCode()).as(path).isEqualTo(401);
        }
        assertThat(target.send(
                                "POST",
                                "/admin/keys",
                                "{'group':'T1','principal':'alice','scopes':['admin']}",
                                "X-Api-Key",
                                target.key("alice"))
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    @DisplayName("S81: operators' addresses and metrics are on a port of their own alone")
    void operatorsHaveAPortOfTheirOwn() {
        String admin = target.key("admin");
        String operators = target.adminUrl();
        for (String path : OF_OPERATORS) {
            assertThat(SecurityTarget.get(target.url(), path, admin)).as(path).isEqualTo(404);
        }
        assertThat(SecurityTarget.get(operators, "/admin/keys", admin)).isEqualTo(200);
        assertThat(SecurityTarget.get(operators, SOMETHING, target.key("alice")))
                .isEqualTo(404);
    }

    @Test
    @DisplayName("S26: what a group knows is neither shown to another nor counted for it")
    void whatAGroupKnowsIsItsOwn() {
        String secret = "ex:secret-" + UUID.randomUUID();
        String add = "{'mutations':[{'op':'add','statement':{'subject':{'id':'" + secret
                + "'},'predicate':{'id':'ex:q'},'object':{'value':'o'}}}]}";
        assertThat(target.rpc("echo", "knowledge/update", add, target.key("alice"))
                        .body())
                .contains("\"success\":true");
        String ask = "{'queryLanguage':'sparql','query':'SELECT (COUNT(*) AS ?n) { <" + secret + "> ?p ?o }'}";

        String shown =
                target.rpc("echo", "knowledge/query", ask, target.key("bob")).body();
        String hidden = target.rpc("echo", "knowledge/query", ask, target.key("mallory"))
                .body();

        assertThat(shown).contains("\"value\":\"1\"");
        assertThat(hidden).contains("\"value\":\"0\"");
        String all = "{'queryLanguage':'sparql','query':'SELECT ?s { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }'}";
        assertThat(target.rpc("echo", "knowledge/query", all, target.key("mallory"))
                        .body())
                .doesNotContain(secret)
                .contains("\"bindings\":[]");
        assertThat(target.rpc("echo", "knowledge/update", add.replace("'add'", "'remove'"), target.key("mallory"))
                        .body())
                .doesNotContain("\"affectedIds\":[\"" + secret);
        assertThat(target.rpc("echo", "knowledge/query", ask, target.key("bob")).body())
                .contains("\"value\":\"1\"");
    }
}

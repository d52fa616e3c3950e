package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code card sign}, {@code card verify} and {@code card key}, and what other commands make of signatures. */
@Timeout(60)
class CardSignaturesTest {
    private static final String PEM = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";

    @TempDir
    Path directory;

    private ScriptedServer agent;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        agent = new ScriptedServer();
        shell = new Shell(directory);
        assertThat(shell.run("card", "key", "create", "key.json").status()).isZero();
        write("trusted.json", shell.run("card", "key", "public", "key.json").out());
        write("card.json", agent.card(true, ""));
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    @Test
    @DisplayName("GEM07: a card that was signed is verified by the public half of the key")
    void aSignedCardIsVerified() throws IOException {
        write(
                "signed.json",
                shell.run("card", "sign", "card.json", "--key", "key.json").out());

        Shell.Ran text = shell.run("card", "verify", "signed.json", "--trust", "trusted.json");
        Shell.Ran json = shell.run("card", "verify", "signed.json", "--trust", "trusted.json", "-o", "json");

        assertThat(text.status()).as(text.err()).isZero();
        assertThat(text.out()).matches("""
                        Card: .*/signed.json
                        Outcome: VERIFIED
                        Key-ID: ([\\w-]{43})
                        Reason: key \\1 has signed it \\(ES256\\)
                        """);
        assertThat(json.out())
                .matches("\\{\"card\":\"[^\"]*signed.json\",\"outcome\":\"VERIFIED\",\"keyId\":\"[\\w-]{43}\","
                        + "\"reason\":\"[^\"]*\"}\n");
    }

    @Test
    void aFileOfKeysTellsNoHost() {
        assertThat(shell.run("card", "key", "fetch", "trusted.json").err()).contains("name the hosts: --host HOST");
        assertThat(shell.run("card", "key", "fetch", "trusted.json", "--host", "a.example,b.example")
                        .out())
                .contains("\"a.example\"", "\"b.example\"");
        assertThat(shell.run("card", "key", "fetch", "card.json", "--host", "a.example")
                        .err())
                .contains("no key");
    }

    @Test
    @DisplayName("S40: a set of keys that was fetched frees none of them from its host")
    void aFetchedSetFreesNoKeyFromItsHost() throws IOException {
        String keys = Files.readString(directory.resolve("trusted.json"));
        String id = keys.replaceFirst("(?s).*\"kid\": \"([^\"]*)\".*", "$1");
        String pem = "\\u002d----BEGIN PUBLIC KEY-----" + PEM + "-----END PUBLIC KEY-----";
        agent.showing(shell.run("card", "sign", "card.json", "--key", "key.json", "-o", "json")
                .out());

        agent.publishing(keys.replaceFirst("\\{", "{\"note\":\"" + pem.replace("\\", "\\\\") + "\","));
        write(
                "bound.json",
                shell.run("card", "key", "fetch", agent.url(), "--host", "other.example")
                        .out());
        assertThat(shell.run("card", "verify", agent.url(), "--trust", "bound.json")
                        .err())
                .contains("PARLEY_ERR_CARD_UNVERIFIABLE", "is trusted for other.example, not for 127.0.0.1");

        write("named.json", keys.replace(id, pem));
        assertUsage(shell.run("card", "key", "fetch", "named.json", "--host", "other.example"), "kid: blanks in it");
        assertUsage(shell.run("card", "verify", agent.url(), "--trust", "named.json"), "kid: blanks in it");
    }

    @Test
    void keysAreFetchedFromPlacesOfKeysForHostsThatCardsHave() throws IOException {
        Files.createDirectories(directory.resolve("agents.example/.well-known"));
        write("agents.example/.well-known/jwks.json", "{}");
        String here = agent.url();

        for (String place : List.of(here + "/x?y=.json", here + "/a#b", "user@127.0.0.1", "ftp://a.example", "a b")) {
            assertUsage(shell.run("card", "key", "fetch", place), place + ": no publisher of keys (expected: a host");
        }
        assertUsage(
                shell.run("card", "key", "fetch", "http://0.0.0.0:1"),
                "could be replaced on the network (expected: https");
        assertUsage(shell.run("card", "key", "fetch", "127.0.0.1:99999"), "port 99999 in ");
        assertUsage(shell.run("card", "key", "fetch", "localhost."), "invalid host: localhost. (expected: such as");
        assertUsage(shell.run("card", "key", "fetch", "./none.json", "--host", "a.example"), "cannot read ");
        for (String host :
                List.of("*", "*.example", "https://h:8443", "h:8443", "h.", "h/x", "u@h", "a b", "b\u00fc.example")) {
            assertUsage(shell.run("card", "key", "fetch", "trusted.json", "--host", host), "invalid host: " + host);
        }
        for (String none : List.of("", ",")) {
            assertUsage(shell.run("card", "key", "fetch", "trusted.json", "--host", none), "invalid --host: none");
        }

        Shell.Ran absent = shell.run("card", "key", "fetch", here);
        assertThat(absent.status()).isEqualTo(1);
        assertThat(absent.err()).contains("no keys at " + here + "/.well-known/jwks.json (status 404)");
        Shell.Ran nobody = shell.run("card", "key", "fetch", "agents.example:1");
        assertThat(nobody.status()).isEqualTo(3);
        assertThat(absent.err() + nobody.err()).doesNotContain("card given", "-a");
    }

    @Test
    void aSignedCardIsShownInFullOrOnOneLine() {
        Shell.Ran text = shell.run("card", "sign", "card.json", "--key", "key.json", "--jku", "https://a.example/keys");
        Shell.Ran json = shell.run("card", "sign", "card.json", "--key", "key.json", "-o", "json");

        assertThat(text.out()).startsWith("{\n  \"name\": \"scripted\",").contains("\n      \"protected\": \"eyJ");
        assertThat(json.out())
                .startsWith(agent.card(true, "").replaceFirst("}$", ",\"signatures\":[{\"protected\":\"eyJ"));
        assertThat(json.out().lines()).hasSize(1);
    }

    @Test
    @DisplayName("S41: a changed, an unsigned and a stranger's card are told apart")
    void badCardsAreToldApart() throws IOException {
        String signed =
                shell.run("card", "sign", "card.json", "--key", "key.json").out();
        shell.run("card", "key", "create", "other.json", "--alg", "EdDSA", "--expires", "365d");
        write("tampered.json", signed.replace("scripted", "crippled"));
        write(
                "strange.json",
                shell.run("card", "sign", "card.json", "--key", "other.json").out());

        assertThat(refused("card", "verify", "tampered.json"))
                .contains("is TAMPERED: key ", "(PARLEY_ERR_CARD_TAMPERED)", "Hint: do not use it");
        assertThat(refused("card", "verify", "strange.json"))
                .contains(
                        "is UNVERIFIABLE: key ", "is not trusted (PARLEY_ERR_CARD_UNVERIFIABLE)", "Hint: get the key");
        assertThat(refused("card", "verify", "card.json"))
                .contains(
                        "is UNSIGNED: it has no signatures (PARLEY_ERR_CARD_UNSIGNED)", "Hint: its owner can sign it");
        assertThat(shell.run("card", "verify", "tampered.json", "--trust", "trusted.json", "-o", "json")
                        .out())
                .startsWith("{\"error\":{\"code\":\"PARLEY_ERR_CARD_TAMPERED\"");
    }

    @Test
    void whatIsMissingIsSaid() throws IOException {
        write("no-card.json", "{}");
        write("no-key.json", "{}");

        assertUsage(shell.run("card", "verify", "card.json"), "no keys to verify by");
        assertUsage(shell.run("card", "verify", "card.json", "--trust", "none.json"), "--trust: cannot read ");
        assertUsage(shell.run("card", "verify", "card.json", "--trust", "no-key.json"), "no key (expected: a JWK");
        assertUsage(shell.run("card", "sign", "card.json"), "parley card key create FILE makes one");
        assertUsage(shell.run("card", "sign", "card.json", "--key", "trusted.json"), "expected: a private key");
        assertUsage(shell.run("card", "key", "create", "x.json", "--alg", "HS256"), "expected: ES256 or EdDSA");
        assertUsage(shell.run("card", "key", "create", "x.json", "--expires", "soon"), "expected: a duration");
        assertUsage(
                shell.run("task", "get", "t1", "-a", agent.url(), "--card-signatures", "require"), "give --trust FILE");
        assertThat(shell.run("card", "key", "create", "key.json").err()).contains("keys are not overwritten");
        assertThat(shell.run("card", "sign", "no-card.json", "--key", "key.json")
                        .err())
                .contains("A2ACLI_ERR_CARD_INVALID");
        assertThat(shell.run("card", "verify", "no-card.json", "--trust", "trusted.json")
                        .err())
                .contains("A2ACLI_ERR_CARD_INVALID");
        assertThat(shell.run("card", "sign", "none.json", "--key", "key.json").err())
                .contains("A2ACLI_ERR_CARD_NOT_FOUND");
    }

    @Test
    @DisplayName("GEM07: an agent whose card is not verified is not called, unless that is meant")
    void anAgentWhoseCardIsNotVerifiedIsNotCalled() {
        Shell.Ran required = shell.run("task", "get", "t1", "-a", agent.url(), "--trust", "trusted.json");
        assertThat(required.status()).isEqualTo(1);
        assertThat(required.err()).contains("PARLEY_ERR_CARD_UNSIGNED");
        assertThat(agent.asked()).isEmpty();

        Shell.Ran warned = shell.run(
                "task", "get", "t1", "-a", agent.url(), "--trust", "trusted.json", "--card-signatures", "warn");
        assertThat(warned.err()).contains("Warning: the card " + agent.url(), " is UNSIGNED");
        assertThat(agent.asked()).hasSize(1);

        Shell.Ran off = shell.with("A2ACLI_TRUST", "trusted.json")
                .run("task", "get", "t1", "-a", agent.url(), "--card-signatures", "off");
        assertThat(off.err()).doesNotContain("UNSIGNED");
        assertThat(agent.asked()).hasSize(2);
    }

    @Test
    void anAgentWhoseCardIsVerifiedIsCalled() {
        agent.showing(shell.run("card", "sign", "card.json", "--key", "key.json", "-o", "json")
                .out());

        shell.run("task", "get", "t1", "-a", agent.url(), "--trust", "trusted.json");

        assertThat(agent.asked()).hasSize(1);
    }

    @Test
    void aPageAboutACardTellsOfItsSignatures() {
        agent.showing(shell.run("card", "sign", "card.json", "--key", "key.json", "-o", "json")
                .out());

        assertThat(shell.run("card", "get", "-a", agent.url()).out()).contains("Signatures: present, not verified\n");
        assertThat(shell.run("card", "get", "-a", agent.url(), "--trust", "trusted.json")
                        .out())
                .contains("Signatures: verified, key ");
    }

    private String refused(String... command) {
        String[] all = Arrays.copyOf(command, command.length + 2);
        all[command.length] = "--trust";
        all[command.length + 1] = "trusted.json";
        Shell.Ran ran = shell.run(all);
        assertThat(ran.status()).isEqualTo(1);
        return ran.err();
    }

    private static void assertUsage(Shell.Ran ran, String message) {
        assertThat(ran.status()).as(ran.err()).isEqualTo(2);
        assertThat(ran.err()).contains(message);
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
    }
}

package dev.parley.outbound;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.outbound.http.HostName;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRuleTest {
    private static final Map<String, List<String>> NAMES = Map.of(
            "hooks.example.com", List.of("93.184.216.34", "2606:2800:220:1::1"),
            "inside.example.com", List.of("10.1.2.3"),
            "half.example.com", List.of("93.184.216.34", "169.254.169.254"),
            "mapped.example.com", List.of("64:ff9b::10.0.0.1"),
            "localhost", List.of("127.0.0.1", "::1"),
            "db.internal", List.of("93.184.216.34"),
            "xn--bcher-kva.example", List.of("93.184.216.34"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://hooks.example.com/a?b=c",
                "http://hooks.example.com:8080/",
                "HTTPS://HOOKS.example.com.",
                "https://bücher.example/",
                "https://93.184.216.34/",
                "https://[2606:2800:220:1::1]:8443/x",
            })
    void aWebhookMayGoToAPublicHost(String url) {
        assertThatCode(() -> rule().check("T1", url)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1/",
                "http://localhost:9000/",
                "http://LocalHost./",
                "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
                "http://db.internal/",
                "http://10.0.0.1/",
                "http://172.16.0.1/",
                "http://192.168.1.1/",
                "http://169.254.169.254/latest/meta-data",
                "http://100.64.0.1/",
                "http://0.0.0.0/",
                "http://224.0.0.1/",
                "http://2130706433/",
                "http://0177.1/",
                "http://0x7f.1/",
                "http://127.1/",
                "http://１２７.0.0.1/",
                "http://[::1]/",
                "http://[::]/",
                "http://[::ffff:127.0.0.1]/",
                "http://[64:ff9b::7f00:1]/",
                "http://[64:ff9b:1::1]/",
                "http://[2002:7f00:1::]/",
                "http://[fe80::1]/",
                "http://[fd00::1]/",
                "https://inside.example.com/",
                "https://INSIDE.example.com./",
                "https://half.example.com/",
                "https://mapped.example.com/",
            })
    void aWebhookMayNotGoWhereOnlyThisServerCanReach(String url) {
        assertThat(problem(rule(), url)).contains("webhook-allow");
    }

    @ParameterizedTest
    @CsvSource({
        "file:///etc/passwd, scheme: file",
        "ftp://hooks.example.com/, scheme: ftp",
        "gopher://hooks.example.com/, scheme: gopher",
        "jar:http://hooks.example.com/a.jar!/, scheme: jar",
        "'data:text/plain,x', scheme: data",
        "//hooks.example.com/, scheme: null",
        "hooks.example.com/, scheme: null",
        "http:hooks.example.com, has no host",
        "http:///path, has no host",
        "http://:80/, host: no host",
        "http://user@hooks.example.com/, must not carry a user name or password",
        "http://user:pass@hooks.example.com/, must not carry a user name or password",
        "http://hooks.example.com@127.0.0.1/, must not carry a user name or password",
        "http://hooks.example.com:0/, port: 0",
        "http://hooks.example.com:65536/, port: 65536",
        "http://hooks.example.com:80:80/, no IPv6 address",
        "http://[fe80::1%25eth0]/, no IPv6 address",
        "http://hooks.example.com\\@127.0.0.1/, is no URL",
        "http://hooks example.com/, is no URL",
        "http://%6c%6f%63alhost/, no valid host name",
    })
    void anAddressThatIsNoWebhookIsRefusedWithItsReason(String url, String reason) {
        assertThat(problem(rule(), url)).contains(reason);
    }

    @Test
    void anEndlessAddressIsRefused() {
        assertThat(problem(rule(), "https://hooks.example.com/" + "a".repeat(2048)))
                .contains("2074 characters");
    }

    @Test
    void aHostThatCannotBeFoundYetMayBeRegistered() {
        assertThatCode(() -> rule().check("T1", "https://nowhere.example.com/")).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://printer.local/", "http://nowhere.internal/", "http://router.home.arpa./"})
    void aLocalNameIsRefusedAlsoWhileItCannotBeFound(String url) {
        assertThat(problem(rule(), url)).contains("is a local name");
    }

    @Test
    void aRefusalDoesNotTellWhereANameLeads() {
        assertThat(problem(rule(), "https://inside.example.com/"))
                .contains("inside.example.com is not public")
                .doesNotContain("10.1.2.3", "private");
    }

    @Test
    void lookUpsOfOneGroupThatNeverEndHoldUpNoOtherGroup() throws Exception {
        AddressRule rule = AddressRule.allowing(List.of(), "webhook-allow", name -> {
            if (name.startsWith("silent")) {
                awaitInNativeCode();
            }
            return lookup(name);
        });
        var asking = new ArrayList<Thread>();
        try {
            for (int i = 0; i < 100; i++) {
                String url = "https://silent-" + i + ".example.com/";
                asking.add(Thread.startVirtualThread(() -> rule.check("hostile", url)));
            }
            SilentResolver.ASKED.acquire(Math.min(8, Runtime.getRuntime().availableProcessors()));

            // The other group's look-up is answered while those of the first one hold all threads that they can get.
            assertThat(problem(rule, "https://inside.example.com/")).contains("inside.example.com is not public");
            // No caller waits on a thread that carries others.
            assertThat(Thread.startVirtualThread(() -> {}).join(Duration.ofSeconds(30)))
                    .isTrue();

            // Each caller gets its answer though its name server gives none: a host that cannot be found now passes.
            for (Thread thread : asking) {
                assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
            }
        } finally {
            SilentResolver.ANSWER.countDown();
        }
    }

    /** Waits as a resolver in native code does: no interrupt ends it, and a virtual thread keeps its carrier. */
    private static void awaitInNativeCode() {
        try (InputStream waiting = AddressRuleTest.class.getResourceAsStream("AddressRuleTest$Waiting.class")) {
            // Each copy of the class is initialised in native code.
            MethodHandles.lookup()
                    .defineHiddenClass(requireNonNull(waiting, "class").readAllBytes(), true);
        } catch (IOException | IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** What the copies of {@link Waiting} share. */
    static final class SilentResolver {
        static final Semaphore ASKED = new Semaphore(0);
        static final CountDownLatch ANSWER = new CountDownLatch(1);

        private SilentResolver() {}

        static boolean await() {
            ASKED.release();
            while (ANSWER.getCount() > 0) {
                try {
                    ANSWER.await();
                } catch (InterruptedException ignored) {
                    // goes on waiting
                }
            }
            return true;
        }
    }

    /** Waits when it is initialised. */
    static final class Waiting {
        static final boolean DONE = SilentResolver.await();

        private Waiting() {}
    }

    @ParameterizedTest
    @CsvSource({
        "inside.example.com, https://inside.example.com/",
        "Inside.Example.com., https://inside.example.com/",
        "10.1.2.3, https://inside.example.com/",
        "10.1.0.0/16, http://10.1.2.3/",
        "localhost, http://localhost:9000/",
        "localhost, http://127.0.0.1:9000/",
        "localhost, http://[::1]:9000/",
        "127.0.0.1, http://127.0.0.1:9000/",
        "127.0.0.1, http://2130706433/",
        "[::1], http://[::1]/",
        "bücher.example, https://xn--bcher-kva.example/",
        "db.internal, http://db.internal/",
    })
    void theOperatorCanAllowAHost(String allowed, String url) {
        AddressRule rule =
                AddressRule.allowing(List.of("other.example.com", allowed), "webhook-allow", AddressRuleTest::lookup);

        assertThatCode(() -> rule.check("T1", url)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "example.com, https://inside.example.com/",
        "127.0.0.1, http://localhost/",
        "127.0.0.1, http://127.0.0.2/",
        "169.254.169.0/30, https://half.example.com/",
        "localhost, http://10.0.0.1/",
    })
    void whatIsAllowedOpensNothingElse(String allowed, String url) {
        AddressRule rule = AddressRule.allowing(List.of(allowed), "webhook-allow", AddressRuleTest::lookup);

        assertThat(problem(rule, url)).contains("webhook-allow");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "10.0.0.0/40", "http://localhost", "*.example.com"})
    void anEntryThatIsNoHostIsRefusedAtOnce(String entry) {
        assertThatThrownBy(() -> AddressRule.allowing(List.of(entry)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected:");
    }

    private static AddressRule rule() {
        return AddressRule.allowing(List.of(), "webhook-allow", AddressRuleTest::lookup);
    }

    private static InetAddress[] lookup(String name) throws UnknownHostException {
        List<String> addresses = NAMES.get(name);
        if (addresses == null) {
            throw new UnknownHostException(name);
        }
        var found = new InetAddress[addresses.size()];
        for (int i = 0; i < found.length; i++) {
            found[i] =
                    InetAddress.getByAddress(HostName.literal(addresses.get(i)).orElseThrow());
        }
        return found;
    }

    private static String problem(AddressRule rule, String url) {
        A2AException refusal = refusal(() -> rule.check("T1", url));
        assertThat(refusal.violations().getFirst().field()).isEqualTo("url");
        return refusal.violations().getFirst().description();
    }

    private static A2AException refusal(Runnable check) {
        var refusal = org.assertj.core.api.Assertions.catchThrowableOfType(A2AException.class, check::run);
        assertThat(refusal).as("refusal").isNotNull();
        assertThat(refusal.error()).isEqualTo(A2AError.INVALID_PARAMS);
        return refusal;
    }
}

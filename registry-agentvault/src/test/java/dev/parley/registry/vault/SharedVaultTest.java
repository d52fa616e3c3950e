package dev.parley.registry.vault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.dialect.Json;
import dev.parley.extension.HubAgents;
import dev.parley.protocol.support.Hmac;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.store.Entries;
import dev.parley.registry.vault.VaultAccounts.Developer;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.trust.shared.Buckets;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Registries of AgentVault at two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedVaultTest {
    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Hub> hubs = new ArrayList<>();
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T10:00:30Z"));
    private Hub one;
    private Hub other;

    private record Hub(
            Database database, Entries entries, VaultAccounts accounts, VaultCards cards, CallLimiter calls) {
        Developer register(String name) {
            var unused = accounts.register(name, name + "@example.com", "a password", "");
            return accounts.byEmail(name + "@example.com").orElseThrow();
        }

        /** Whether a card could be made. */
        boolean create(Developer developer, String humanId) {
            try {
                var unused = cards.create(developer, card(humanId, humanId + " of " + developer.name()));
                return true;
            } catch (VaultException taken) {
                assertThat(taken.answer().status()).isEqualTo(409);
                return false;
            }
        }

        boolean admits(String address) {
            return catchThrowableOfType(VaultException.class, () -> calls.count(address, "cards-list")) == null;
        }
    }

    private static Map<String, @Nullable Object> card(String humanId, String name) {
        String json = Api.cardData(humanId, name, "").replace('\'', '"');
        return ValueRules.members(Json.read(json.getBytes(StandardCharsets.UTF_8), Map.class));
    }

    @BeforeEach
    void open() {
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        callers.close();
        hubs.forEach(hub -> {
            hub.cards().close();
            hub.entries().changes().log().close();
            hub.database().close();
        });
    }

    private Hub hub() {
        InstantSource clock = InstantSource.system();
        Database database = schema.shared();
        Entries entries = Entries.open(
                database, "agent.localhost", List.of(), (caller, agent) -> true, new NoParts(), new NoParts(), clock);
        var accounts = new VaultAccounts(
                database, new Tokens(Hmac.key(new byte[32]), clock), new Passwords(), clock, new NoParts());
        HubAgents none = (HubAgents) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {HubAgents.class}, (self, method, arguments) -> true);
        var cards = new VaultCards(database, entries, accounts, none);
        var hub = new Hub(database, entries, accounts, cards, new CallLimiter(now::get, Buckets.of(database)));
        hubs.add(hub);
        return hub;
    }

    @Test
    void aReadableIdIsGivenOnceByHubsThatGiveItAtOnce() throws Exception {
        Developer anna = one.register("anna");
        Developer ben = other.register("ben");
        for (int round = 0; round < 40; round++) {
            String humanId = "acme/agent-" + round;
            var first = CompletableFuture.supplyAsync(() -> one.create(anna, humanId), callers);
            var second = CompletableFuture.supplyAsync(() -> other.create(ben, humanId), callers);

            assertThat(List.of(first.get(30, TimeUnit.SECONDS), second.get(30, TimeUnit.SECONDS)))
                    .containsExactlyInAnyOrder(true, false);
        }
    }

    @Test
    void theOwnerOfACardIsShownAtTheOtherHub() {
        Developer anna = one.register("anna");
        assertThat(one.create(anna, "acme/agent")).isTrue();

        assertThat(other.cards().byHumanId("acme/agent")).containsEntry("developer_id", anna.id());
        assertThat(other.accounts().byEmail("anna@example.com")).contains(anna);
    }

    @Test
    void aRevokedKeyIsRefusedByTheOtherHub() {
        Developer anna = one.register("anna");
        var key = one.accounts().addKey(anna, "a key", null);
        assertThat(other.accounts().byKey("a key")).isPresent();

        assertThat(one.accounts().revokeKey(anna, key.id())).isTrue();

        assertThat(other.accounts().byKey("a key")).isEmpty();
    }

    @Test
    void callsOfAnAddressAreLimitedOverAllHubs() {
        for (int i = 0; i < CallLimiter.LIMIT; i++) {
            assertThat((i % 2 == 0 ? one : other).admits("192.0.2.1")).isTrue();
        }

        assertThat(one.admits("192.0.2.1")).isFalse();
        assertThat(other.admits("192.0.2.1")).isFalse();
        assertThat(other.admits("192.0.2.1")).as("from memory").isFalse();
        assertThat(other.admits("192.0.2.2")).isTrue();
        now.updateAndGet(before -> before.plus(Duration.ofMinutes(1)));
        assertThat(other.admits("192.0.2.1")).isTrue();
    }
}

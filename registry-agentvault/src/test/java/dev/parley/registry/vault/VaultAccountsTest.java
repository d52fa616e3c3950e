package dev.parley.registry.vault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.protocol.support.Hmac;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.vault.VaultAccounts.Developer;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers of accounts and keys, which other hubs on the database give, too. */
@Timeout(120)
final class VaultAccountsTest {
    @TempDir
    private Path directory;

    private @Nullable DataSource server;

    private @Nullable Database database;

    private void open(DatabaseKind kind) throws IOException {
        server = kind == DatabaseKind.POSTGRESQL ? PostgresqlServer.schema() : null;
        database = server == null ? Database.open(directory) : Database.open(server);
    }

    private Database database() {
        return Objects.requireNonNull(database, "opened first by each test");
    }

    @AfterEach
    void close() {
        database().close();
    }

    private VaultAccounts accounts() {
        InstantSource clock = InstantSource.system();
        return new VaultAccounts(
                database(), new Tokens(Hmac.key(new byte[32]), clock), new Passwords(), clock, new NoParts());
    }

    private static Developer registered(VaultAccounts accounts, String name) {
        assertThat(accounts.register(name, name + "@example.com", "a password", ""))
                .hasSize(3);
        return accounts.byEmail(name + "@example.com").orElseThrow();
    }

    private long number(String sql) {
        return database().read(session -> session.number(sql));
    }

    @ParameterizedTest
    @EnumSource
    void accountsOfAnEarlierSchemaKeepTheirNumbers(DatabaseKind kind) throws IOException {
        open(kind);
        VaultAccounts before = accounts();
        Developer anna = registered(before, "anna");
        long key = before.addKey(anna, "key", null).id();
        database().write(session -> {
            if (kind == DatabaseKind.POSTGRESQL) {
                session.once("ALTER TABLE registry_developer ALTER COLUMN developer_no DROP IDENTITY");
                session.once("ALTER TABLE registry_developer_key ALTER COLUMN key_no DROP IDENTITY");
            }
            return session.update("UPDATE module_version SET version = 1 WHERE module = 'registry-accounts'");
        });
        VaultAccounts accounts = accounts();

        Developer ben = registered(accounts, "ben");

        assertThat(accounts.byKey("key")).contains(anna);
        assertThat(ben.id()).isGreaterThan(anna.id());
        assertThat(accounts.addKey(ben, "another key", null).id()).isGreaterThan(key);
        assertThat(accounts.byVerification(accounts.verificationToken(ben).orElseThrow()))
                .contains(ben);
    }

    @Test
    void anAccountIsNumberedBesideThoseOfAnotherHub() throws Exception {
        open(DatabaseKind.POSTGRESQL);
        VaultAccounts accounts = accounts();
        Developer anna = registered(accounts, "anna");
        try (Connection another = Objects.requireNonNull(server).getConnection()) {
            another.setAutoCommit(false);
            another.createStatement().execute("""
                    INSERT INTO registry_developer (name, email, email_key, password, password_ms, created_ms, verified, expires_ms)
                        VALUES ('ben', 'ben@example.com', 'ben@example.com', '', 0, 0, 0, 0);
                    INSERT INTO registry_developer_key (developer_no, hash, created_ms, active) VALUES (2, 'hash', 0, 1)
                    """);
            accounts.addKey(anna, "key", null);
            registered(accounts, "carl");
            var refused = new CompletableFuture<@Nullable VaultException>();

            Thread.ofVirtual()
                    .start(() -> refused.complete(catchThrowableOfType(
                            VaultException.class,
                            () -> accounts.register("ben", "ben@example.com", "a password", ""))));
            Eventually.holds(
                    "the hub waits for the other transaction",
                    () -> refused.isDone() || number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
            another.commit();

            assertThat(refused.get(60, TimeUnit.SECONDS)).isNotNull();
            assertThat(List.of(
                            number("SELECT count(DISTINCT developer_no) FROM registry_developer"),
                            number("SELECT count(DISTINCT key_no) FROM registry_developer_key")))
                    .containsExactly(3L, 2L);
        }
    }
}

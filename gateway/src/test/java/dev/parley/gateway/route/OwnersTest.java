package dev.parley.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.gateway.route.Owners.Claim;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.ValueCipher;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Owners of contexts of answers without tasks")
final class OwnersTest {
    private static final Scope ALICE = new Scope("one", "alice");
    private static final Scope BOB = new Scope("one", "bob");

    @TempDir
    private Path directory;

    private Database database;
    private Owners owners;

    @BeforeEach
    void open() {
        database = Database.open(directory);
        var unused = new RouteTable(database);
        owners = new Owners(database, InstantSource.system(), ValueCipher.of(List.of(ValueCipher.newKey())));
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    @DisplayName("belong to their caller at once")
    void atOnce() {
        assertThat(owners.claimSoon("echo", ALICE, "c", "r")).isTrue();

        assertThat(owners.context("echo", ALICE, "c")).contains("r");
        assertThat(owners.context("echo", BOB, "c")).isEmpty();
        assertThat(owners.claimSoon("echo", BOB, "c", "r")).isFalse();
        assertThat(owners.claim("echo", BOB, new Claim(null, "c", "r"))).isFalse();
        assertThat(owners.claimSoon("other", BOB, "c", "r")).isTrue();
    }

    @Test
    @DisplayName("are on disk before any later task of their caller, and stay theirs after a restart")
    void afterRestart() {
        for (int i = 0; i < 3_000; i++) {
            assertThat(owners.claimSoon("echo", ALICE, "c" + i, "r")).isTrue();
        }
        assertThat(owners.claim("echo", ALICE, new Claim("t", "c0", "r"))).isTrue();

        var restarted = new Owners(database, InstantSource.system(), ValueCipher.of(List.of(ValueCipher.newKey())));
        for (int i : new int[] {0, 1_500, 2_999}) {
            assertThat(restarted.claimSoon("echo", BOB, "c" + i, "r")).isFalse();
            assertThat(restarted.context("echo", ALICE, "c" + i)).contains("r");
        }
    }

    @Test
    @DisplayName("that have an owner do not change it, and learn their replica")
    void known() {
        assertThat(owners.claim("echo", ALICE, new Claim(null, "c", ""))).isTrue();

        assertThat(owners.claimSoon("echo", BOB, "c", "r")).isFalse();
        assertThat(owners.claimSoon("echo", ALICE, "c", "r")).isTrue();
        assertThat(owners.context("echo", ALICE, "c")).contains("r");
    }

    @Test
    @DisplayName("are on disk when the hub has stopped")
    void afterStop() {
        assertThat(owners.claimSoon("echo", ALICE, "c", "r")).isTrue();
        database.close();

        open();
        assertThat(owners.claimSoon("echo", BOB, "c", "r")).isFalse();
        assertThat(owners.context("echo", ALICE, "c")).contains("r");
    }

    @Test
    @DisplayName("lead to their replica after a restart, also if the first message names none")
    void replicaAfterRestart() {
        assertThat(owners.claim("echo", ALICE, new Claim("t", "c", "r"))).isTrue();

        var restarted = new Owners(database, InstantSource.system(), ValueCipher.of(List.of(ValueCipher.newKey())));

        assertThat(restarted.claim("echo", ALICE, new Claim(null, "c", ""))).isTrue();
        assertThat(restarted.context("echo", ALICE, "c")).contains("r");
    }
}

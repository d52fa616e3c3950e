package dev.parley.store.encryption;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.store.Store;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ValueCipherTest {
    private static final Cause CAUSE = new Cause("alice", "192.0.2.1", null, CallChain.NONE);

    private static final String OLD = ValueCipher.newKey();
    private static final String NEW = ValueCipher.newKey();
    private static final TaskKey TASK = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");
    private static final Subscription WEBHOOK = Subscription.of(
            TASK,
            new PushConfig(null, "hook", "task-1", "https://example.com/hook", "hush-hush", null),
            "1.0",
            null,
            0);

    @TempDir
    private Path data;

    private Store open(boolean tasks, String... keys) {
        return Store.open(data, InstantSource.system(), new EncryptionAtRest(ValueCipher.of(List.of(keys)), tasks));
    }

    private String onDisk() throws IOException {
        try (Stream<Path> files = Files.list(data)) {
            return files.map(ValueCipherTest::read).reduce("", String::concat);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has an agent take a message, and returns the task's id. */
    private static String say(Store store, String text) {
        try (Engine engine = Engine.builder(store.log()).build()) {
            var send = new SendMessage(
                    null, Message.user(Part.text(text)), new SendConfiguration(List.of(), null, null, false), Map.of());
            return ((Task) engine.host(agent()).call(send, CallContext.anonymous())).id();
        }
    }

    private static Agent agent() {
        return Agent.named("agent", "For a test").handle((request, reply) -> reply.complete("done"));
    }

    private static String heard(Store store, String id) {
        try (Engine engine = Engine.builder(store.log()).build()) {
            Task task = engine.host(agent()).call(new GetTask(null, id, null), CallContext.anonymous());
            return ((Part.Text) task.history().getFirst().parts().getFirst()).text();
        }
    }

    @Test
    void whatIsSealedOpensInItsPlaceAlone() {
        ValueCipher cipher = ValueCipher.of(List.of(OLD));
        byte[] plain = "{\"a\":1}".getBytes(UTF_8);
        byte[] sealed = cipher.seal(plain, "here");

        assertThat(cipher.open(sealed, "here")).isEqualTo(plain);
        assertThat(cipher.seal(plain, "here")).isNotEqualTo(sealed);
        assertThat(cipher.open(plain, "here")).isEqualTo(plain);
        assertThatThrownBy(() -> cipher.open(sealed, "there"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("there was changed");
        sealed[sealed.length - 1] ^= 1;
        assertThatThrownBy(() -> cipher.open(sealed, "here")).isInstanceOf(StoreException.class);
    }

    @Test
    void whatIsNoKeyIsRefused() {
        for (List<String> wrong : List.of(List.<String>of(), List.of("c2hvcnQ="), List.of("no key!"))) {
            assertThatThrownBy(() -> ValueCipher.of(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("expected: ");
        }
    }

    @Test
    @DisplayName("S78: tokens of webhooks cannot be read in the database, and outlive a change of keys")
    void webhooksAreSealed() throws IOException {
        try (Store plain = Store.open(data)) {
            plain.webhooks().save(WEBHOOK, CAUSE);
        }
        assertThat(onDisk()).contains("hush-hush");

        try (Store store = open(false, OLD)) {
            assertThat(store.webhooks().find(TASK, "hook")).contains(WEBHOOK);
        }
        assertThat(onDisk()).doesNotContain("hush-hush");
        try (Store store = open(false, NEW, OLD)) {
            assertThat(store.webhooks().find(TASK, "hook")).contains(WEBHOOK);
        }
        try (Store store = open(false, NEW)) {
            assertThat(store.webhooks().find(TASK, "hook")).contains(WEBHOOK);
        }
        assertThatThrownBy(() -> open(false, OLD))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("webhook hook of task task-1 is encrypted by the key");
    }

    @Test
    @DisplayName("GEM25: what is said in tasks is encrypted at rest when that is switched on")
    void tasksAreSealed() throws IOException {
        String before;
        String id;
        try (Store store = open(false, OLD)) {
            before = say(store, "an open word");
        }
        try (Store store = open(true, OLD)) {
            id = say(store, "between us");
        }
        assertThat(onDisk()).contains("an open word").doesNotContain("between us");

        try (Store store = open(true, NEW, OLD)) {
            assertThat(heard(store, id)).isEqualTo("between us");
        }
        try (Store store = open(false, NEW, OLD)) {
            assertThat(heard(store, before)).isEqualTo("an open word");
        }
        assertThatThrownBy(() -> open(false, NEW))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("expected: the newest key first");
        assertThatThrownBy(() -> Store.open(data)).isInstanceOf(StoreException.class);
    }
}

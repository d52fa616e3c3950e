package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.TaskLogContract;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("heavy")
final class SqliteTaskLogTest extends TaskLogContract {
    @TempDir
    Path directory = Path.of("");

    @Override
    protected TaskLog open(InstantSource clock, Once once) {
        return Store.in(Database.open(directory), clock, EncryptionAtRest.PLAIN, once)
                .log();
    }

    @Test
    void aMessageLeadsToTheSameTaskAfterARestart(@TempDir Path data) {
        Message message = Message.user(Part.text("hello"));

        String before = taskOf(message, data);
        String after = taskOf(message, data);

        assertThat(after).isEqualTo(before);
    }

    @Test
    void largeEventsAreReadAsTheyWereWritten(@TempDir Path data) {
        Message message = Message.user(Part.text("x".repeat(1 << 20)));
        String id = taskOf(message, data);

        try (Engine engine = Engine.builder(Store.open(data).log()).build()) {
            Agent agent = Agent.named("agent", "For a test").handle((request, reply) -> reply.complete("done"));
            Task task = engine.host(agent).call(new GetTask(null, id, null), CallContext.anonymous());

            assertThat(task.history().getFirst().parts()).isEqualTo(message.parts());
        }
    }

    @Test
    void aQuestionAfterTheCloseIsRefused(@TempDir Path data) {
        TaskLog log = Store.open(data).log();
        log.close();

        assertThatThrownBy(log::unfinished).isInstanceOf(StoreException.class).hasMessageContaining("closed");
    }

    private static String taskOf(Message message, Path data) {
        try (Engine engine = Engine.builder(Store.open(data).log()).build()) {
            var send = new SendMessage(null, message, new SendConfiguration(List.of(), null, null, false), Map.of());
            Agent agent = Agent.named("agent", "For a test").handle((request, reply) -> reply.complete("done"));
            return ((Task) engine.host(agent).call(send, CallContext.anonymous())).id();
        }
    }
}

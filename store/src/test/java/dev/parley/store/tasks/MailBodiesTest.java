package dev.parley.store.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskMail.Answer;
import dev.parley.engine.spi.TaskMail.Request;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Calls for the owners of tasks are read as they were written. */
final class MailBodiesTest {
    private static final CallContext CALLER = CallContext.of("alice", new CallContext.Scope("t1", "*"))
            .withGrants(Set.of("read", "write"), "192.0.2.1")
            .withDialect("0.3", false)
            .withExtensions(Set.of("https://example.com/x/1"))
            .withLiteralIds()
            .withTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
            .through(new CallChain(List.of("https://example.com/agents/a")));

    private static Request request(Operation.Call<?> operation) {
        return new Request(new TaskKey(CALLER.scope(), "agent", "task-1"), operation, CALLER, Duration.ofSeconds(3));
    }

    @Test
    void aCancellationIsReadAsItWasWritten() {
        Request request = request(new CancelTask("tenant", "task-1", Map.of("reason", "late")));

        assertThat(MailBodies.readRequest(MailBodies.write(request))).isEqualTo(request);
    }

    @Test
    void aMessageIsReadAsItWasWritten() {
        var webhook = new PushConfig(
                null,
                "hook",
                null,
                "https://example.com/hook",
                "token",
                new PushConfig.Authentication("Bearer", "credentials"));
        Message message = Message.user(Part.text("hello\0"), Part.data(Map.of("n", 1.5)))
                .withId("m-1")
                .in(null, "task-1");
        Request request = request(new SendMessage(
                null,
                message,
                new SendConfiguration(List.of("text/plain"), webhook, null, true),
                Map.of("of", List.of("the", "call"))));

        assertThat(MailBodies.readRequest(MailBodies.write(request))).isEqualTo(request);
    }

    @Test
    void theTokenAndTheDeadlineOfACallerStayBehind() {
        var request = new Request(
                new TaskKey(CALLER.scope(), "agent", "task-1"),
                CancelTask.of("task-1"),
                CALLER.withToken("secret").withDeadline(Instant.EPOCH),
                Duration.ofSeconds(3));

        assertThat(MailBodies.readRequest(MailBodies.write(request)).caller()).isEqualTo(CALLER);
    }

    private enum OtherError implements ErrorKind {
        TOO_BUSY;

        @Override
        public Row row() {
            return new Row(-31_000, 429, "RESOURCE_EXHAUSTED", "Too busy");
        }
    }

    private static A2AException read(A2AException refusal) {
        var answer = (Answer.Failed) MailBodies.readAnswer(MailBodies.write(new Answer.Failed(refusal)));
        return answer.refusal();
    }

    @Test
    void aRefusalIsReadAsItWasWritten() {
        A2AException invalid = read(A2AException.invalidParams("message.parts[0]", "is empty (expected: text)"));
        assertThat(invalid.error()).isEqualTo(A2AError.INVALID_PARAMS);
        assertThat(invalid).hasMessage("Invalid parameters: message.parts[0]: is empty (expected: text)");
        assertThat(invalid.violations()).hasSize(1);
        assertThat(invalid.retryAfter()).isNull();

        A2AException later = read(A2AException.unavailable("later", Duration.ofMillis(1_500)));
        assertThat(later.error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(later.retryAfter()).isEqualTo(Duration.ofMillis(1_500));

        A2AException other = read(A2AException.of(OtherError.TOO_BUSY, "not now", Map.of("taskId", "task-1")));
        assertThat(other.error().name()).isEqualTo("TOO_BUSY");
        assertThat(other.error().code()).isEqualTo(-31_000);
        assertThat(other.error().httpStatus()).isEqualTo(429);
        assertThat(other.metadata()).isEqualTo(Map.of("taskId", "task-1"));
    }

    @Test
    void theTaskOfAnAnswerIsReadAsItWasWritten() {
        assertThat(MailBodies.readAnswer(MailBodies.write(new Answer.Done("task-1"))))
                .isEqualTo(new Answer.Done("task-1"));
    }
}

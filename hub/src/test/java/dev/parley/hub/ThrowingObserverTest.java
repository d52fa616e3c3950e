package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An extension whose observer throws disturbs neither the engine nor the observers of others. */
@Timeout(60)
final class ThrowingObserverTest {
    private static final String[] V1 = {"A2A-Version", "1.0"};
    private static final String MESSAGE =
            "{'message':{'messageId':'m1','role':'ROLE_USER','parts':[{'text':'hello'}]}}";

    @TempDir
    private Path data;

    @Test
    void aMessageThatIsSentAgainLeadsToItsTaskAndOtherObserversAreTold() throws Exception {
        var told = new LinkedBlockingQueue<Segment>();
        try (Hub hub = Hub.builder()
                .data(data)
                .port(0)
                .extension(new Source("urn:example:throwing", null))
                .extension(new Source("urn:example:told", told))
                .agents(Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete("done")))
                .start()) {
            var outsider = new Outsider(hub.url());

            Shown first = Shown.of(
                    outsider.post("/agents/echo/message:send", MESSAGE, V1).body());
            Shown again = Shown.of(
                    outsider.post("/agents/echo/message:send", MESSAGE, V1).body());

            String task = first.at("task", "id").text();
            assertThat(again.at("task", "id").text()).isEqualTo(task);
            Segment segment = told.poll(20, TimeUnit.SECONDS);
            assertThat(segment).isNotNull();
            assertThat(told).allMatch(each -> each.head().key().taskId().equals(task));
        }
    }

    /** @param told receives the segments; null to throw for each */
    private record Source(String uri, @Nullable BlockingQueue<Segment> told) implements HubExtensionSource {
        @Override
        public HubExtension open(HubParts hub) {
            return new Observing(uri.substring(uri.lastIndexOf(':') + 1), told);
        }
    }

    private record Observing(String name, @Nullable BlockingQueue<Segment> told) implements HubExtension, HubObserver {
        @Override
        public AgentExtension of(String hub, String agent, boolean streams) {
            return AgentExtension.of(ExtensionProtocol.of("urn:example:" + name), "Observes the hub");
        }

        @Override
        public HubObserver hubObserver() {
            return this;
        }

        @Override
        public void written(Segment segment) {
            if (told == null) {
                throw new IllegalStateException("planted");
            }
            told.add(segment);
        }

        @Override
        public void called(
                String agent, Operation operation, CallContext caller, long nanos, @Nullable ErrorKind error) {}

        @Override
        public void carried(String agent, Operation operation, CallContext caller, long received, long sent) {}

        @Override
        public void ran(String agent, Request request, long nanos) {}

        @Override
        public void offered(TaskKey task, String caller, boolean accepted) {}
    }
}

package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Parts of a hub close in the reverse order of that in which they stand, also when a start fails midway. */
@Timeout(60)
final class OpenPartsTest {
    @TempDir
    Path data = Path.of("");

    private static final Agent ECHO =
            Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));

    private final List<String> closed = new ArrayList<>();
    private final OpenParts parts = new OpenParts();

    @Test
    void partsCloseInTheReverseOrderAndOnce() {
        parts.add(() -> closed.add("first"));
        AutoCloseable second = parts.add(() -> closed.add("second"));
        parts.add(() -> closed.add("third"));
        parts.addBelow(second, () -> closed.add("below the second"));

        parts.close();
        parts.close();

        assertThat(closed).containsExactly("third", "second", "below the second", "first");
    }

    @Test
    void aPartThatCannotCloseKeepsNoOtherOpen() {
        parts.add(() -> closed.add("first"));
        parts.add(() -> {
            throw new IllegalStateException("second");
        });
        parts.add(() -> {
            throw new IllegalStateException("third");
        });

        assertThatThrownBy(parts::close)
                .hasMessage("third")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .singleElement()
                        .satisfies(other -> assertThat(other).hasMessage("second")));
        assertThat(closed).containsExactly("first");
    }

    /** Ways in which a start fails, each later than the one before. */
    enum Fault {
        SECOND_EXTENSION,
        SERVER,
        PORT,
        START
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void aStartThatFailsClosesWhatItHasOpened(Fault fault) throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            HubBuilder builder = Hub.builder().data(data).port(0).agents(ECHO).extension(new Source("first", null));
            switch (fault) {
                case SECOND_EXTENSION -> builder.extension(new Source("second", fault));
                case SERVER -> builder.defaultAgent("missing");
                case PORT -> builder.port(taken.getLocalPort());
                case START -> builder.extension(new Source("second", fault));
            }

            assertThatThrownBy(builder::start).isInstanceOf(RuntimeException.class);
        }

        assertThat(closed).contains("first");
        try (Hub hub = Hub.builder().data(data).port(0).agents(ECHO).start()) {
            assertThat(hub.url()).startsWith("http");
        }
    }

    /** An extension that fails as a fault says; null for never. */
    private final class Source implements HubExtensionSource {
        private final String name;
        private final @Nullable Fault fault;

        Source(String name, @Nullable Fault fault) {
            this.name = name;
            this.fault = fault;
        }

        @Override
        public String uri() {
            return "urn:example:" + name;
        }

        @Override
        public HubExtension open(HubParts hub) {
            failAt(Fault.SECOND_EXTENSION);
            return new HubExtension() {
                @Override
                public String name() {
                    return name;
                }

                @Override
                public AgentExtension of(String url, String agent, boolean streams) {
                    return AgentExtension.of(ExtensionProtocol.of(uri()), "Closes");
                }

                @Override
                public void started() {
                    failAt(Fault.START);
                }

                @Override
                public void close() {
                    hub.database().read(session -> closed.add(name)); // which is open still
                }
            };
        }

        private void failAt(Fault moment) {
            if (fault == moment) {
                throw new IllegalStateException("planted");
            }
        }
    }
}

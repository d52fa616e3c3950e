package dev.parley.registry.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.EntryChange;
import dev.parley.registry.spi.RegistryEntries;
import dev.parley.registry.spi.RegistryExtension;
import dev.parley.registry.spi.RegistryExtensionSource;
import dev.parley.registry.store.Entries;
import dev.parley.testkit.ExtensionKit;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Extensions of the registry of a hub. */
@Timeout(60)
@Tag("heavy")
final class RegistryExtensionsTest {
    private final List<String> closed = new ArrayList<>();

    private record NoCall(String name) implements Operation.ExtensionCall<String> {}

    /** Refuses all requests. */
    private static final class NoFace implements WireFace {
        @Override
        public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }

        @Override
        public WireAnswer.Whole error(WireRequest request, A2AException problem) {
            return new WireAnswer.Whole(404, Map.of(), new byte[0]);
        }
    }

    /** An extension with a page, an operation and a path, of which one has a given name. */
    private class First implements RegistryExtensionSource {
        private final String kind;
        private final String given;

        private @Nullable RegistryEntries entries;

        First(String kind, String given) {
            this.kind = kind;
            this.given = given;
        }

        private String of(String part) {
            return part.equals(kind) ? given : "/" + part + "-of-" + getClass().getSimpleName();
        }

        @Override
        public Set<String> operations() {
            return Set.of(of("operation"));
        }

        @Override
        public Map<String, HubPage> pages() {
            return Map.of(of("page"), new HubPage("text/plain", new byte[0]));
        }

        @Override
        public RegistryExtension open(HubParts hub, RegistryEntries all, InstantSource clock) {
            String name = getClass().getSimpleName();
            if (kind.equals("broken")) {
                throw new IllegalStateException(name + " does not open");
            }
            entries = all;
            return new RegistryExtension() {
                @Override
                public Map<String, WireFace> faces() {
                    return Map.of(of("path"), new NoFace());
                }

                @Override
                public Handlers handlers() {
                    return Handlers.NONE.with(
                            of("operation"), AgentExtension.answering(NoCall.class, (call, caller) -> ""));
                }

                @Override
                public void close() {
                    closed.add(name);
                    throw new IllegalStateException(name + " does not close");
                }
            };
        }
    }

    private final class Second extends First {
        Second(String kind, String given) {
            super(kind, given);
        }
    }

    private final class Third extends First {
        Third(String kind, String given) {
            super(kind, given);
        }
    }

    private static Hub start(RegistryExtensionSource... extensions) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .extension(new RegistrySource(List.of(extensions)))
                .start();
    }

    @ParameterizedTest
    @ValueSource(strings = {"page", "operation", "path"})
    void aPartOfTwoExtensionsKeepsTheHubFromStarting(String kind) {
        assertThatThrownBy(() -> start(new First(kind, "/shared"), new Second(kind, "/shared")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching(kind
                        + " \"/shared\" of the registry extension \\S+Test\\$Second of /\\S+: \\S+Test\\$First of /\\S+"
                        + " has it, too \\(expected: one of them; leave out the jar of the other\\)");
    }

    @ParameterizedTest
    @CsvSource({"operation,registry/register", "path,/v0.1"})
    void aPartOfTheRegistryItselfIsNotReplaced(String kind, String name) {
        assertThatThrownBy(() -> start(new First(kind, name)))
                .hasMessageContaining(kind + " \"" + name + "\" of the registry extension ")
                .hasMessageContaining("Test$First of /")
                .hasMessageContaining(": the registry has it, too");
    }

    @Test
    void anExtensionThatDoesNotOpenHasTheOthersClosedTheLastOneFirst() {
        assertThatThrownBy(() -> start(new First("", ""), new Second("", ""), new Third("broken", "")))
                .hasMessage("Third does not open")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("Second does not close", "First does not close"));
        assertThat(closed).containsExactly("Second", "First");
    }

    @Test
    void anExtensionThatDoesNotCloseLeavesNoneOpen() {
        Hub hub = start(new First("", ""), new Second("", ""));

        Throwable failure = catchThrowable(hub::close);

        assertThat(closed).containsExactly("Second", "First");
        assertThat(failure).hasMessage("Second does not close");
        assertThat(failure.getSuppressed()).extracting(Throwable::getMessage).containsExactly("First does not close");
    }

    @ParameterizedTest
    @CsvSource({"DELETED,ACTIVE", "DEPRECATED,DEPRECATED", "EXPIRED,EXPIRED", "REVOKED,REVOKED"})
    void onlyADeletedEntryBecomesActive(Status status, Status expected) throws Exception {
        var extension = new First("", "");
        Hub hub = start(extension);
        try {
            String id = ExtensionKit.caller(hub.url())
                    .post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");
            var entries = (Entries) requireNonNull(extension.entries);
            entries.writer()
                    .change(
                            id,
                            EntryChange.Kind.CHANGED,
                            Map.of(),
                            null,
                            entry -> entry.with(entry.state().with(status)));

            entries.setActive(id, true, Entries.ITSELF);

            assertThat(entries.find(id, Entries.ITSELF))
                    .map(entry -> entry.state().status())
                    .contains(expected);
        } finally {
            var unused = catchThrowable(hub::close);
        }
    }
}

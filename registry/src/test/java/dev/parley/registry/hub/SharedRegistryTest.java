package dev.parley.registry.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.hub.Hub;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.registry.Cards;
import dev.parley.registry.search.NoParts;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Registries of two hubs that work with one PostgreSQL database, over HTTP. */
@Timeout(120)
@Tag("heavy")
final class SharedRegistryTest {
    private final SharedSchema schema = new SharedSchema();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private Caller one;
    private Caller other;

    /** A registry with another database than that of its hub, and no timers. */
    private record Elsewhere(HubExtensionSource source, Database database) implements HubExtensionSource {
        @Override
        public String uri() {
            return source.uri();
        }

        @Override
        public HubExtensionSource configured(SettingReader in) {
            return new Elsewhere(source.configured(in), database);
        }

        @Override
        public Map<String, String> paths() {
            return source.paths();
        }

        @Override
        public List<ExtensionMethod<?, ?>> administration() {
            return source.administration();
        }

        @Override
        public HubExtension open(HubParts hub) {
            return source.open((HubParts) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {HubParts.class}, (own, of, args) -> {
                        switch (of.getName()) {
                            case "database" -> {
                                return database;
                            }
                            case "timers" -> {
                                return new NoParts();
                            }
                            default -> {}
                        }
                        try {
                            return of.invoke(hub, args);
                        } catch (InvocationTargetException thrown) {
                            throw thrown.getCause();
                        }
                    }));
        }
    }

    private Caller hub(String agent) {
        Database database = schema.shared(sql -> {}, () -> List.of(agent, "registry"));
        opened.addFirst(database);
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .agents(Agent.named(agent, "An agent").handle((request, reply) -> reply.complete("done")))
                .extension(new Elsewhere(new RegistrySource(List.of()), database))
                .set("registry-probes", "0s")
                .start();
        opened.addFirst(hub);
        return ExtensionKit.caller(hub.url());
    }

    @BeforeEach
    void open() {
        one = hub("first");
        other = hub("second");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private static Answer register(Caller hub, String name) throws Exception {
        return hub.post(
                "/registry/agents",
                "{'visibility':'public','card':" + Cards.v1(name, "add").replace('"', '\'') + "}");
    }

    private static List<?> names(Caller hub) throws Exception {
        return ((List<?>)
                        requireNonNull(hub.get("/registry/agents?pageSize=200").at("agents")))
                .stream().map(entry -> ((Map<?, ?>) entry).get("name")).toList();
    }

    @Test
    void fortyRegistrationsAtEachHubAtOnceAreAllAnsweredAndReadAtTheOtherHub() throws Exception {
        var answers = new ArrayList<Future<Answer>>();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 40; i++) {
                String name = "agent-" + i;
                answers.add(callers.submit(() -> {
                    Answer answer = register(one, name + "-a");
                    return answer.status() == 200 ? other.get("/registry/agents/" + answer.text("id")) : answer;
                }));
                answers.add(callers.submit(() -> {
                    Answer answer = register(other, name + "-b");
                    return answer.status() == 200 ? one.get("/registry/agents/" + answer.text("id")) : answer;
                }));
            }
        }

        for (Future<Answer> answer : answers) {
            assertThat(answer.get().status()).as(answer.get().text()).isEqualTo(200);
        }
        assertThat(names(one)).hasSizeGreaterThanOrEqualTo(80).isEqualTo(names(other));
    }

    @Test
    void theAgentsOfBothHubsAreListedAtEach() throws Exception {
        for (Caller hub : List.of(one, other)) {
            Eventually.holds("the agents of both hubs are listed", () -> {
                try {
                    return names(hub).containsAll(List.of("first", "second"));
                } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                }
            });
        }
    }
}

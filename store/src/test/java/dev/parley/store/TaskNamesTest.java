package dev.parley.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.store.database.Place;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.Eventually;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Callers' names for tasks, as 0.1 has them, in the log on disk. */
@Timeout(120)
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class TaskNamesTest {
    private static final CallContext CALLER = CallContext.anonymous().withDialect("0.1", true);
    private static final String LOOK_UP = "SELECT task_id FROM task_name WHERE lane_no = ? AND name = ?";

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    Path directory = Path.of("");

    private final AtomicInteger lookUps = new AtomicInteger();

    private Place place;

    @BeforeEach
    void makePlace() {
        place = new Place(kind, directory);
    }

    private Store open() {
        return place.store(InstantSource.system(), this::counted);
    }

    /** The connection, whose statement that looks up a name counts how often it is asked. */
    private Connection counted(Connection connection) {
        return proxy(
                Connection.class,
                connection,
                (method, arguments, result) -> method.equals("prepareStatement") && LOOK_UP.equals(arguments[0])
                        ? counted((PreparedStatement) requireNonNull(result))
                        : result);
    }

    private PreparedStatement counted(PreparedStatement lookUp) {
        return proxy(PreparedStatement.class, lookUp, (method, arguments, result) -> {
            if (method.equals("executeQuery")) {
                lookUps.incrementAndGet();
            }
            return result;
        });
    }

    private interface Observer {
        @Nullable
        Object seen(String method, @Nullable Object[] arguments, @Nullable Object result);
    }

    private static <T> T proxy(Class<T> type, T original, Observer observer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return observer.seen(method.getName(), arguments, method.invoke(original, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private static AgentEndpoint agent(Engine engine) {
        return engine.host(Agent.named("agent", "Asks once").handle((request, reply) -> {
            if (request.text().equals("hello")) {
                reply.askForInput("what else?");
            } else {
                reply.complete("thanks");
            }
        }));
    }

    private static Task send(AgentEndpoint agent, @Nullable String name, String text) {
        Message message = Message.user(Part.text(text)).in(null, name);
        var send = new SendMessage(null, message, new SendConfiguration(List.of(), null, null, false), Map.of());
        return (Task) agent.call(send, CALLER);
    }

    @Test
    void newNamesAreNotLookedUpInTheDatabase() {
        try (Store store = open();
                Engine engine = Engine.builder(store.log()).build()) {
            AgentEndpoint agent = agent(engine);
            send(agent, "first", "hello");
            Eventually.holds("a new name that is not looked up", () -> areNamesRead(agent));
            lookUps.set(0);

            IntStream.range(0, 100).forEach(each -> send(agent, "new-" + each, "enough"));

            assertThat(lookUps).hasValue(0);
        }
    }

    /** Whether the names of the time before the start are known: until then, each name is looked up. */
    private boolean areNamesRead(AgentEndpoint agent) {
        int before = lookUps.get();
        send(agent, "probe-" + UUID.randomUUID(), "enough");
        return lookUps.get() == before;
    }

    @Test
    void aNameLeadsToItsTaskAfterARestart() {
        String begun;
        try (Store store = open();
                Engine engine = Engine.builder(store.log()).build()) {
            begun = send(agent(engine), "mine", "hello").id();
        }

        try (Store store = open();
                Engine engine = Engine.builder(store.log()).build()) {
            AgentEndpoint agent = agent(engine);
            Eventually.holds("a new name that is not looked up", () -> areNamesRead(agent));

            assertThat(send(agent, "mine", "enough").id()).isEqualTo(begun);
            assertThat(agent.call(GetTask.of("mine"), CALLER).id()).isEqualTo(begun);
        }
    }

    @Test
    void anIdOfTheServerLeadsToTheNewestTaskAfterARestart() {
        Task first;
        Task third;
        try (Store store = open();
                Engine engine = Engine.builder(store.log()).build()) {
            AgentEndpoint agent = agent(engine);
            first = send(agent, null, "first");
            send(agent, first.id(), "second");
            third = send(agent, first.id(), "third");
        }

        try (Store store = open();
                Engine engine = Engine.builder(store.log()).build()) {
            AgentEndpoint agent = agent(engine);

            for (CallContext caller : List.of(CALLER, CallContext.anonymous())) {
                assertThat(agent.call(GetTask.of(first.id()), caller).id()).isEqualTo(third.id());
                assertThat(agent.call(GetTask.of(first.id()), caller.withLiteralIds())
                                .id())
                        .isEqualTo(first.id());
            }
            assertThat(send(agent, first.id(), "hello").history().getFirst().referenceTaskIds())
                    .containsExactly(third.id());
        }
    }
}

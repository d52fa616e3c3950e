package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub under load whose disk fails for a while tells so, loses nothing, and works again without a restart. */
@Timeout(300)
@Tag("heavy")
final class HubFaultsTest {
    private static final int SENDERS = 8;
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    Path data = Path.of("");

    private final Faults faults = new Faults();
    private final Map<String, String> acknowledged = new ConcurrentHashMap<>();
    /** A permit for each acknowledged message. */
    private final Semaphore news = new Semaphore(0);

    private final AtomicInteger messages = new AtomicInteger();
    private volatile boolean stop;

    @AfterEach
    void pass() {
        faults.pass();
    }

    private Hub hub() {
        return Hub.builder()
                .data(data)
                .port(0)
                .adminPort(0)
                .connections(faults::wrap)
                .agents(Agent.named("echo", "Says it again").handle((request, reply) -> {
                    reply.working("begun");
                    reply.complete(request.text());
                }))
                .start();
    }

    @Test
    void aHubUnderLoadOutlivesEveryFaultAndTellsWhenItCannotWrite() throws Exception {
        outliveFaults(Fault.ERRORS, "SQLITE_");
    }

    @Test
    @Tag("heavy")
    void aHubOnPostgresqlUnderLoadOutlivesEveryFaultAndTellsWhenItCannotWrite() throws Exception {
        Database.name(data, PostgresqlServer.url());

        outliveFaults(List.of(Fault.CUT, Fault.NO_SPACE), "I/O error|No space left");
    }

    @Test
    void anIdleHubTellsWhenItCannotWriteAndWhenItCanAgain() throws Exception {
        try (Hub hub = hub()) {
            var caller = new Outsider(hub.url());
            var operator = new Outsider(hub.adminUrl());
            caller.awaitReady(200, "");

            for (Fault fault : List.of(Fault.FULL, Fault.IO)) {
                faults.from(1, fault, Side.WRITES);
                for (Outsider asking : List.of(caller, operator)) {
                    asking.awaitReady(503, "the database cannot be written.*SQLITE_" + fault);
                }
                faults.pass();
                caller.awaitReady(200, "");
                operator.awaitReady(200, "");
            }
            faults.from(1, Fault.HANG, Side.WRITES);
            caller.awaitReady(503, "the database did not answer within 2 s");
            assertThat(caller.get("/health").statusCode()).isEqualTo(200);
            faults.pass();
            caller.awaitReady(200, "");
        }
    }

    private void outliveFaults(List<Fault> errors, String shown) throws Exception {
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
        try (Hub hub = hub()) {
            var caller = new Outsider(hub.url());
            var operator = new Outsider(hub.adminUrl());
            var senders = new ArrayList<Future<?>>();
            for (int i = 0; i < SENDERS; i++) {
                senders.add(clients.submit(() -> send(caller)));
            }
            try {
                int call = 0;
                for (Fault fault : errors) {
                    for (Side side : List.of(Side.WRITES, Side.ALL)) {
                        faults.from(++call, fault, side);
                        for (Outsider asking : List.of(caller, operator)) {
                            assertThat(asking.awaitReady(503, "not ready"))
                                    .containsPattern(
                                            side == Side.ALL
                                                    ? "the database cannot be (written|read)" // what is tried first
                                                    : "the database cannot be written")
                                    .containsPattern(shown);
                        }
                        assertThat(caller.get("/health").statusCode()).isEqualTo(200);
                        goOn(caller, operator);
                    }
                    for (int once = 1; once <= 5; once++) {
                        faults.at(++call, fault, Side.ALL);
                        awaitMore(5);
                        faults.after(call, fault, Side.WRITES);
                        awaitMore(5);
                        goOn(caller, operator);
                    }
                }
            } finally {
                stop = true;
                faults.pass();
            }
            for (Future<?> sender : senders) {
                sender.get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
            check(caller);
        } finally {
            clients.shutdownNow();
        }
        try (Database database = Database.open(data)) {
            assertThat(AuditTrail.in(database, InstantSource.system()).verify().broken())
                    .isNull();
        }
    }

    private void goOn(Outsider caller, Outsider operator) throws Exception {
        faults.pass();
        caller.awaitReady(200, "");
        operator.awaitReady(200, "");
        awaitMore(20);
    }

    private void awaitMore(int more) throws InterruptedException {
        news.drainPermits();
        assertThat(news.tryAcquire(more, SOON.toSeconds(), TimeUnit.SECONDS))
                .as("%d more acknowledged messages", more)
                .isTrue();
    }

    /** Sends messages, each again and again until its task is known. */
    private Void send(Outsider caller) throws Exception {
        while (!stop) {
            String text = UUID.randomUUID().toString();
            messages.incrementAndGet();
            Shown answer = Eventually.value(
                    "an acknowledged message",
                    () -> caller.rpc("/agents/echo", "SendMessage", message(text), "A2A-Version", "1.0"),
                    each -> each.at("result").has("task"));
            acknowledged.put(answer.at("result", "task", "id").text(), text);
            news.release();
        }
        return null;
    }

    private static String message(String text) {
        return "{'message':{'messageId':'" + text + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}";
    }

    private void check(Outsider caller) throws Exception {
        assertThat(acknowledged).as("a message leads to one task").hasSize(messages.get());
        for (var sent : acknowledged.entrySet()) {
            Shown task =
                    caller.result("/agents/echo", "GetTask", "{'id':'" + sent.getKey() + "'}", "A2A-Version", "1.0");
            assertThat(task.text()).contains(sent.getValue());
        }
        for (String state : List.of("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED")) {
            Eventually.value(
                    "no tasks in " + state, () -> total(caller, "{'status':'" + state + "'}"), total -> total == 0);
        }
        assertThat(total(caller, "{}")).as("tasks").isEqualTo(messages.get());
        assertThat(total(caller, "{'status':'TASK_STATE_COMPLETED'}"))
                .as("tasks that were done")
                .isGreaterThan(messages.get() / 2);
    }

    private static int total(Outsider caller, String params) throws IOException, InterruptedException {
        return Integer.parseInt(caller.result("/agents/echo", "ListTasks", params, "A2A-Version", "1.0")
                .at("totalSize")
                .text());
    }
}

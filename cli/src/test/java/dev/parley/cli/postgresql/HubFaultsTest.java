package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.postgresql.FaultyHubs.Member;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Faults of hubs, clocks, networks and the database beside three hubs under load. All tests use the same hubs and database. */
@Tag("heavy")
@Tag("measured")
@Timeout(300)
final class HubFaultsTest {
    /** A hub that is cut off is ended in less than 11 s; the rest is for a busy machine. */
    private static final Duration LEASE_OVER = Duration.ofSeconds(18);

    /** The verification reads all entries. */
    private static final Duration VERIFIED = Duration.ofMinutes(1);

    /** Longer than a lease. */
    private static final Duration LEASE = Duration.ofSeconds(11);

    private static final Duration BARRIER = Duration.ofSeconds(12);

    /** Sessions that wait for hints; they test their connections by the second statement. */
    private static final String LISTENING = "(ltrim(query) LIKE 'LISTEN %' OR query = 'SELECT 1')";

    private static final Pattern STEP = Pattern.compile("\\d+ of \\d+|once more");

    @TempDir
    private static Path directory;

    private static DatabaseServer server;
    private static FaultyHubs hubs;
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeAll
    static void start() throws Exception {
        server = DatabaseServer.primary("shared_preload_libraries = 'pg_stat_statements'");
        server.execute("CREATE EXTENSION pg_stat_statements", "ALTER ROLE parley SET search_path = public, pg_catalog");
        setClockOfDatabase(server, "0");
        hubs = new FaultyHubs(
                server,
                directory,
                "--auth",
                "none,apiKey",
                "--webhook-allow",
                "127.0.0.1",
                "--gateway-allow",
                "127.0.0.1");
    }

    @AfterAll
    static void stop() throws Exception {
        try (var first = server) {
            assertThat(first.port()).isPositive();
            hubs.close();
            hubs.server().close();
        }
    }

    @Test
    void anIdWhoseHubIsKilledBetweenClaimAndTaskLeadsToOneTask() throws Exception {
        Member killed = hubs.get(1);
        for (int i = 0; i < (Promise.LONG ? 20 : 1); i++) {
            String id = "k-" + UUID.randomUUID();
            Future<Answer> lost;
            try (Connection lock = hubs.server().connect();
                    Statement statement = lock.createStatement()) {
                lock.setAutoCommit(false);
                statement.execute("LOCK TABLE task IN SHARE ROW EXCLUSIVE MODE"); // rows are read, and not added
                lost = callers.submit(() -> killed.calls().send(id));
                Eventually.holds(
                        "the id is claimed",
                        () -> hubs.number("SELECT count(*) FROM message WHERE message_id = '" + id + "'") == 1);
                killed.process().close();
                assertThat(hubs.number("SELECT count(*) FROM task JOIN message USING (task_id) WHERE message_id = '"
                                + id + "'"))
                        .isZero();
            }
            assertThat(lost.get().status()).isEqualTo(Answer.NONE);

            String task = Eventually.value(
                            "the message is acknowledged",
                            () -> hubs.get(0).calls().send(id),
                            answer -> answer.sentTask() != null)
                    .sentTask();

            assertThat(hubs.get(2).calls().send(id).sentTask()).isEqualTo(task);
            assertThat(hubs.number("SELECT count(DISTINCT task_id) FROM message WHERE message_id = '" + id + "'"))
                    .isOne();
            killed.launch();
            killed.awaitReady();
            assertThat(killed.calls().send(id).sentTask()).isEqualTo(task);
        }
    }

    @Test
    void answersOfTheDatabaseThatDoNotArriveEndAHubAfterItsLease() throws Exception {
        Member deaf = hubs.get(1);
        try (var history = new History(hubs)) {
            history.await(20, Promise.RETURN);
            long stream = hubs.newestStream();
            deaf.network().holdAnswers();
            Promise.last(Duration.ofSeconds(5), deaf.process());
            deaf.network().release();
            history.await(20, Promise.RETURN);
            deaf.awaitReady();
            assertThat(hubs.newestStream()).isEqualTo(stream);
            assertThat(hubs.streams()).isEqualTo(3);

            for (int seconds : Promise.LONG ? new int[] {15, 60} : new int[] {15}) {
                long begun = System.nanoTime();
                deaf.network().holdAnswers();
                hubs.awaitStreams(2, LEASE_OVER);
                assertThat(deaf.calls().send("deaf").status()).isEqualTo(Answer.UNAVAILABLE);
                Promise.last(Duration.ofSeconds(seconds).minusNanos(System.nanoTime() - begun), deaf.process());
                deaf.network().release();
                deaf.awaitReady();
                hubs.awaitStreams(3, Promise.RETURN);
                stream++;
                assertThat(hubs.newestStream()).isEqualTo(stream);
            }
            history.verify();
        }
    }

    @Test
    void nothingIsLostWhenTheDatabaseFailsOverToASynchronousStandby() throws Exception {
        DatabaseServer primary = hubs.server();
        DatabaseServer standby = primary.standby();
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
        Eventually.holds(
                "the standby is synchronous",
                () -> hubs.number("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1);
        try (var history = new History(hubs)) {
            history.await(30, Promise.RETURN);

            primary.stopImmediately();
            standby.promote();
            standby.execute("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
            hubs.lead(standby);
            history.await(30, Promise.RETURN);
            hubs.all().forEach(Member::awaitReady);

            hubs.awaitStreams(3, Promise.RETURN);
            history.verify();
            for (Member member : hubs.all()) {
                assertThat(member.calls().metric("parley_lost_groups_total").orElse(0))
                        .isZero();
            }
        }
    }

    @Test
    void aKeyThatIsRevokedAtAHubIsRefusedAtOthersWhenTheAnswerArrives() throws Exception {
        for (int i = 0; i < (Promise.LONG ? 200 : 9); i++) {
            Member revokes = hubs.get(i);
            HubKey key = HubKey.create(revokes.operator());
            HubCalls used = hubs.get(i + 1).calls().by(key.secret());
            assertThat(used.send("u-" + UUID.randomUUID()).sentTask()).isNotNull();

            key.revoke(revokes.operator());

            assertThat(used.send("u-" + UUID.randomUUID()).status()).isEqualTo(Answer.UNAUTHORIZED);
        }
    }

    @Test
    void aHubThatIsPausedInADeliveryKeepsTheOrderAndRefusesAKeyThatWasRevokedMeanwhile() throws Exception {
        Member paused = hubs.get(2);
        Member other = hubs.get(0);
        HubKey key = HubKey.create(other.operator());
        HubCalls used = paused.calls().by(key.secret());
        assertThat(used.send("u-" + UUID.randomUUID()).sentTask()).isNotNull();
        try (var receiver = new WebhookReceiver(4)) {
            Map<String, ?> webhook = Map.of("id", "w", "url", receiver.url());
            String task = requireNonNull(paused.calls()
                    .post(
                            "/agents/counter",
                            HubCalls.sending(
                                    "w-" + UUID.randomUUID(),
                                    "10",
                                    Map.of("returnImmediately", true, "taskPushNotificationConfig", webhook)))
                    .sentTask());
            receiver.awaitHeld();

            paused.process().signal("STOP");
            assertThat(key.revoke(other.operator()).duration()).isLessThan(BARRIER);
            hubs.awaitStreams(2, LEASE_OVER);
            Eventually.within(
                    LEASE_OVER,
                    "all events are delivered",
                    () -> receiver.deliveries().getLast().body().contains("TASK_STATE_COMPLETED"));
            try (var sends = Repeated.calls(2, () -> used.send("u-" + UUID.randomUUID()))) {
                paused.process().signal("CONT");
                receiver.release();
                Eventually.within(
                        Promise.RETURN,
                        "the hub that was paused knows of the revocation",
                        () -> sends.since(0).anyMatch(answer -> answer.status() == Answer.UNAUTHORIZED));
                assertThat(sends.since(0)).noneMatch(answer -> answer.status() == Answer.OK);
            }
            hubs.awaitStreams(3, LEASE_OVER);
            paused.awaitReady();

            assertThat(other.calls().get("/agents/counter/tasks/" + task).body())
                    .contains("TASK_STATE_COMPLETED");
            requireOrder(receiver.deliveries(), stepsOfEvents(other, task));
        }
    }

    /** All steps arrived in their order, each once, but for the delivery that was held. */
    private static void requireOrder(List<WebhookReceiver.Delivery> deliveries, List<String> steps) {
        WebhookReceiver.Delivery held = deliveries.get(3);
        assertThat(deliveries.stream().filter(each -> each.id().equals(held.id())))
                .hasSizeBetween(1, 2);
        assertThat(deliveries.stream().map(WebhookReceiver.Delivery::id).filter(id -> !id.equals(held.id())))
                .doesNotHaveDuplicates();
        assertThat(steps(deliveries, held)).as(deliveries.toString()).isEqualTo(steps);
    }

    /** Steps in the order of their deliveries; the one of {@code twice} once. */
    private static List<String> steps(List<WebhookReceiver.Delivery> deliveries, WebhookReceiver.Delivery twice) {
        var steps = new ArrayList<String>();
        boolean isFirst = true;
        for (WebhookReceiver.Delivery each : deliveries) {
            if (!each.id().equals(twice.id()) || isFirst) {
                STEP.matcher(each.body()).results().forEach(step -> steps.add(step.group()));
            }
            isFirst &= !each.id().equals(twice.id());
        }
        return steps;
    }

    private static List<String> stepsOfEvents(Member hub, String task) throws Exception {
        return STEP.matcher(String.join("", EventTimes.events(hub, task)))
                .results()
                .map(MatchResult::group)
                .toList();
    }

    @Test
    void eventsArriveAtOtherHubsInTimeWhileHintsAreLost() throws Exception {
        int steps = Promise.LONG ? 200 : 20;
        EventTimes control = EventTimes.measure(hubs.get(0), hubs.get(1), steps);
        var ended = new AtomicBoolean();
        Future<?> ends = callers.submit(() -> {
            while (!ended.get()) {
                hubs.server()
                        .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'parley' AND "
                                + LISTENING);
                TimeUnit.SECONDS.sleep(2);
            }
            return null;
        });
        EventTimes deaf = EventTimes.measure(hubs.get(0), hubs.get(1), steps);
        ended.set(true);
        ends.get();
        assertThat(deaf.usual())
                .as(deaf + ", control: " + control)
                .isLessThan(control.usual().plusMillis(100));
        assertThat(deaf.longest()).isLessThan(control.longest().plusSeconds(1));

        hubs.get(1).network().loseAnswers(ports(LISTENING));
        EventTimes lost = EventTimes.measure(hubs.get(0), hubs.get(1), steps);
        assertThat(lost.median()).as("without hints: " + lost).isGreaterThan(control.median());
        assertThat(lost.longest())
                .as(lost + ", control: " + control)
                .isLessThan(control.longest().plusSeconds(1));
    }

    /** Ports of the hubs' sessions in the database. */
    private static List<Integer> ports(String where) throws SQLException {
        var ports = new ArrayList<Integer>();
        try (Connection connection = hubs.server().connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT client_port FROM pg_stat_activity WHERE usename = 'parley' AND " + where)) {
            while (row.next()) {
                ports.add(row.getInt(1));
            }
        }
        return ports;
    }

    @Test
    void anOpenSnapshotDoesNotSlowHubsDown() throws Exception {
        try (var history = new History(hubs)) {
            history.await(Promise.LONG ? 20_000 : 100, Duration.ofMinutes(10));
            history.verify();
        }
        double before = microsOfAMessage();
        try (Connection reader = hubs.server().connect();
                Statement snapshot = reader.createStatement()) {
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("SELECT count(*) FROM task");
            try (var history = new History(hubs)) {
                history.await(Promise.LONG ? 20_000 : 100, Duration.ofMinutes(10));
                history.verify();
            }
            assertThat(microsOfAMessage())
                    .as("time of a message in the database")
                    .isLessThan(1.5 * before);
        }
    }

    /** Time in the database of the statements of the writer for a message, each alone. */
    private static double microsOfAMessage() throws SQLException {
        String micros = "SELECT (1000 * sum(total_exec_time))::bigint FROM pg_stat_statements"
                + " WHERE userid = 'parley'::regrole AND query ~ 'stream_group|INSERT INTO'";
        int messages = 100;
        long before = hubs.number(micros);
        for (int i = 0; i < messages; i++) {
            assertThat(hubs.get(0).calls().send("s-" + UUID.randomUUID()).sentTask())
                    .isNotNull();
        }
        return (double) (hubs.number(micros) - before) / messages;
    }

    @Test
    void keysInOppositeOrdersAreChangedWithoutErrors() throws Exception {
        var changes = new OppositeChanges(hubs.get(0).operator(), hubs.get(1).operator());
        List<Answer> answers = changes.run(Promise.LONG ? 200 : 3);

        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.status()).as(answer.toString()).isBetween(200, 299);
            assertThat(answer.body()).doesNotContain("\"error\":{");
        });
    }

    @Test
    void clocksThatAreAnHourApartEndNoHub() throws Exception {
        long stream = hubs.newestStream();
        try (var history = new History(hubs)) {
            history.await(10, Promise.RETURN);
            setClockOfDatabase(hubs.server(), "1 hour");
            Promise.last(LEASE, hubs.get(0).process());
            history.await(10, Promise.RETURN);
            setClockOfDatabase(hubs.server(), "0");
            history.await(10, Promise.RETURN);
            history.verify();
        }
        assertThat(hubs.newestStream()).isEqualTo(stream);
        assertThat(hubs.streams()).isEqualTo(3);
    }

    /** Has the database show hubs a time that is later than that of the machine. */
    private static void setClockOfDatabase(DatabaseServer database, String later) throws SQLException {
        for (String clock : List.of("clock_timestamp", "statement_timestamp")) {
            database.execute("CREATE OR REPLACE FUNCTION public." + clock + "() RETURNS TIMESTAMPTZ LANGUAGE sql"
                    + " AS 'SELECT pg_catalog." + clock + "() + INTERVAL ''" + later + "'''");
        }
    }

    @AfterEach
    void verifyAudit() {
        Eventually.within(
                VERIFIED,
                "the audit is good",
                () -> Boolean.TRUE.equals(
                        hubs.get(0).operator().get("/admin/audit/verify").json().get("good")));
        callers.close();
    }
}

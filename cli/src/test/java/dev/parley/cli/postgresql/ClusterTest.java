package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.store.database.SilentProxy;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs in processes of their own that work with one database at the same time. */
@Tag("heavy")
@Tag("measured")
@Timeout(300)
final class ClusterTest {
    private static final int SENDERS = 4;

    /** Tasks of a hub whose process was killed go on in less than 2.5 s; the rest is for a busy machine. */
    private static final Duration TAKEN_OVER = Duration.ofSeconds(8);

    /** A hub that is paused or cut off is ended in less than 11 s; the rest is for a busy machine. */
    private static final Duration LEASE_OVER = Duration.ofSeconds(18);

    private static final Duration START = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private static DatabaseServer server;
    private final List<Member> members = new ArrayList<>();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    /** A hub at a port, with a directory of its own. */
    private final class Member implements AutoCloseable {
        private final Path home;
        private final int port;
        private final String database;
        private HubProcess process;

        Member(String database) throws IOException {
            this.home = directory.resolve("hub" + members.size());
            this.port = DebianPostgresql.freePort();
            this.database = database;
            members.add(this);
            launch();
        }

        void launch() throws IOException {
            process = HubProcess.share(home, members.getFirst().home.resolve("data"), database, port);
        }

        String url() {
            return "http://127.0.0.1:" + port;
        }

        HubCalls calls() {
            return new HubCalls(url());
        }

        AgentClient client(String agent) {
            return AgentClient.connect(url() + "/agents/" + agent);
        }

        boolean isReady() {
            return calls().ready().status() == Answer.OK;
        }

        void awaitReady(Duration limit) {
            Eventually.within(limit, "hub " + port + " works: " + process.log(), this::isReady);
        }

        @Override
        public void close() {
            process.close();
        }
    }

    @BeforeAll
    static void start() throws Exception {
        server = DatabaseServer.primary();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @AfterEach
    void close() throws Exception {
        members.forEach(Member::close);
        callers.close();
        server.execute("DROP SCHEMA public CASCADE", "CREATE SCHEMA public AUTHORIZATION parley");
    }

    private void start(int hubs) throws Exception {
        for (int i = 0; i < hubs; i++) {
            new Member(server.url()).awaitReady(START);
        }
    }

    private HubCalls balancer() {
        return new HubCalls(members.stream().map(Member::url).toArray(String[]::new));
    }

    private static long number(String query) {
        try {
            return server.number(query);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static long streams() {
        return number("SELECT count(*) FROM stream");
    }

    private static void awaitStreams(long count, Duration limit) {
        Eventually.within(limit, count + " streams", () -> streams() == count);
    }

    /** The steps of a counter as its stream at a hub has them, until its end. */
    private Future<List<String>> followed(Member hub, String task) {
        var begun = new CountDownLatch(1);
        Callable<List<String>> follow = () -> {
            var steps = new ArrayList<String>();
            try (AgentClient client = hub.client("counter");
                    var stream = client.subscribe(task)) {
                while (stream.hasNext()) {
                    if (stream.next() instanceof TaskStatusUpdateEvent update
                            && update.status().message() != null) {
                        steps.add(update.status().message().text());
                    }
                    begun.countDown();
                }
            }
            return steps;
        };
        Future<List<String>> followed = callers.submit(follow);
        Eventually.holds("the stream has begun", () -> begun.getCount() == 0 || followed.isDone());
        return followed;
    }

    /** Checks that steps follow each other without a gap or repetition, but for the beginning of a further attempt, and reach the end. */
    private static void requireWhole(List<String> steps, int to) {
        int before = 0;
        for (String step : steps) {
            int of = step.indexOf(" of " + to);
            if (of > 0) {
                int number = Integer.parseInt(step.substring(0, of));
                assertThat(before == 0 || number == before + 1)
                        .as(step + " after " + before + " in " + steps)
                        .isTrue();
                before = number;
            } else if (step.endsWith("once more")) {
                before = 0;
            }
        }
        assertThat(before).as(steps.toString()).isEqualTo(to);
    }

    private static String count(Member hub, int to) {
        try (AgentClient client = hub.client("counter")) {
            var atOnce = new SendConfiguration(List.of(), null, null, true);
            return ((Task) client.send(Message.user(Part.text(Integer.toString(to))), atOnce)).id();
        }
    }

    @Test
    void tasksOfAHubThatIsKilledGoOnAtAnotherAndNothingIsLost() throws Exception {
        start(2);
        try (var senders = new Senders(balancer(), SENDERS)) {
            for (int kills = 0; kills < (Promise.LONG ? 50 : 2); kills++) {
                senders.await(50);
                Member killed = members.get(kills % 2);
                Member other = members.get(1 - kills % 2);
                String task = count(killed, 20);
                Future<List<String>> events = followed(other, task);

                killed.close();

                awaitStreams(1, TAKEN_OVER);
                senders.await(20, TAKEN_OVER);
                assertThat(other.isReady()).isTrue();
                requireWhole(events.get(), 20);
                try (AgentClient client = other.client("counter")) {
                    assertThat(client.task(task).state()).isEqualTo(TaskState.COMPLETED);
                }
                killed.launch();
                killed.awaitReady(START);
            }
            senders.verify();
        }
    }

    @Test
    void aMessageThatIsSentToAllHubsAtOnceIsOneTask() throws Exception {
        start(3);
        for (int i = 0; i < (Promise.LONG ? 10_000 : 100); i++) {
            String id = UUID.randomUUID().toString();
            List<Future<Answer>> sent = members.stream()
                    .map(member -> callers.submit(() -> member.calls().send(id)))
                    .toList();
            var tasks = new ArrayList<String>();
            for (Future<Answer> each : sent) {
                tasks.add(each.get().sentTask());
            }
            assertThat(tasks).doesNotContainNull();
            assertThat(tasks).containsOnly(tasks.getFirst());
        }
    }

    @Test
    void aConversationGoesOnAtAnyHub() throws Exception {
        start(3);
        Task task;
        try (AgentClient client = members.getFirst().client("interview")) {
            task = (Task) client.send("hello");
        }

        for (int turn = 1; task.state() == TaskState.INPUT_REQUIRED; turn++) {
            try (AgentClient client = members.get(turn % 3).client("interview")) {
                Message answer = Message.user(Part.text("answer " + turn)).in(task.contextId(), task.id());
                task = (Task) client.send(answer);
            }
        }

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        String running = count(members.getFirst(), 200);
        try (AgentClient client = members.getLast().client("counter")) {
            assertThat(client.cancel(running).state()).isEqualTo(TaskState.CANCELED);
        }
    }

    @Test
    void aHubThatWasPausedWritesNothingAndJoinsAgain() throws Exception {
        start(2);
        Member paused = members.getFirst();
        Member other = members.getLast();
        String before = requireNonNull(paused.calls().send("before").sentTask());
        String counted = count(paused, 100);
        Future<List<String>> events = followed(other, counted);

        paused.process.signal("STOP");
        awaitStreams(1, LEASE_OVER);
        other.awaitReady(TAKEN_OVER);
        String meanwhile = requireNonNull(other.calls().send("meanwhile").sentTask());
        long streamOfOther = number("SELECT max(stream_no) FROM stream");
        try (var sends =
                Repeated.calls(2, () -> paused.calls().send(UUID.randomUUID().toString()))) {
            paused.process.signal("CONT");
            awaitStreams(2, LEASE_OVER);
            paused.awaitReady(START);
            Promise.last(Duration.ofSeconds(1), paused.process);

            assertThat(sends.since(0).filter(answer -> answer.status() == Answer.OK))
                    .as("answers, all from after its return")
                    .allSatisfy(answer -> assertThat(other.calls()
                                    .task(requireNonNull(answer.sentTask()))
                                    .status())
                            .isEqualTo(Answer.OK));
        }
        assertThat(paused.process.log()).contains("the hub has ended, and refuses all requests until it begins anew");
        assertThat(number("SELECT max(stream_no) FROM stream")).isGreaterThan(streamOfOther);
        for (Member member : members) {
            assertThat(member.calls().task(before).status()).isEqualTo(Answer.OK);
            assertThat(member.calls().task(meanwhile).status()).isEqualTo(Answer.OK);
        }
        requireWhole(events.get(), 100);
        try (AgentClient client = paused.client("counter")) {
            assertThat(client.task(counted).state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void hubsThatAreStoppedLeaveAtOnceAndTheirTasksGoOn() throws Exception {
        start(2);
        Member first = members.getFirst();
        Member second = members.getLast();
        String counted = count(first, 100);

        first.process.signal("TERM");
        assertThat(first.process.exitStatus()).isZero();
        awaitStreams(1, Duration.ofSeconds(5)); // less than a lease

        assertThat(number("SELECT count(*) FROM hub WHERE ended_at IS NULL")).isOne();
        assertThat(second.isReady()).isTrue();
        try (AgentClient client = second.client("counter")) {
            Eventually.holds("the task ends", () -> client.task(counted).state().isTerminal());
            assertThat(client.task(counted).state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void noHubIsEndedBecauseTheServerOfTheDatabaseStartsAgain() throws Exception {
        start(2);
        long stream = number("SELECT max(stream_no) FROM stream");
        try (var senders = new Senders(balancer(), SENDERS)) {
            for (int restarts = 0; restarts < (Promise.LONG ? 20 : 2); restarts++) {
                senders.await(20);
                server.stopImmediately();
                server.start();
                senders.await(20, Promise.RETURN);
            }
            for (Member member : members) {
                member.awaitReady(Promise.RETURN);
            }
            senders.verify();
        }
        assertThat(number("SELECT max(stream_no) FROM stream")).isEqualTo(stream);
        assertThat(streams()).isEqualTo(2);
    }

    @Test
    void aHubThatIsCutFromTheDatabaseIsEndedOnlyAfterItsLeaseAndJoinsAgain() throws Exception {
        try (var network = new SilentProxy(server.port())) {
            Member first = new Member(DatabaseServer.url(network.port()));
            first.awaitReady(START);
            new Member(server.url()).awaitReady(START);
            long stream = number("SELECT max(stream_no) FROM stream");
            try (var senders = new Senders(balancer(), SENDERS)) {
                senders.await(20);
                network.hold();
                Promise.last(Duration.ofSeconds(5), first.process);
                network.release();
                senders.await(20, Promise.RETURN);
                assertThat(number("SELECT max(stream_no) FROM stream")).isEqualTo(stream);
                assertThat(streams()).isEqualTo(2);

                network.hold();
                awaitStreams(1, LEASE_OVER);
                assertThat(first.calls()
                                .get("/agents/ping/.well-known/agent-card.json")
                                .status())
                        .isEqualTo(Answer.UNAVAILABLE);
                assertThat(first.calls().get("/health").status()).isEqualTo(Answer.OK);
                network.release();
                first.awaitReady(START);
                senders.await(20, Promise.RETURN);
                assertThat(number("SELECT max(stream_no) FROM stream")).isEqualTo(stream + 1);
                senders.verify();
            }
        }
    }

    @Test
    void hubsThatStartTogetherOnAnEmptyDatabaseAllWork() throws Exception {
        new Member(server.url());
        Eventually.holds(
                "the secrets are made",
                () -> Files.exists(members.getFirst().home.resolve("data/token.secret")));
        new Member(server.url());
        new Member(server.url());
        for (Member member : members) {
            member.awaitReady(START);
        }

        assertThat(streams()).isEqualTo(3);
        for (Member member : members) {
            assertThat(member.calls().send("one").sentTask()).isNotNull();
        }
        assertThat(balancer().tasks()).isOne();
    }

    @Test
    void aHubThatDoesNotShareIsRefusedAndNamesTheOthers() throws Exception {
        start(1);
        HubProcess.copySecrets(members.getFirst().home.resolve("data"), directory.resolve("alone/data"));
        HubProcess alone = HubProcess.launch(directory.resolve("alone"), server.url());

        assertThat(alone.exitStatus()).isNotZero();
        assertThat(alone.log()).contains("in use by another hub").contains("--cluster");
        assertThat(streams()).isOne();
    }
}

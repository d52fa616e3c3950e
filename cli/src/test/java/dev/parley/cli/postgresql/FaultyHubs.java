package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.SilentProxy;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Three hubs in processes of their own on one database, each of which reaches it by a network that may fail. The clock of the second one is an
 * hour fast, that of the third one an hour slow.
 */
final class FaultyHubs implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(2);
    private static final Pattern KEY = Pattern.compile("Bootstrap-Key: (\\S+)");

    private static final List<String> CLOCKS = List.of("+0", "+1h", "-1h");

    private final List<Member> members = new ArrayList<>();
    private final String[] options;
    private final List<HubCalls> balancers = new ArrayList<>();
    private @Nullable String adminKey;
    private DatabaseServer server;

    /** A hub at a port, with a directory of its own. */
    final class Member {
        private final Path home;
        private final int port;
        private final HubCalls calls;
        private final SilentProxy network;
        private final String clock = CLOCKS.get(members.size());
        private HubProcess process;

        @SuppressWarnings("NullAway.Init") // launch() sets it
        private Member(Path home) throws IOException {
            this.home = home;
            this.port = DebianPostgresql.freePort();
            this.calls = new HubCalls(url());
            this.network = new SilentProxy(server.port());
            launch();
        }

        /** Starts the process, which is not running. */
        void launch() throws IOException {
            Map<String, String> environment = Map.of(
                    "LD_PRELOAD",
                    faketime(),
                    "FAKETIME",
                    clock,
                    "FAKETIME_DONT_FAKE_MONOTONIC",
                    "1",
                    "FAKETIME_FORCE_MONOTONIC_FIX", // otherwise waits of the JVM end at once
                    "0");
            Path secrets = members.isEmpty() ? home : members.getFirst().home;
            process = HubProcess.share(
                    home, secrets.resolve("data"), DatabaseServer.url(network.port()), port, environment, options);
        }

        SilentProxy network() {
            return network;
        }

        HubProcess process() {
            return process;
        }

        String url() {
            return "http://127.0.0.1:" + port;
        }

        HubCalls calls() {
            return calls;
        }

        /** Returns calls of an operator. */
        HubCalls operator() {
            return calls.by(requireNonNull(adminKey));
        }

        void awaitReady() {
            try {
                Eventually.within(
                        START, "hub " + port + " works", () -> calls.ready().status() == Answer.OK);
            } catch (AssertionError late) {
                throw new AssertionError(calls.ready() + ", " + process.log(), late);
            }
        }
    }

    /** @param directory in which each hub has one */
    FaultyHubs(DatabaseServer server, Path directory, String... options) throws IOException {
        this.server = server;
        this.options = options;
        Member first = new Member(directory.resolve("hub0"));
        first.awaitReady();
        members.add(first);
        members.add(new Member(directory.resolve("hub1")));
        members.add(new Member(directory.resolve("hub2")));
        members.forEach(Member::awaitReady);
        Matcher key = KEY.matcher(first.process.output());
        assertThat(key.find()).as(first.process.output()).isTrue();
        this.adminKey = requireNonNull(key.group(1));
        for (int i = 0; i < members.size(); i++) {
            balancers.add(
                    new HubCalls(get(i).url(), get(i + 1).url(), get(i + 2).url()));
        }
    }

    private static String faketime() throws IOException {
        try (Stream<Path> files =
                Files.find(Path.of("/usr/lib"), 4, (file, any) -> file.endsWith("faketime/libfaketimeMT.so.1"))) {
            return files.findFirst()
                    .orElseThrow(() -> new AssertionError("libfaketime is not installed"))
                    .toString();
        }
    }

    Member get(int index) {
        return members.get(Math.floorMod(index, members.size()));
    }

    List<Member> all() {
        return members;
    }

    DatabaseServer server() {
        return server;
    }

    /** Leads all hubs to another server. Connections that are open stay. */
    void lead(DatabaseServer other) {
        server = other;
        members.forEach(member -> member.network.lead(other.port()));
    }

    /** Returns calls that begin at a hub, and go on at the next one after a refusal. */
    HubCalls balancer(int first) {
        return balancers.get(Math.floorMod(first, members.size()));
    }

    long number(String query) {
        try {
            return server.number(query);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    long streams() {
        return number("SELECT count(*) FROM stream");
    }

    long newestStream() {
        return number("SELECT max(stream_no) FROM stream");
    }

    void awaitStreams(long count, Duration limit) {
        Eventually.within(limit, count + " streams", () -> streams() == count);
    }

    @Override
    public void close() throws IOException {
        for (Member member : members) {
            member.process.close();
            member.network.close();
        }
    }
}

package dev.parley.cli.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A PostgreSQL server on a free port of this machine: a primary with the database {@code parley} of a role {@code parley}, or a
 * hot standby. Processes are killed in these tests, not the machine, so that it does without {@code fsync}.
 */
final class DatabaseServer implements AutoCloseable {
    private static final List<String> SETTINGS = List.of(
            "listen_addresses = '127.0.0.1'",
            "fsync = off",
            "max_connections = 100",
            "shared_buffers = 32MB",
            "wal_keep_size = 512MB",
            "wal_retrieve_retry_interval = 200ms",
            "hot_standby_feedback = off");

    private final DebianPostgresql installation;
    private final Path data;
    private final int port;
    private boolean isRunning;

    private DatabaseServer(DebianPostgresql installation, Path data, List<String> settings) throws IOException {
        this.installation = installation;
        this.data = data;
        this.port = DebianPostgresql.freePort();
        var lines = new ArrayList<>(settings);
        lines.add("port = " + port);
        lines.add("unix_socket_directories = '" + data + "'");
        Files.write(data.resolve("postgresql.conf"), lines, StandardOpenOption.APPEND);
        start();
    }

    /** Starts a primary with an empty database. */
    static DatabaseServer primary(String... settings) throws IOException, SQLException {
        DebianPostgresql installation = DebianPostgresql.shared();
        Path data = installation.path("primary");
        installation.copyTemplate(data);
        var lines = new ArrayList<>(SETTINGS);
        lines.addAll(List.of(settings));
        var server = new DatabaseServer(installation, data, lines);
        try (Connection connection = server.connect("postgres");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE ROLE parley LOGIN");
            statement.execute("CREATE DATABASE parley OWNER parley");
        }
        return server;
    }

    /** Starts a hot standby that follows this server and has all of it up to now. */
    DatabaseServer standby() throws IOException {
        return standby(port);
    }

    /** @param upstream the port of this server, or of a proxy before it */
    DatabaseServer standby(int upstream) throws IOException {
        Path copy = installation.path("standby");
        installation.run(
                "pg_basebackup",
                "--pgdata=" + copy,
                "--write-recovery-conf",
                "--checkpoint=fast",
                "--no-sync",
                "--dbname=host=127.0.0.1 port=" + upstream + " user=postgres application_name=standby");
        return new DatabaseServer(installation, copy, List.of());
    }

    int port() {
        return port;
    }

    /** The URL of the database, as operators write it. */
    String url() {
        return url(port);
    }

    /** The URL of the database on another port, such as that of a proxy. */
    static String url(int port) {
        return "postgresql://parley@127.0.0.1:" + port + "/parley";
    }

    void start() throws IOException {
        installation.started(data);
        installation.run(
                "pg_ctl",
                "start",
                "--wait",
                "-D",
                data.toString(),
                "-l",
                data.resolve("log").toString());
        isRunning = true;
    }

    /** Ends the server as a failure of its machine does, but for what the kernel has of its files. */
    void stopImmediately() throws IOException {
        installation.run("pg_ctl", "stop", "--wait", "-D", data.toString(), "-m", "immediate");
        installation.stopped(data);
        isRunning = false;
    }

    /** Makes a primary of a standby. */
    void promote() throws IOException {
        installation.run("pg_ctl", "promote", "--wait", "-D", data.toString());
    }

    /** Has a standby receive changes without showing them. */
    void pauseReplay() throws SQLException {
        execute("SELECT pg_wal_replay_pause()");
        Eventually.holds(
                "replay is paused", () -> number("SELECT (pg_get_wal_replay_pause_state() = 'paused')::integer") == 1);
    }

    /** Waits until a standby shows all that this server has written. */
    void awaitReplayed(DatabaseServer standby) throws SQLException {
        long written = number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn");
        Eventually.value(
                "replayed",
                () -> standby.number("SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn"),
                replayed -> replayed >= written);
    }

    /** Ends all sessions of the role of the hub. */
    void terminateSessions() throws SQLException {
        execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'parley'");
    }

    /** Runs statements as the superuser, in the database of the hub. */
    void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** Returns the first column of the first row. */
    long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Connects to the database of the hub as the superuser. */
    Connection connect() throws SQLException {
        return connect("parley");
    }

    private Connection connect(String database) throws SQLException {
        return DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + port + "/" + database, "postgres", "");
    }

    String log() throws IOException {
        return Files.readString(data.resolve("log"), UTF_8);
    }

    @Override
    public void close() throws IOException {
        if (isRunning) {
            stopImmediately();
        }
    }
}

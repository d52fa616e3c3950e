package dev.parley.store.tasks;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.connection.Outage;
import dev.parley.store.database.PostgresqlSystem;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Hints of new events, and of mail, for hubs that share a database of PostgreSQL: {@code NOTIFY} after the commit, on a separate connection. A hub
 * publishes the tasks that it follows on a channel of the schema, and receives hints on the channel of its stream. A hint is lost if its
 * connection or hub fails; the engine also polls the followed tasks and its mail each second. Without a listening connection, all followed
 * tasks, and mail, are reported ten times a second. A hub that listens anew asks the others to publish again what they follow.
 *
 * <p>Safe for any thread.
 */
final class TaskHints implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** A hub that has said so follows a task for so long. */
    private static final Duration INTEREST = Duration.ofSeconds(30);

    /** It says so again after this time, if it still does. */
    private static final Duration AGAIN = Duration.ofSeconds(10);

    /** Time in which hints gather before they are sent together. */
    private static final Duration GATHERING = Duration.ofMillis(5);

    /** A connection on which nothing is heard for so long is tested. */
    private static final Duration TEST = Duration.ofSeconds(10);

    /** Pause between looks at all followed tasks while nothing is heard. */
    private static final Duration LOOK = Duration.ofMillis(100);

    /** Ids in a notification, whose text has at most 8,000 bytes. */
    private static final int IDS = 200;

    /** Tasks that other hubs follow, at most; further ones are found by the look each second. */
    private static final int MOST_FOLLOWED = 100_000;

    private static final Backoff CONNECTS = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

    /** Stands for mail among the ids of tasks. A task of this id has a few hints more. */
    private static final String MAIL = "@mail";

    /** In place of the id of a task that a hub follows: all others say again what they follow. */
    private static final String REPEAT = "@repeat";

    private static final String NOTIFY =
            "SELECT length(CAST(pg_notify('parley_' || hashtext(current_schema()) || ?, ?) AS TEXT))";

    private final PostgresqlSystem system;
    private final Consumer<Set<String>> listener;
    private final Runnable mail;
    private final Line listening = new Line();
    private final Line sending = new Line();
    private final Thread hears;
    private final Thread sends;
    private volatile boolean isClosed;

    /** Streams that follow tasks of this hub, by the ids of these, and until when by {@link System#nanoTime}. */
    private final Map<String, Map<Long, Long>> followers = new ConcurrentHashMap<>();

    /** When this hub has said that it follows a task, by {@link System#nanoTime}. */
    private final Map<String, Long> followed = new ConcurrentHashMap<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition some = lock.newCondition();
    /** Ids to be sent, by the rest of the name of a channel. */
    private Map<String, Set<String>> outgoing = new HashMap<>();

    /** A connection that is opened when it is needed. Used by one thread; any thread may end it. */
    private final class Line {
        private volatile @Nullable Connection open;

        Connection connection() throws SQLException {
            Connection before = open;
            if (before != null) {
                return before;
            }
            Connection opened = system.connect(Use.RENEW);
            open = opened;
            if (isClosed) {
                discard();
            }
            return opened;
        }

        void discard() {
            Connection before = open;
            open = null;
            if (before != null) {
                try {
                    system.close(before);
                } catch (SQLException failure) {
                    LOG.log(Level.DEBUG, "a connection could not be closed", failure);
                }
            }
        }
    }

    /**
     * Their listeners are called on a thread that they must not block.
     *
     * @param listener receives the ids of tasks with new events
     * @param mail called when there may be mail for this hub
     */
    TaskHints(PostgresqlSystem system, Consumer<Set<String>> listener, Runnable mail) {
        this.system = system;
        this.listener = listener;
        this.mail = mail;
        this.hears = Thread.ofPlatform().daemon().name("store-hints").start(this::hearAll);
        this.sends = Thread.ofPlatform().daemon().name("store-hints-sent").start(this::sendAll);
    }

    /** This hub follows a task from now on for half a minute. Does not block. */
    void follow(String taskId) {
        long now = System.nanoTime();
        Long before = followed.get(taskId);
        if (isClosed || !isWord(taskId) || before != null && now - before < AGAIN.toNanos()) {
            return;
        }
        followed.put(taskId, now);
        send("", taskId);
    }

    /** This hub has written events of a task, which are on disk. Does not block. */
    void written(String taskId) {
        Map<Long, Long> streams = followers.get(taskId);
        if (streams != null) {
            long now = System.nanoTime();
            streams.forEach((stream, until) -> {
                if (now - until < 0) {
                    send("_" + stream, taskId);
                }
            });
        }
    }

    /** This hub has written mail for another one, which is on disk. Does not block. */
    void mail(long stream) {
        send("_" + stream, MAIL);
    }

    /** Ids that callers have chosen may not fit into a list of words. */
    private static boolean isWord(String taskId) {
        return taskId.length() <= 36 && taskId.chars().allMatch(c -> c > ' ' && c < 127);
    }

    private void send(String channel, String taskId) {
        lock.lock();
        try {
            outgoing.computeIfAbsent(channel, any -> new LinkedHashSet<>()).add(taskId);
            some.signal();
        } finally {
            lock.unlock();
        }
    }

    // ---- Sending

    private void sendAll() {
        int failures = 0;
        while (!isClosed) {
            try {
                Map<String, Set<String>> gathered = gathered();
                dropOld(); // also while nothing can be sent
                for (Map.Entry<String, Set<String>> each : gathered.entrySet()) {
                    notify(each.getKey(), List.copyOf(each.getValue()));
                }
                failures = 0;
            } catch (InterruptedException closed) {
                break;
            } catch (SQLException | RuntimeException failure) {
                sending.discard();
                followed.replaceAll((task, since) -> since - AGAIN.toNanos()); // others may not have been told
                failures = failed("hints cannot be sent", failure, failures, false);
            }
        }
        sending.discard();
    }

    private Map<String, Set<String>> gathered() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (outgoing.isEmpty()) {
                some.await();
            }
        } finally {
            lock.unlock();
        }
        Thread.sleep(GATHERING);
        lock.lockInterruptibly();
        try {
            Map<String, Set<String>> gathered = outgoing;
            outgoing = new HashMap<>();
            return gathered;
        } finally {
            lock.unlock();
        }
    }

    private void notify(String channel, List<String> ids) throws SQLException {
        String beginning = channel.isEmpty() ? system.stream() + " " : "";
        for (int first = 0; first < ids.size(); first += IDS) {
            String text = beginning + String.join(" ", ids.subList(first, Math.min(first + IDS, ids.size())));
            try (PreparedStatement statement = sending.connection().prepareStatement(NOTIFY)) {
                statement.setString(1, channel);
                statement.setString(2, text);
                statement.executeQuery().close();
            }
        }
    }

    private void dropOld() {
        long now = System.nanoTime();
        followed.values().removeIf(since -> now - since > INTEREST.toNanos());
    }

    private void dropOldFollowers(long now) {
        if (followers.size() > MOST_FOLLOWED / 2) {
            for (Iterator<Map<Long, Long>> each = followers.values().iterator(); each.hasNext(); ) {
                Map<Long, Long> streams = each.next();
                streams.values().removeIf(until -> now - until >= 0);
                if (streams.isEmpty()) {
                    each.remove();
                }
            }
        }
    }

    // ---- Hearing

    private void hearAll() {
        int failures = 0;
        while (!isClosed) {
            try {
                String all = listen();
                failures = 0;
                report(); // since the last look
                send("", REPEAT);
                repeat(); // another hub may have asked for that
                hear(all);
            } catch (InterruptedException closed) {
                break;
            } catch (SQLException | RuntimeException failure) {
                listening.discard();
                failures = failed("hints of other hubs are not heard", failure, failures, true);
            }
        }
        listening.discard();
    }

    /** Returns the name of the channel of all. */
    private String listen() throws SQLException {
        try (Statement statement = listening.connection().createStatement()) {
            String all;
            try (ResultSet row = statement.executeQuery("SELECT hashtext(current_schema())")) {
                row.next();
                all = "parley_" + row.getInt(1);
            }
            statement.execute("LISTEN \"" + all + "\"; LISTEN \"" + all + "_" + system.stream() + "\"");
            return all;
        }
    }

    private void test() throws SQLException {
        try (Statement statement = listening.connection().createStatement()) {
            statement.executeQuery("SELECT 1").close();
        }
    }

    private void hear(String all) throws SQLException, InterruptedException {
        PGConnection connection = listening.connection().unwrap(PGConnection.class);
        while (!isClosed) {
            PGNotification @Nullable [] heard = connection.getNotifications(Math.toIntExact(TEST.toMillis()));
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (heard == null || heard.length == 0) {
                test();
                continue;
            }
            var news = new LinkedHashSet<String>();
            for (PGNotification one : heard) {
                List<String> words = List.of(one.getParameter().split(" "));
                if (!one.getName().equals(all)) {
                    news.addAll(words);
                } else if (words.size() > 1) {
                    followedBy(Long.parseLong(words.getFirst()), words.subList(1, words.size()));
                }
            }
            if (news.contains(MAIL)) {
                mail.run();
            }
            if (!news.isEmpty()) {
                listener.accept(news);
            }
        }
    }

    private void followedBy(long stream, List<String> tasks) {
        long now = System.nanoTime();
        dropOldFollowers(now);
        if (stream == system.stream()) {
            return;
        }
        if (tasks.contains(REPEAT)) {
            repeat();
        }
        if (followers.size() > MOST_FOLLOWED) {
            return;
        }
        long until = now + INTEREST.toNanos();
        tasks.stream()
                .filter(task -> !task.equals(REPEAT))
                .forEach(task -> followers
                        .computeIfAbsent(task, any -> new ConcurrentHashMap<>())
                        .put(stream, until));
    }

    /** Returns the number of failures in a row, after a pause. */
    private int failed(String what, Exception failure, int failures, boolean isDeaf) {
        if (isClosed) {
            return failures;
        }
        if (failures == 0) {
            LOG.log(Level.WARNING, what + ", so that events of other hubs come later: " + Outage.message(failure));
        }
        try {
            long left = CONNECTS.after(failures + 1, null).toMillis();
            for (; left > 0 && !isClosed; left -= LOOK.toMillis()) {
                Thread.sleep(Math.min(left, LOOK.toMillis()));
                if (isDeaf) {
                    report();
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt(); // the loop ends
        }
        return failures + 1;
    }

    /** Says again which tasks this hub follows. */
    private void repeat() {
        long now = System.nanoTime();
        followed.forEach((task, since) -> {
            if (now - since < INTEREST.toNanos()) {
                send("", task);
            }
        });
    }

    /** Reports all that may have news which this hub has not heard of. */
    private void report() {
        listener.accept(Set.copyOf(followed.keySet()));
        mail.run();
    }

    /** Ends both threads, without waiting for them. */
    @Override
    public void close() {
        isClosed = true;
        hears.interrupt();
        sends.interrupt();
        listening.discard();
        sending.discard();
    }
}

package dev.parley.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** One connection's share of a run: one request after the other until it is over. Runs on a thread of its own. */
final class LoadWorker implements Runnable {
    private static final int BUFFER = 16 << 10;
    /** A server that refuses connections is asked no faster than this. */
    private static final long PAUSE_NANOS = 50_000_000;

    /** Numbers of one connection's messages lie below those of the next. */
    private static final int NUMBER_BITS = 40;

    private final LoadRun run;
    private final LoadTarget target;
    private final LoadTally tally;
    private final List<LoadRequest> requests;
    private final boolean streams;
    private final LoadAnswer answer;
    private final LoadEvents events;
    private long number;

    private volatile @Nullable LoadConnection connection;
    private volatile long progressAt;
    private volatile boolean timedOut;

    LoadWorker(LoadRun run, LoadTarget target, LoadKind kind, LoadTally tally, List<LoadRequest> requests, int index) {
        this.run = run;
        this.target = target;
        this.tally = tally;
        this.requests = requests.stream().map(LoadRequest::share).toList();
        this.streams = kind == LoadKind.STREAM;
        this.answer = new LoadAnswer(target.isRpc(), LoadAnswer.PEEK);
        this.events = new LoadEvents(target.isRpc(), more -> {
            progressAt = System.nanoTime();
            tally.events(more);
        });
        this.number = (long) index << NUMBER_BITS;
    }

    @Override
    public void run() {
        while (!run.isOver()) {
            long sentAt = System.nanoTime();
            progressAt = sentAt;
            timedOut = false;
            try (LoadConnection opened = target.connect(BUFFER)) {
                connection = opened;
                while (opened.isReusable() && !run.isOver()) {
                    sentAt = System.nanoTime();
                    exchange(opened, sentAt);
                }
            } catch (IOException failure) {
                if (!run.isOver()) {
                    tally.failed(sentAt, timedOut ? "timeout" : kind(failure));
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            } finally {
                connection = null;
            }
        }
    }

    private void exchange(LoadConnection connection, long sentAt) throws IOException {
        progressAt = sentAt;
        ByteBuffer request = requests.get(run.turn(requests.size())).numbered(number++);
        long before = connection.received();
        connection.send(request);
        connection.receive(streams ? events : answer);
        long doneAt = System.nanoTime();
        String problem = streams ? events.problem() : answer.problem();
        if (problem != null) {
            tally.failed(sentAt, problem);
            return;
        }
        tally.done(sentAt, doneAt, request.limit(), connection.received() - before);
        if (streams) {
            tally.firstEvent(sentAt, events.firstAt());
        }
    }

    private static String kind(IOException failure) {
        return switch (failure) {
            case ConnectException refused -> "connect";
            case SSLException tls -> "tls";
            case EOFException closed -> "closed";
            default -> LoadTarget.reason(failure);
        };
    }

    /** Cancels requests without progress since {@code moment} of {@link System#nanoTime}. Called by any thread. */
    void breakOffIfStuckSince(long moment) {
        if (progressAt - moment < 0) {
            timedOut = true;
            breakOff();
        }
    }

    /** Closes the connection in any state. Called by any thread. */
    void breakOff() {
        LoadConnection opened = connection;
        if (opened != null) {
            try {
                opened.close();
            } catch (IOException already) {
                // it is closed already
            }
        }
    }
}

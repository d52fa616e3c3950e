package dev.parley.load;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/**
 * Counters of a run. Only requests that begin and end within the measured time count; both ends are cut off on purpose,
 * because they hold connections being made and requests that the run itself breaks off. Safe for any thread.
 */
final class LoadTally {
    private static final long MOST = TimeUnit.HOURS.toNanos(1);
    private static final int DIGITS = 3;

    private final long from;
    private final long until;
    private final LongAdder requests = new LongAdder();
    private final LongAdder events = new LongAdder();
    private final LongAdder sent = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final Map<String, LongAdder> errors = new ConcurrentHashMap<>();
    /** One histogram for all threads: one per connection would be a gigabyte for 5,000 of them. */
    private final Histogram latency = new AtomicHistogram(TimeUnit.MICROSECONDS.toNanos(1), MOST, DIGITS);

    private final Histogram firstEvent = new AtomicHistogram(TimeUnit.MICROSECONDS.toNanos(1), MOST, DIGITS);

    /** Counts of a run between two moments of {@link System#nanoTime}. */
    LoadTally(long from, long until) {
        this.from = from;
        this.until = until;
    }

    /** Counts a request that was answered well, from when it was sent to the last byte of its answer. */
    void done(long sentAt, long doneAt, long bytesSent, long bytesReceived) {
        if (counts(sentAt, doneAt)) {
            requests.increment();
            sent.add(bytesSent);
            received.add(bytesReceived);
            latency.recordValue(Math.min(doneAt - sentAt, MOST));
        }
    }

    /** Counts events of streams that go on. */
    void events(int more) {
        long now = System.nanoTime();
        if (counts(now, now)) {
            events.add(more);
        }
    }

    /** Notes how long a stream took to its first event. */
    void firstEvent(long sentAt, long at) {
        if (counts(sentAt, at)) {
            firstEvent.recordValue(Math.min(at - sentAt, MOST));
        }
    }

    /** Counts a request that failed; {@code kind} must be one of a few. */
    void failed(long sentAt, String kind) {
        if (counts(sentAt, sentAt)) {
            errors.computeIfAbsent(kind, unused -> new LongAdder()).increment();
        }
    }

    private boolean counts(long began, long ended) {
        return began - from >= 0 && until - ended >= 0;
    }

    long requests() {
        return requests.sum();
    }

    long events() {
        return events.sum();
    }

    long bytesSent() {
        return sent.sum();
    }

    long bytesReceived() {
        return received.sum();
    }

    /** Number of failed requests, by kind. */
    Map<String, Long> errors() {
        var sums = new TreeMap<String, Long>();
        errors.forEach((kind, sum) -> sums.put(kind, sum.sum()));
        return sums;
    }

    /** From sending to the end of the answer, in nanoseconds. */
    Histogram latency() {
        return latency;
    }

    /** From sending to the first event, in nanoseconds. */
    Histogram firstEvent() {
        return firstEvent;
    }
}

package dev.parley.dialect;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A stream whose reader sees another form of each event. */
record MappedStream(Feed<LoggedEvent> events, UnaryOperator<TaskEvent> view) implements Feed<LoggedEvent> {
    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        List<LoggedEvent> next = events.next(patience);
        return next == null
                ? null
                : next.stream()
                        .map(one -> new LoggedEvent(one.sequence(), view.apply(one.event())))
                        .toList();
    }

    @Override
    public void close() {
        events.close();
    }
}

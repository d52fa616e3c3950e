package dev.parley.hub.extensions;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Count;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Page;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.Selection;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.extension.HubTasks;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The reads of a task log, and of tasks elsewhere.
 *
 * @param remote names of agents of extensions with a task, by group and id
 * @param reader reads and follows a task of the log
 */
record LoggedTasks(
        TaskLog log, BiFunction<String, String, List<String>> remote, Function<TaskKey, Feed<LoggedEvent>> reader)
        implements HubTasks {
    @Override
    public Page list(Query query) {
        return log.list(query);
    }

    @Override
    public void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor) {
        log.walk(selection, lanes, visitor);
    }

    @Override
    public List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        return log.counts(group, owners, agent, limit);
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        return log.read(key, after, limit);
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit, int bytes) {
        return log.read(key, after, limit, bytes);
    }

    @Override
    public NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        return log.times(key, sequence, limit);
    }

    @Override
    public Optional<Head> find(String group, String taskId) {
        return log.find(group, taskId);
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        return log.taskOf(key);
    }

    @Override
    public Optional<String> named(Scope scope, String agent, String name) {
        return log.taskNamed(new TaskName(scope, agent, name));
    }

    @Override
    public List<String> remote(String group, String taskId) {
        return remote.apply(group, taskId);
    }

    @Override
    public Feed<LoggedEvent> follow(TaskKey key) {
        return reader.apply(key);
    }

    @Override
    public List<Head> inTrace(@Nullable String group, String trace, int limit) {
        return log.inTrace(group, trace, limit);
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        return log.cause(key);
    }
}

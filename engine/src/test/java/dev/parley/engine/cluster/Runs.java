package dev.parley.engine.cluster;

import dev.parley.engine.cluster.History.Violation;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Runs of the agent. A message is run once, unless the hub that runs it ends, or the database refuses what it writes. */
final class Runs {
    /** A run of the agent for a message. */
    static final class Run {
        private final Hub hub;
        private final String task;
        private boolean isEnded;

        private Run(Hub hub, String task) {
            this.hub = hub;
            this.task = task;
        }

        void end() {
            isEnded = true;
        }
    }

    private final SimulatedDatabase database;
    private final Consumer<Throwable> broken;
    private final Map<MessageKey, List<Run>> runs = new HashMap<>();
    /** Tasks that are erased, of which nothing is expected any more. */
    final Set<String> erased = new HashSet<>();

    private int begun;

    Runs(SimulatedDatabase database, Consumer<Throwable> broken) {
        this.database = database;
        this.broken = broken;
    }

    int begun() {
        return begun;
    }

    Run begin(Hub hub, Scope scope, String task, String messageId) {
        var message = new MessageKey(scope, Hub.AGENT, messageId);
        var run = new Run(hub, task);
        begun++;
        if (database.isEnded(hub.log.stream())) {
            return run; // a hub that goes on after a pause may act for a moment; its agent has a fencing token
        }
        List<Run> all = runs.computeIfAbsent(message, any -> new ArrayList<>());
        boolean isExcused = database.messagesThatWentBack.contains(message);
        for (Run before : all) {
            boolean isGone = erased.contains(before.task)
                    || database.tasksThatWentBack.contains(new TaskKey(scope, Hub.AGENT, before.task))
                    || database.unwritten.contains(before.task);
            if (before.hub.isAlive() && database.isAlive(before.hub.log.stream()) && !isGone && !isExcused) {
                broken.accept(new Violation("message " + messageId + " of task " + before.task + " is run once: hub "
                        + before.hub.log.stream() + (before.isEnded ? " has run it, and hub " : " runs it, and hub ")
                        + hub.log.stream() + " begins to, for task " + task));
            }
        }
        all.add(run);
        return run;
    }
}

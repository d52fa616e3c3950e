package dev.parley.store.database;

import dev.parley.store.connection.Outage;
import dev.parley.store.spi.OutageException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a hub whose writes the database refuses although it takes others, for instance because a table of theirs is missing. Nothing is
 * refused for that: each write is tried. The last refused work of a part is kept, and written again, without a commit, when
 * {@link Writer#testWriting} is called, which shows whether the fault has passed. Safe for any thread, except where noted.
 */
final class Refusals {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** The part of tasks, their webhooks and the audit, which every call of an agent needs. */
    private static final String TASKS = "store";

    private static final String USERS = "trust";

    private static final String OWN = "dev.parley.";

    private record Refused(Work work, String reason) {}

    private final Map<String, Refused> parts = new ConcurrentHashMap<>();

    /** Returns the part of the hub that has a class: its module, or its package if it is not one of Parley's. */
    static String part(Class<?> type) {
        String name = type.getPackageName();
        if (!name.startsWith(OWN)) {
            return name;
        }
        int end = name.indexOf('.', OWN.length());
        return name.substring(OWN.length(), end < 0 ? name.length() : end);
    }

    /** Whether a hub can do nothing without the tables of a part: those of tasks and of users. */
    static boolean isOfAll(String part) {
        return part.equals(TASKS) || part.equals(USERS);
    }

    boolean isEmpty() {
        return parts.isEmpty();
    }

    /** Records a refused work, and returns what to tell its caller. */
    OutageException add(Work work, Exception problem) {
        String part = work.part();
        String reason = reason(part, problem);
        Refused before = parts.put(part, new Refused(work, reason));
        boolean isNew = before == null || !before.reason.equals(reason);
        LOG.log(isNew ? Level.ERROR : Level.DEBUG, reason, problem);
        return new OutageException("could not write", reason, problem);
    }

    private static String reason(String part, Exception problem) {
        return "the database refuses writes of " + (part.equals(TASKS) ? "tasks" : part) + ": " + Outage.words(problem);
    }

    /**
     * Tries the works again and forgets those that are not refused any more. On the writer's thread.
     *
     * @param attempt writes a work without a commit, and returns why it is refused; null if it is not
     * @return whether some are not refused any more
     */
    boolean tryAgain(Function<Work, @Nullable Exception> attempt) {
        int before = parts.size();
        parts.forEach((part, refused) -> {
            Exception problem = attempt.apply(refused.work);
            if (problem == null || !Outage.isStanding(problem)) {
                parts.remove(part);
                LOG.log(Level.INFO, "the database takes writes of {0} again", part.equals(TASKS) ? "tasks" : part);
            } else {
                parts.put(part, new Refused(refused.work, reason(part, problem)));
            }
        });
        return parts.size() < before;
    }

    /** Why no task can be written; empty if none was refused. */
    Optional<String> ofTasks() {
        return Optional.ofNullable(parts.get(TASKS)).map(Refused::reason);
    }

    /** Why other parts cannot write, by their names. */
    Map<String, String> ofOthers() {
        var reasons = new TreeMap<String, String>();
        parts.forEach((part, refused) -> {
            if (!part.equals(TASKS)) {
                reasons.put(part, refused.reason);
            }
        });
        return reasons;
    }
}

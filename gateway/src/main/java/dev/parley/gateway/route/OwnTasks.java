package dev.parley.gateway.route;

import dev.parley.gateway.route.Owners.Place;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.PageToken;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists of the tasks of a caller, by the record of owners: each task is read from the remote agent, so the lists of other principals and of
 * agents without lists do not matter.
 *
 * @param read reads a task
 */
record OwnTasks(String route, Owners owners, Function<String, Task> read) {
    /** Tasks that a page reads at most, shown or not. */
    private static final int MOST_READ = 200;

    private static final int AT_ONCE = 8;

    TaskPage list(ListTasks list, CallContext context) {
        int size = list.pageSize() == null ? ListTasks.DEFAULT_PAGE_SIZE : list.pageSize();
        Scope owner = context.scope();
        List<?> question = Arrays.asList(route, owner, list.contextId(), list.status(), list.statusTimestampAfter());
        Place after = place(question, list.pageToken());
        var shown = new ArrayList<Task>();
        int seen = 0;
        boolean more = true;
        while (more && shown.size() < size && seen < MOST_READ) {
            int limit = Math.min(size - shown.size(), MOST_READ - seen);
            List<Place> places = owners.tasks(route, owner, list.contextId(), after, limit);
            more = places.size() == limit;
            seen += places.size();
            after = places.isEmpty() ? after : places.getLast();
            all(places).stream()
                    .filter(task -> isWanted(task, list))
                    .map(task -> task.view(list.historyLength(), list.includeArtifacts()))
                    .forEach(shown::add);
        }
        boolean ends =
                !more || owners.tasks(route, owner, list.contextId(), after, 1).isEmpty();
        boolean isWhole = ends && (list.pageToken() == null || list.pageToken().isEmpty());
        return new TaskPage(
                shown,
                ends ? "" : PageToken.of(question, List.of(after.at(), after.id())),
                size,
                isWhole ? shown.size() : total(list, owner),
                list.includeArtifacts());
    }

    /** Number of tasks on all pages; tasks of a filtered list beyond those that are read at most count as if they were on it. */
    private int total(ListTasks list, Scope owner) {
        int total = owners.count(route, owner, list.contextId());
        if (list.status() == null && list.statusTimestampAfter() == null) {
            return total;
        }
        List<Place> places = owners.tasks(route, owner, list.contextId(), Place.BEGIN, MOST_READ);
        long wanted = all(places).stream().filter(task -> isWanted(task, list)).count();
        return (int) wanted + Math.max(0, total - places.size());
    }

    private static boolean isWanted(Task task, ListTasks list) {
        TaskState state = list.status();
        Instant after = list.statusTimestampAfter();
        Instant changed = task.status().timestamp();
        return (state == null || task.state() == state)
                && (after == null || changed != null && !changed.isBefore(after));
    }

    /** Reads tasks, some at once; those that the remote agent does not have any more are left out. */
    private List<Task> all(List<Place> places) {
        var free = new Semaphore(AT_ONCE);
        List<FutureTask<Optional<Task>>> reads = places.stream()
                .map(place -> new FutureTask<>(reading(place.id(), free)))
                .toList();
        reads.forEach(each -> Thread.ofVirtual().name("gateway-list").start(each));
        var tasks = new ArrayList<Task>();
        try {
            for (FutureTask<Optional<Task>> each : reads) {
                each.get().ifPresent(tasks::add);
            }
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException problem ? problem : new IllegalStateException(failed);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The gateway is stopping", java.time.Duration.ofSeconds(1));
        } finally {
            reads.forEach(each -> each.cancel(true));
        }
        return tasks;
    }

    private Callable<Optional<Task>> reading(String id, Semaphore free) {
        return () -> {
            free.acquire();
            try {
                return Optional.of(read.apply(id));
            } catch (A2AException gone) {
                if (gone.error() == A2AError.TASK_NOT_FOUND) {
                    return Optional.empty();
                }
                throw gone;
            } finally {
                free.release();
            }
        };
    }

    private static Place place(List<?> question, @Nullable String token) {
        return token == null || token.isEmpty()
                ? Place.BEGIN
                : PageToken.read(
                        question,
                        token,
                        2,
                        at -> new Place(Long.parseLong(at.get(0)), at.get(1)),
                        () -> A2AException.invalidParams(
                                "pageToken", "unknown (expected: the nextPageToken of the same caller and filters)"));
    }
}

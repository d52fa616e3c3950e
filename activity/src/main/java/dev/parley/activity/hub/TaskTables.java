package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.AgentCounts;
import dev.parley.activity.ActivityOperation.CountTasks;
import dev.parley.activity.ActivityOperation.FindTasks;
import dev.parley.activity.ActivityOperation.TaskCounts;
import dev.parley.activity.ActivityOperation.TaskPage;
import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.engine.spi.TaskLog.Count;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.engine.spi.TaskLog.Position;
import dev.parley.engine.spi.TaskLog.Selection;
import dev.parley.extension.HubParts;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Caller;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.support.PageToken;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Lists and counts of tasks over all agents. Safe for any thread. */
final class TaskTables {
    /** Time after which a page ends, be it empty: its token leads to the next one. */
    private static final Duration LONGEST_PAGE = Duration.ofMillis(250);

    /** Time in which an answer is found, with the wait for those of others. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int DEFAULT_PAGE = 50;
    private static final int MOST_AGENTS = 1_000;
    private static final int MOST_COUNTS = 100_000;
    private static final String STATE = "TASK_STATE_";

    /** A question, and all of its caller on which the answer depends. */
    private record Question(Caller caller, Scope scope, boolean isUnauthenticated, Object call) {
        static Question of(CallContext caller, Object call) {
            return new Question(caller.principal(), caller.scope(), caller.isUnauthenticated(), call);
        }
    }

    private final HubParts hub;
    private final TaskViews views;
    private final Supplier<String> newestChange;
    private final SharedAnswers<Question, TaskPage> pages = new SharedAnswers<>();
    private final SharedAnswers<Question, TaskCounts> sums = new SharedAnswers<>();

    /** @param newestChange returns the place of the newest change of a task */
    TaskTables(HubParts hub, TaskViews views, Supplier<String> newestChange) {
        this.newestChange = newestChange;
        this.hub = hub;
        this.views = views;
    }

    TaskPage find(FindTasks find, CallContext caller) {
        Sight sight = Sight.of(hub.agents(), caller, find.reach());
        List<?> question = List.of(caller.caller(), caller.scope(), find.page(null, 0));
        String token = find.after();
        var selection = new Selection(
                sight.group(),
                sight.owners(),
                find.agent(),
                find.states(),
                find.contextId(),
                find.since(),
                find.until(),
                token == null ? null : position(question, token));
        return pages.of(
                Question.of(caller, find),
                () -> hub.database().scan(sight.payer(), PATIENCE, () -> {
                    var page = new Page(find, sight, question);
                    hub.tasks().walk(selection, sight::sees, page);
                    return page.finished();
                }));
    }

    /** Collects a page. */
    private final class Page implements Predicate<Listed> {
        private final FindTasks find;
        private final List<?> question;
        private final boolean showsGroup;
        private final int size;
        private final List<String> words;
        private final long end = System.nanoTime() + LONGEST_PAGE.toNanos();
        private final List<TaskView> rows = new ArrayList<>();
        private @Nullable Listed last;
        private boolean hasMore;

        Page(FindTasks find, Sight sight, List<?> question) {
            this.find = find;
            this.question = question;
            this.showsGroup = sight.group() == null;
            this.size = find.pageSize() == null ? DEFAULT_PAGE : find.pageSize();
            String typed = find.words();
            this.words = typed == null
                    ? List.of()
                    : List.of(typed.toLowerCase(Locale.ROOT).strip().split("\\s+"));
        }

        @Override
        public boolean test(Listed task) {
            if (rows.size() == size || last != null && System.nanoTime() - end > 0) {
                hasMore = true;
                return false;
            }
            last = task;
            if (find.caller() == null || find.caller().equals(task.caller())) {
                TaskView view = views.of(task, showsGroup);
                if (words.isEmpty() || words.stream().allMatch(text(view)::contains)) {
                    rows.add(view);
                }
            }
            return true;
        }

        TaskPage finished() {
            return new TaskPage(rows, hasMore && last != null ? token(question, last) : null);
        }
    }

    private static String text(TaskView task) {
        return Stream.of(task.title(), task.status(), task.agent(), task.taskId(), task.contextId())
                .filter(Objects::nonNull)
                .collect(Collectors.joining("\n"))
                .toLowerCase(Locale.ROOT);
    }

    private static String token(List<?> question, Listed last) {
        return PageToken.of(
                question,
                List.of(
                        last.head().statusTime().toEpochMilli(),
                        last.head().key().taskId()));
    }

    private static Position position(List<?> question, String token) {
        return PageToken.read(
                question,
                token,
                2,
                at -> new Position(Instant.ofEpochMilli(Long.parseLong(at.get(0))), at.get(1)),
                () -> A2AException.invalidParams(
                        "after", '"' + token + "\": unknown (expected: next of a page before)"));
    }

    TaskCounts count(CountTasks count, CallContext caller) {
        Sight sight = Sight.of(hub.agents(), caller, count.reach());
        return sums.of(Question.of(caller, count), () -> count(count, sight));
    }

    private TaskCounts count(CountTasks count, Sight sight) {
        String place = newestChange.get(); // before the counts, which have all changes up to it
        List<Count> counts = hub.database()
                .scan(
                        sight.payer(),
                        PATIENCE,
                        () -> hub.tasks().counts(sight.group(), sight.owners(), count.agent(), MOST_COUNTS));
        var states = new TreeMap<String, Long>();
        var agents = new HashMap<String, Map<String, Long>>();
        var decisions = new HashMap<Scope, Map<String, Boolean>>();
        for (Count each : counts) {
            if (decisions
                    .computeIfAbsent(each.scope(), scope -> new HashMap<>())
                    .computeIfAbsent(each.agent(), agent -> sight.sees(each.scope(), agent))) {
                String state = STATE + each.state().name();
                states.merge(state, each.tasks(), Long::sum);
                agents.computeIfAbsent(each.agent(), agent -> new TreeMap<>()).merge(state, each.tasks(), Long::sum);
            }
        }
        return new TaskCounts(states, largest(agents), place);
    }

    private static List<AgentCounts> largest(Map<String, Map<String, Long>> agents) {
        return agents.entrySet().stream()
                .map(each -> new AgentCounts(each.getKey(), each.getValue()))
                .sorted(Comparator.comparingLong(TaskTables::sum).reversed())
                .limit(MOST_AGENTS)
                .sorted(Comparator.comparing(AgentCounts::agent))
                .toList();
    }

    private static long sum(AgentCounts agent) {
        return agent.states().values().stream().mapToLong(Long::longValue).sum();
    }
}

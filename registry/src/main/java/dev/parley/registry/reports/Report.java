package dev.parley.registry.reports;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.ReportProtocol;
import dev.parley.registry.ReportProtocol.Period;
import dev.parley.registry.ReportProtocol.Subject;
import dev.parley.trust.Trust;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Columns of a report over {@link Usage}. */
enum Report {
    USAGE(report -> report.put("errors", Report::errors)
            .put("success", Report::success)
            .put("p50Millis", row -> row.millis(Measures.CALLS, 0.5))
            .put("p95Millis", row -> row.millis(Measures.CALLS, 0.95))
            .put("bytesReceived", row -> row.number(Measures.RECEIVED))
            .put("bytesSent", row -> row.number(Measures.SENT))
            .put("tasks", Report::ended)
            .put("tasksCompleted", row -> row.number(Measures.TASK + "COMPLETED"))
            .put("webhooks", Report::webhooks)
            .put("webhooksFailed", row -> row.number(Measures.REFUSED))),
    RELIABILITY(report -> report.put("success", Report::success)
            .put("p50Millis", row -> row.millis(Measures.CALLS, 0.5))
            .put("p95Millis", row -> row.millis(Measures.CALLS, 0.95))
            .put("errors", row -> row.below(Measures.ERROR))
            .put("tasks", Report::ended)
            .put("tasksSuccess", row -> percent(row.number(Measures.TASK + "COMPLETED"), ended(row)))
            .put("taskStates", row -> row.below(Measures.TASK))
            .put("runP50Millis", row -> row.millis(Measures.RUNS, 0.5))
            .put("runP95Millis", row -> row.millis(Measures.RUNS, 0.95))
            .put("webhooks", Report::webhooks)
            .put("webhooksSuccess", row -> percent(row.number(Measures.ACCEPTED), webhooks(row))));

    private static final Duration DEFAULT = Duration.ofDays(30);
    private static final int MOST_ROWS = 10_000;
    private static final List<String> ENDED = List.of("COMPLETED", "FAILED", "CANCELED", "REJECTED");

    /** Columns by name. */
    private static final class Columns {
        final Map<String, Function<Measures, @Nullable Object>> all = new LinkedHashMap<>();

        Columns put(String name, Function<Measures, @Nullable Object> column) {
            all.put(name, column);
            return this;
        }
    }

    @SuppressWarnings("Immutable") // not changed after its making
    private final Columns columns = new Columns().put("calls", Report::calls);

    Report(Consumer<Columns> more) {
        more.accept(columns);
    }

    /** The report. */
    ReportProtocol.Report of(Usage usage, Period given, CallContext operator) {
        Instant now = Instant.now();
        Instant until = requireNonNullElse(given.until(), now);
        Instant since = requireNonNullElse(given.since(), until.minus(DEFAULT)).truncatedTo(ChronoUnit.HOURS);
        if (!since.isBefore(until)) {
            throw A2AException.invalidParams("since", since + " (expected: before " + until + ")");
        }
        String own = Trust.groupOf(operator);
        String group = given.group();
        if (own != null && group != null && !own.equals(group)) {
            throw A2AException.invalidParams("group", group + " (expected: " + own + ", the group of the caller)");
        }
        List<Subject> subjects = given.by();
        var rows = new HashMap<List<String>, Measures>();
        usage.read(since, until, own == null ? group : own, row -> {
            List<String> key =
                    subjects.stream().map(subject -> value(subject, row)).toList();
            if (rows.size() == MOST_ROWS && !rows.containsKey(key)) {
                throw A2AException.invalidParams(
                        "by", "more than " + MOST_ROWS + " rows (expected: fewer subjects, or less time)");
            }
            rows.computeIfAbsent(key, any -> new Measures()).add(row.measures());
        });
        var shown = new ArrayList<Map<String, Object>>();
        rows.entrySet().stream()
                .sorted(Map.Entry.<List<String>, Measures>comparingByKey(Comparator.comparing(
                                key -> subjects.stream().anyMatch(Report::isTime) ? key.toString() : ""))
                        .thenComparing(row -> calls(row.getValue()), Comparator.reverseOrder())
                        .thenComparing(row -> row.getKey().toString()))
                .forEach(row -> shown.add(shown(subjects, row.getKey(), row.getValue())));
        return new ReportProtocol.Report(since, until, shown);
    }

    private static boolean isTime(Subject subject) {
        return subject == Subject.HOUR || subject == Subject.DAY;
    }

    private static String value(Subject subject, Usage.Row row) {
        Usage.Key key = row.key();
        return switch (subject) {
            case AGENT -> key.agent();
            case SKILL -> key.skill();
            case CALLER -> key.caller();
            case GROUP -> key.group();
            case DAY ->
                Instant.ofEpochMilli(row.hour())
                        .atZone(ZoneOffset.UTC)
                        .toLocalDate()
                        .toString();
            case HOUR -> Instant.ofEpochMilli(row.hour()).toString();
        };
    }

    private Map<String, Object> shown(List<Subject> subjects, List<String> values, Measures row) {
        var shown = new LinkedHashMap<String, Object>();
        for (int i = 0; i < subjects.size(); i++) {
            shown.put(subjects.get(i).column(), values.get(i));
        }
        columns.all.forEach((name, column) -> {
            Object value = column.apply(row);
            if (value != null) {
                shown.put(name, value);
            }
        });
        return shown;
    }

    private static long calls(Measures row) {
        return row.sum(Measures.CALLS.prefix());
    }

    private static long errors(Measures row) {
        return row.sum(Measures.ERROR);
    }

    private static @Nullable Double success(Measures row) {
        return percent(calls(row) - errors(row), calls(row));
    }

    private static long ended(Measures row) {
        return ENDED.stream()
                .mapToLong(state -> row.number(Measures.TASK + state))
                .sum();
    }

    private static long webhooks(Measures row) {
        return row.number(Measures.ACCEPTED) + row.number(Measures.REFUSED);
    }

    /** Per cent with two decimals; null of nothing. */
    private static @Nullable Double percent(long part, long whole) {
        return whole == 0 ? null : Math.round(part * 10_000.0 / whole) / 100.0;
    }
}

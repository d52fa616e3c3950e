package dev.parley.registry.reports;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.ReportProtocol;
import dev.parley.registry.ReportProtocol.Period;
import dev.parley.registry.ReportProtocol.Reliability;
import dev.parley.registry.ReportProtocol.Row;
import dev.parley.registry.ReportProtocol.Subject;
import dev.parley.registry.ReportProtocol.Use;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A report over {@link Usage}. */
final class Report<M> {
    private static final String COMPLETED = Measures.TASK + "COMPLETED";

    /** Use of agents. */
    static final Report<Use> USAGE = new Report<>(row -> new Use(
            calls(row),
            errors(row),
            success(row),
            row.millis(Measures.CALLS, 0.5),
            row.millis(Measures.CALLS, 0.95),
            row.number(Measures.RECEIVED),
            row.number(Measures.SENT),
            ended(row),
            row.number(COMPLETED),
            webhooks(row),
            row.number(Measures.REFUSED)));

    /** Failures and durations of agents. */
    static final Report<Reliability> RELIABILITY = new Report<>(row -> new Reliability(
            calls(row),
            success(row),
            row.millis(Measures.CALLS, 0.5),
            row.millis(Measures.CALLS, 0.95),
            row.below(Measures.ERROR),
            ended(row),
            percent(row.number(COMPLETED), ended(row)),
            row.below(Measures.TASK),
            row.millis(Measures.RUNS, 0.5),
            row.millis(Measures.RUNS, 0.95),
            webhooks(row),
            percent(row.number(Measures.ACCEPTED), webhooks(row))));

    private static final Duration DEFAULT = Duration.ofDays(30);
    private static final int MOST_ROWS = 10_000;
    private static final List<String> ENDED = List.of("COMPLETED", "FAILED", "CANCELED", "REJECTED");

    private final Function<Measures, M> measures;

    private Report(Function<Measures, M> measures) {
        this.measures = measures;
    }

    /** The report. */
    ReportProtocol.Report<M> of(Usage usage, Period given, CallContext operator) {
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
        var shown = new ArrayList<Row<M>>();
        rows.entrySet().stream()
                .sorted(Map.Entry.<List<String>, Measures>comparingByKey(Comparator.comparing(
                                key -> subjects.stream().anyMatch(Report::isTime) ? key.toString() : ""))
                        .thenComparing(row -> calls(row.getValue()), Comparator.reverseOrder())
                        .thenComparing(row -> row.getKey().toString()))
                .forEach(row -> shown.add(shown(subjects, row.getKey(), row.getValue())));
        return new ReportProtocol.Report<>(since, until, shown);
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

    private Row<M> shown(List<Subject> subjects, List<String> values, Measures row) {
        var shown = new LinkedHashMap<Subject, String>();
        for (int i = 0; i < subjects.size(); i++) {
            shown.put(subjects.get(i), values.get(i));
        }
        return new Row<>(shown, measures.apply(row));
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

package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.DOUBLE;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DescribedCodecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** Operations of the administration that report calls of agents. */
public final class ReportProtocol {
    public static final String USAGE = "reports/usage";
    public static final String RELIABILITY = "reports/reliability";
    public static final String SERIES = "measures";

    private static final String ADMIN = "admin/";

    private ReportProtocol() {}

    /** Subject of a row of a report. */
    public enum Subject {
        AGENT,
        SKILL,
        CALLER,
        GROUP,
        HOUR,
        DAY;

        /** The name of its column. */
        public String column() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Which calls a report is about.
     *
     * @param since from the hour of this time on; null for 30 days ago
     * @param until before this time; null for now
     * @param by subjects of the rows, in the order of their columns
     * @param group null for all
     */
    public record Period(
            @Nullable Instant since,
            @Nullable Instant until,
            List<Subject> by,
            @Nullable String group) {}

    /** Reports the use of agents. */
    public record ReportUsage(Period period) implements Operation.ExtensionCall<Report<Use>> {
        @Override
        public String name() {
            return ADMIN + USAGE;
        }
    }

    /** Reports failures and durations of agents. */
    public record ReportReliability(Period period) implements Operation.ExtensionCall<Report<Reliability>> {
        @Override
        public String name() {
            return ADMIN + RELIABILITY;
        }
    }

    /**
     * Shows the calls of the last hour in steps.
     *
     * @param since null for an hour ago
     * @param agent of the calls of the rows; null for all
     * @param operation of the calls of the rows; null for all
     */
    public record ShowSeries(
            @Nullable Instant since,
            @Nullable String agent,
            @Nullable String operation) implements Operation.ExtensionCall<Series> {
        @Override
        public String name() {
            return ADMIN + SERIES;
        }
    }

    /** A table. */
    public record Report<M>(Instant since, Instant until, List<Row<M>> rows) {}

    /**
     * A row of a table.
     *
     * @param <M> measures of the table
     * @param subjects values of the subjects, in the order in which the request names them
     */
    public record Row<M>(Map<Subject, String> subjects, M measures) {}

    /**
     * Use of agents.
     *
     * @param success share of the calls without an error in per cent; null without calls, as the durations are
     */
    public record Use(
            long calls,
            long errors,
            @Nullable Double success,
            @Nullable Double p50Millis,
            @Nullable Double p95Millis,
            long bytesReceived,
            long bytesSent,
            long tasks,
            long tasksCompleted,
            long webhooks,
            long webhooksFailed) {}

    /**
     * Failures and durations of agents.
     *
     * @param success as in {@link Use}; so are the other shares and the durations
     * @param errors calls by the names of their errors
     * @param taskStates tasks by their states after runs
     */
    public record Reliability(
            long calls,
            @Nullable Double success,
            @Nullable Double p50Millis,
            @Nullable Double p95Millis,
            Map<String, Long> errors,
            long tasks,
            @Nullable Double tasksSuccess,
            Map<String, Long> taskStates,
            @Nullable Double runP50Millis,
            @Nullable Double runP95Millis,
            long webhooks,
            @Nullable Double webhooksSuccess) {}

    /** Numbers and durations of calls, in milliseconds. */
    public record Measured(long calls, long errors, double p50Millis, double p95Millis, double p99Millis) {}

    /** Calls of a step that begins at a time. */
    public record Step(Instant at, Measured measured) {}

    /** Calls of an operation of an agent. */
    public record Total(String agent, String operation, Measured measured) {}

    /**
     * Calls in steps.
     *
     * @param rows a row for each step with calls, the oldest first
     * @param totals one for each agent and operation, those with the most calls first
     */
    public record Series(Instant since, Instant until, long stepSeconds, List<Step> rows, List<Total> totals) {}

    private static final Codec<List<Subject>> SUBJECTS = Codecs.via(
            TEXT,
            ReportProtocol::subjects,
            all -> all.stream().map(Subject::column).collect(Collectors.joining(",")));

    private static List<Subject> subjects(String text) {
        var subjects = new ArrayList<Subject>();
        for (String one : text.split(",", -1)) {
            Stream.of(Subject.values())
                    .filter(subject -> subject.column().equals(one))
                    .forEach(subjects::add);
        }
        if (subjects.size() != text.split(",", -1).length
                || Set.copyOf(subjects).size() < subjects.size()) {
            throw InvalidField.of(
                    "",
                    text
                            + Stream.of(Subject.values())
                                    .map(Subject::column)
                                    .collect(Collectors.joining(",", " (expected: some of ", ")")));
        }
        return subjects;
    }

    public static final ObjectCodec<ReportUsage> USAGE_REQUEST =
            report(ReportUsage::period).as(v -> new ReportUsage(period(v)));

    public static final ObjectCodec<ReportReliability> RELIABILITY_REQUEST =
            report(ReportReliability::period).as(v -> new ReportReliability(period(v)));

    private static Period period(ObjectCodec.Values v) {
        return new Period(v.next(), v.next(), v.next(), v.next());
    }

    private static <T> ObjectCodec.Builder<T> report(Function<T, Period> period) {
        return ObjectCodec.<T>of()
                .optional("since", TIME, of -> period.apply(of).since())
                .help(
                        "WHEN",
                        "Calls from the hour of this time on; on a command line also a duration before now; default: 30 days ago.")
                .optional("until", TIME, of -> period.apply(of).until())
                .help("WHEN", "Calls before this time; default: now.")
                .optional(
                        "by",
                        SUBJECTS,
                        List.of(Subject.AGENT),
                        of -> period.apply(of).by())
                .help("SUBJECT[,SUBJECT]", "A row for each: agent, skill, caller, group, hour, day; default: agent.")
                .optional("group", TEXT, of -> period.apply(of).group())
                .help("GROUP", "Only calls of this group.");
    }

    public static final ObjectCodec<ShowSeries> SERIES_REQUEST = ObjectCodec.<ShowSeries>of()
            .optional("since", TIME, ShowSeries::since)
            .help(
                    "WHEN",
                    "Calls from this time on; on a command line also a duration before now; default: an hour ago, which is the most.")
            .optional("agent", TEXT, ShowSeries::agent)
            .help("NAME", "Only calls of this agent.")
            .optional("operation", TEXT, ShowSeries::operation)
            .help("NAME", "Only calls of this operation, such as SendMessage.")
            .as(v -> new ShowSeries(v.next(), v.next(), v.next()));

    private static <M> ObjectCodec.Builder<Row<M>> row(List<Subject> order) {
        var shape = ObjectCodec.<Row<M>>of();
        for (Subject subject : order) {
            shape.optional(subject.column(), TEXT, row -> row.subjects().get(subject));
        }
        return shape;
    }

    private static Map<Subject, String> subjectsOf(List<Subject> order, ObjectCodec.Values v) {
        var subjects = new LinkedHashMap<Subject, String>();
        for (Subject subject : order) {
            String value = v.next();
            if (value != null) {
                subjects.put(subject, value);
            }
        }
        return subjects;
    }

    /** @param rows codec of rows that have some subjects, in this order */
    private static <M> Codec<Report<M>> table(Function<List<Subject>, ObjectCodec<Row<M>>> rows) {
        return ObjectCodec.<Report<M>>of()
                .required("since", TIME, Report::since)
                .required("until", TIME, Report::until)
                .required(
                        "rows",
                        Codecs.list(DescribedCodecs.like(rows.apply(List.of(Subject.values())), new RowCodec<>(rows))),
                        Report::rows)
                .as(v -> new Report<>(v.next(), v.next(), v.next()));
    }

    /** Rows with their subjects in the order in which a request names them: tables have the columns in that of the members. */
    private record RowCodec<M>(
            Function<List<Subject>, ObjectCodec<Row<M>>> rows, Map<List<Subject>, ObjectCodec<Row<M>>> ordered)
            implements Codec<Row<M>> {
        RowCodec(Function<List<Subject>, ObjectCodec<Row<M>>> rows) {
            this(rows, new ConcurrentHashMap<>());
        }

        private ObjectCodec<Row<M>> of(List<Subject> order) {
            return ordered.computeIfAbsent(order, rows);
        }

        @Override
        public String expected() {
            return of(List.of()).expected();
        }

        @Override
        public @Nullable Row<M> read(JsonParser in) {
            Object json = Codecs.FREE.read(in);
            List<Subject> order = json instanceof Map<?, ?> members
                    ? members.keySet().stream()
                            .flatMap(name -> Stream.of(Subject.values())
                                    .filter(subject -> subject.column().equals(name)))
                            .toList()
                    : List.of();
            return of(order).fromJson(json);
        }

        @Override
        public void write(JsonGenerator out, Row<M> row) {
            of(List.copyOf(row.subjects().keySet())).write(out, row);
        }
    }

    private static <V extends @Nullable Object> Function<Row<Use>, V> use(Function<Use, V> measure) {
        return row -> measure.apply(row.measures());
    }

    public static final Codec<Report<Use>> USAGE_REPORT = table(order -> ReportProtocol.<Use>row(order)
            .required("calls", COUNT, use(Use::calls))
            .required("errors", COUNT, use(Use::errors))
            .optional("success", DOUBLE, use(Use::success))
            .optional("p50Millis", DOUBLE, use(Use::p50Millis))
            .optional("p95Millis", DOUBLE, use(Use::p95Millis))
            .required("bytesReceived", COUNT, use(Use::bytesReceived))
            .required("bytesSent", COUNT, use(Use::bytesSent))
            .required("tasks", COUNT, use(Use::tasks))
            .required("tasksCompleted", COUNT, use(Use::tasksCompleted))
            .required("webhooks", COUNT, use(Use::webhooks))
            .required("webhooksFailed", COUNT, use(Use::webhooksFailed))
            .as(v -> new Row<>(
                    subjectsOf(order, v),
                    new Use(
                            v.<Long>next(),
                            v.<Long>next(),
                            v.next(),
                            v.next(),
                            v.next(),
                            v.<Long>next(),
                            v.<Long>next(),
                            v.<Long>next(),
                            v.<Long>next(),
                            v.<Long>next(),
                            v.<Long>next()))));

    private static <V extends @Nullable Object> Function<Row<Reliability>, V> reliability(
            Function<Reliability, V> measure) {
        return row -> measure.apply(row.measures());
    }

    public static final Codec<Report<Reliability>> RELIABILITY_REPORT =
            table(order -> ReportProtocol.<Reliability>row(order)
                    .required("calls", COUNT, reliability(Reliability::calls))
                    .optional("success", DOUBLE, reliability(Reliability::success))
                    .optional("p50Millis", DOUBLE, reliability(Reliability::p50Millis))
                    .optional("p95Millis", DOUBLE, reliability(Reliability::p95Millis))
                    .required("errors", Codecs.map(COUNT), reliability(Reliability::errors))
                    .required("tasks", COUNT, reliability(Reliability::tasks))
                    .optional("tasksSuccess", DOUBLE, reliability(Reliability::tasksSuccess))
                    .required("taskStates", Codecs.map(COUNT), reliability(Reliability::taskStates))
                    .optional("runP50Millis", DOUBLE, reliability(Reliability::runP50Millis))
                    .optional("runP95Millis", DOUBLE, reliability(Reliability::runP95Millis))
                    .required("webhooks", COUNT, reliability(Reliability::webhooks))
                    .optional("webhooksSuccess", DOUBLE, reliability(Reliability::webhooksSuccess))
                    .as(v -> new Row<>(
                            subjectsOf(order, v),
                            new Reliability(
                                    v.<Long>next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.<Long>next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.<Long>next(),
                                    v.next()))));

    private static <T> ObjectCodec.Builder<T> measured(ObjectCodec.Builder<T> shape, Function<T, Measured> measured) {
        return shape.required("calls", COUNT, of -> measured.apply(of).calls())
                .required("errors", COUNT, of -> measured.apply(of).errors())
                .required("p50Millis", DOUBLE, of -> measured.apply(of).p50Millis())
                .required("p95Millis", DOUBLE, of -> measured.apply(of).p95Millis())
                .required("p99Millis", DOUBLE, of -> measured.apply(of).p99Millis());
    }

    private static Measured measured(ObjectCodec.Values v) {
        return new Measured(v.<Long>next(), v.<Long>next(), v.<Double>next(), v.<Double>next(), v.<Double>next());
    }

    private static final Codec<Step> STEP = measured(
                    ObjectCodec.<Step>of().required("at", TIME, Step::at), Step::measured)
            .as(v -> new Step(v.next(), measured(v)));

    private static final Codec<Total> TOTAL = measured(
                    ObjectCodec.<Total>of()
                            .required("agent", TEXT, Total::agent)
                            .required("operation", TEXT, Total::operation),
                    Total::measured)
            .as(v -> new Total(v.next(), v.next(), measured(v)));

    public static final Codec<Series> SERIES_ANSWER = ObjectCodec.<Series>of()
            .required("since", TIME, Series::since)
            .required("until", TIME, Series::until)
            .required("stepSeconds", COUNT, Series::stepSeconds)
            .required("rows", Codecs.list(STEP), Series::rows)
            .required("totals", Codecs.list(TOTAL), Series::totals)
            .as(v -> new Series(v.next(), v.next(), v.<Long>next(), v.next(), v.next()));
}

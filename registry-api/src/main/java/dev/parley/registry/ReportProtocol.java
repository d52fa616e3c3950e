package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.DOUBLE;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Operations of the administration that report calls of agents. */
public final class ReportProtocol {
    public static final String USAGE = "reports/usage";
    public static final String RELIABILITY = "reports/reliability";
    public static final String SERIES = "measures";

    private static final String ADMIN = "admin/";

    private ReportProtocol() {}

    /** What a row of a report is about. */
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
    public record ReportUsage(Period period) implements Operation.ExtensionCall<Report> {
        @Override
        public String name() {
            return ADMIN + USAGE;
        }
    }

    /** Reports failures and durations of agents. */
    public record ReportReliability(Period period) implements Operation.ExtensionCall<Report> {
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

    /**
     * A table.
     *
     * @param rows values by the names of the columns: the subjects that the request names, then the measures
     */
    public record Report(Instant since, Instant until, List<Map<String, Object>> rows) {}

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

    public static final Codec<Report> REPORT = ObjectCodec.<Report>of()
            .required("since", TIME, Report::since)
            .required("until", TIME, Report::until)
            .required("rows", Codecs.list(Codecs.map(FREE)), Report::rows)
            .as(v -> new Report(v.next(), v.next(), v.next()));

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

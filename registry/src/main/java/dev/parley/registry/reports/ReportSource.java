package dev.parley.registry.reports;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;
import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.AgentExtension;
import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.extension.PersonalRead;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.ReportProtocol;
import dev.parley.registry.ReportProtocol.Reliability;
import dev.parley.registry.ReportProtocol.ReportReliability;
import dev.parley.registry.ReportProtocol.ReportUsage;
import dev.parley.registry.ReportProtocol.ShowSeries;
import dev.parley.registry.ReportProtocol.Use;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Adds reports to hubs: operations of the administration over measures of all calls. */
public final class ReportSource implements HubExtensionSource {
    private static final String URI = ExtensionUri.permanent("/extensions/reports/v1");
    private static final ExtensionMethod<ReportUsage, ReportProtocol.Report<Use>> USAGE = AdminRow.of(
            ReportProtocol.USAGE,
            ReportUsage.class,
            "GET /reports/usage",
            "Report the use of agents",
            ReportProtocol.USAGE_REQUEST,
            ReportProtocol.USAGE_REPORT);

    private static final ExtensionMethod<ReportReliability, ReportProtocol.Report<Reliability>> RELIABILITY =
            AdminRow.of(
                    ReportProtocol.RELIABILITY,
                    ReportReliability.class,
                    "GET /reports/reliability",
                    "Report failures and durations of agents",
                    ReportProtocol.RELIABILITY_REQUEST,
                    ReportProtocol.RELIABILITY_REPORT);

    private static final ExtensionMethod<ShowSeries, ReportProtocol.Series> SERIES = AdminRow.of(
            ReportProtocol.SERIES,
            ShowSeries.class,
            "GET /measures",
            "Show the calls of the last hour in steps",
            ReportProtocol.SERIES_REQUEST,
            ReportProtocol.SERIES_ANSWER);

    /** @param after rows after so many */
    @AdminCall.Named("privacy/measures")
    private record ListMeasures(String principal, String group, long after)
            implements AdminCall<MeasurePage>, PersonalRead {}

    /**
     * Measures of the calls of a principal.
     *
     * @param next how many rows are on the page and before it; null on the last one
     */
    private record MeasurePage(
            List<Usage.Measured> measures, @Nullable Long next) {}

    private static final Codec<Usage.Measured> MEASURED = ObjectCodec.<Usage.Measured>of()
            .required("hour", TIME, Usage.Measured::hour)
            .required("agent", TEXT, Usage.Measured::agent)
            .required("skill", TEXT, Usage.Measured::skill)
            .required("measures", TEXT, Usage.Measured::measures)
            .as(v -> new Usage.Measured(v.next(), v.next(), v.next(), v.next()));

    private static final ExtensionMethod<ListMeasures, MeasurePage> MEASURES = AdminRow.of(
            ListMeasures.class,
            "GET /privacy/measures",
            "List the measures of the calls of a principal",
            ObjectCodec.<ListMeasures>of()
                    .required("principal", TEXT, ListMeasures::principal)
                    .help("NAME", "The principal.")
                    .optional("group", TEXT, AdminCall.DEFAULT_GROUP, ListMeasures::group)
                    .help("GROUP", "Its group; default: default.")
                    .optional("after", COUNT, 0L, ListMeasures::after)
                    .help("NUMBER", "Rows after so many.")
                    .as(v -> new ListMeasures(v.next(), v.next(), v.<Long>next())),
            ObjectCodec.<MeasurePage>of()
                    .required("measures", Codecs.list(MEASURED), MeasurePage::measures)
                    .optional("next", COUNT, MeasurePage::next)
                    .as(v -> new MeasurePage(v.next(), v.next())));

    /** For the service loader. */
    public ReportSource() {}

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public String uri() {
        return URI;
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return List.of(USAGE, RELIABILITY, SERIES, MEASURES);
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(Usage.TABLES);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new Extension(new Usage(hub.database(), InstantSource.system()));
    }

    private record Extension(Usage usage) implements HubExtension, PersonalData {
        private static final int PAGE = 1_000;

        @Override
        public AgentExtension of(String hub, String agent, boolean streams) {
            return AgentExtension.of(URI, "Reports of a hub");
        }

        @Override
        public String name() {
            return "reports";
        }

        @Override
        public HubObserver hubObserver() {
            return usage;
        }

        @Override
        public Handlers administration() {
            return Handlers.NONE
                    .call(USAGE, (given, by) -> Report.USAGE.of(usage, given.period(), by))
                    .call(RELIABILITY, (given, by) -> Report.RELIABILITY.of(usage, given.period(), by))
                    .call(
                            SERIES,
                            (given, by) -> usage.series()
                                    .since(
                                            requireNonNullElse(given.since(), Instant.EPOCH),
                                            given.agent(),
                                            given.operation()))
                    .call(MEASURES, (given, by) -> measures(given));
        }

        private MeasurePage measures(ListMeasures given) {
            List<Usage.Measured> page = usage.of(given.group(), given.principal(), given.after(), PAGE);
            return new MeasurePage(page, page.size() < PAGE ? null : given.after() + PAGE);
        }

        @Override
        public Optional<PersonalData> personalData() {
            return Optional.of(this);
        }

        @Override
        public void unlink(Collection<String> ids, CallContext operator) {} // measures name no tasks

        @Override
        public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
            return Map.of("measures", usage.erase(operator.scope().group(), principal));
        }

        @Override
        public void close() {
            usage.close();
        }
    }
}

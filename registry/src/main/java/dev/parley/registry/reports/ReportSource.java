package dev.parley.registry.reports;

import static dev.parley.extension.AnswerSchema.ANY;
import static dev.parley.extension.AnswerSchema.COUNT;
import static dev.parley.extension.AnswerSchema.TIME;
import static dev.parley.extension.AnswerSchema.list;
import static dev.parley.extension.AnswerSchema.object;
import static dev.parley.protocol.extension.RestParameter.query;

import dev.parley.engine.AgentExtension;
import dev.parley.engine.Handlers;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.extension.AdminRow;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.registry.ReportProtocol;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Adds reports to hubs: operations of the administration over measures of all calls. */
public final class ReportSource implements HubExtensionSource {
    private static final String URI = ExtensionUri.permanent("/extensions/reports/v1");
    private static final Map<String, Object> REPORT = object("since until", TIME, "rows", list(ANY));
    private static final Map<String, Object> SERIES =
            object("since until", TIME, "stepSeconds", COUNT, "rows totals", list(ANY));

    /** For the service loader. */
    public ReportSource() {}

    @Override
    public String uri() {
        return URI;
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        RestParameter[] parameters = ReportProtocol.PARAMETERS.toArray(RestParameter[]::new);
        return List.of(
                AdminRow.of(ReportProtocol.USAGE, "GET /reports/usage", "Report the use of agents", REPORT, parameters),
                AdminRow.of(
                        ReportProtocol.RELIABILITY,
                        "GET /reports/reliability",
                        "Report failures and durations of agents",
                        REPORT,
                        parameters),
                AdminRow.of(
                        ReportProtocol.SERIES,
                        "GET /measures",
                        "Show the calls of the last hour in steps",
                        SERIES,
                        ReportProtocol.SERIES_PARAMETERS.toArray(RestParameter[]::new)),
                AdminRow.of(
                        "privacy/measures",
                        "GET /privacy/measures",
                        "List the measures of the calls of a principal",
                        object("measures", list(ANY), "next?", COUNT),
                        query("principal", Type.TEXT, "NAME", "The principal.").asRequired(),
                        query("group", Type.TEXT, "GROUP", "Its group; default: default."),
                        query("after", Type.NUMBER, "NUMBER", "Rows behind so many.")));
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
            return AdminHandler.all(Map.of(
                    ReportProtocol.USAGE,
                    (given, by) -> Report.USAGE.of(usage, given, by),
                    ReportProtocol.RELIABILITY,
                    (given, by) -> Report.RELIABILITY.of(usage, given, by),
                    ReportProtocol.SERIES,
                    (given, by) -> series(given),
                    "privacy/measures",
                    (given, by) -> measures(given)));
        }

        private Object series(AdminParameters given) {
            Instant since = given.time("since");
            return usage.series()
                    .since(
                            since == null ? Instant.EPOCH : since,
                            given.textOrNull("agent"),
                            given.textOrNull("operation"));
        }

        private Object measures(AdminParameters given) {
            long after = given.number("after", 0);
            List<Map<String, Object>> page = usage.of(given.group(), given.text("principal"), after, PAGE);
            return page.size() < PAGE ? Map.of("measures", page) : Map.of("measures", page, "next", after + PAGE);
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

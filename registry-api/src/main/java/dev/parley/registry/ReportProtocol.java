package dev.parley.registry;

import static dev.parley.protocol.extension.RestParameter.query;

import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import java.util.List;

/** Operations of the administration that report calls of agents. */
public final class ReportProtocol {
    public static final String USAGE = "reports/usage";
    public static final String RELIABILITY = "reports/reliability";
    public static final String SERIES = "measures";

    /** Parameters of the operations. */
    public static final List<RestParameter> PARAMETERS = List.of(
            query(
                    "since",
                    Type.TIME,
                    "WHEN",
                    "Calls from the hour of this time on; on a command line also a duration before now; default: 30 days ago."),
            query("until", Type.TIME, "WHEN", "Calls before this time; default: now."),
            query(
                    "by",
                    Type.TEXT,
                    "SUBJECT[,SUBJECT]",
                    "A row for each: agent, skill, caller, group, hour, day; default: agent."),
            query("group", Type.TEXT, "GROUP", "Only calls of this group."));

    /** Parameters of {@link #SERIES}. */
    public static final List<RestParameter> SERIES_PARAMETERS = List.of(
            query(
                    "since",
                    Type.TIME,
                    "WHEN",
                    "Calls from this time on; on a command line also a duration before now; default: an hour ago, which is the most."),
            query("agent", Type.TEXT, "NAME", "Only calls of this agent."),
            query("operation", Type.TEXT, "NAME", "Only calls of this operation, such as SendMessage."));

    private ReportProtocol() {}
}

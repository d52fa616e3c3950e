package dev.parley.hub.admin;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.protocol.json.Codecs.TRUTH;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations on hubs. */
public final class HubOperation {
    private HubOperation() {}

    @AdminCall.Named("hubs/list")
    record ListHubs() implements AdminCall<List<HubView>> {}

    /** @param fresh whether the checks run again, in place of the last result */
    @AdminCall.Named("hubs/check")
    record CheckHub(String hub, boolean fresh) implements AdminCall<HealthView> {}

    @AdminCall.Named("hubs/drain")
    record DrainHub(String hub) implements AdminCall<HubView> {}

    @AdminCall.Named("hubs/resume")
    record ResumeHub(String hub) implements AdminCall<HubView> {}

    /** What a hub does with the database that hubs share. */
    enum Role {
        WORKS,
        WAITS
    }

    /**
     * A hub in its database of PostgreSQL.
     *
     * @param number never used again in the database
     * @param name host and process
     * @param level the newest form of tables and events that it knows
     * @param leaseAgeMilliseconds time since it has renewed its lease, by the clock of the database
     * @param tasks unfinished tasks that it owns
     */
    record Membership(long number, String name, long level, Role role, long leaseAgeMilliseconds, long tasks) {}

    /**
     * A hub that runs. Address and load are those of the hub that answers, and null for others.
     *
     * @param drained time since which it takes no new tasks; null if it takes some
     * @param agents number of agents that it hosts
     * @param database null without a database of PostgreSQL
     */
    record HubView(
            String id,
            @Nullable String address,
            String version,
            Instant started,
            @Nullable Instant drained,
            @Nullable Long running,
            @Nullable Long waiting,
            @Nullable Long streams,
            long agents,
            @Nullable Membership database) {}

    /** How good the result of a check is. */
    public enum Level {
        OK,
        WARNING,
        PROBLEM
    }

    /**
     * The result of a check.
     *
     * @param advice what to do; null if the check is good
     * @param taskId of the task that the check is about; null for none
     */
    public record Check(
            String check,
            Level level,
            String message,
            @Nullable String advice,
            @Nullable String taskId,
            @Nullable String agent,
            @Nullable String group) {}

    /** Results of the checks of a hub. */
    record HealthView(Instant made, List<Check> checks) {}

    private static final Codec<Membership> MEMBERSHIP = ObjectCodec.<Membership>of()
            .required("number", COUNT, Membership::number)
            .required("name", TEXT, Membership::name)
            .required("level", COUNT, Membership::level)
            .required("role", Codecs.words(Role.class), Membership::role)
            .required("leaseAgeMilliseconds", COUNT, Membership::leaseAgeMilliseconds)
            .required("tasks", COUNT, Membership::tasks)
            .as(v -> new Membership(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<HubView> HUB = ObjectCodec.<HubView>of()
            .required("id", TEXT, HubView::id)
            .optional("address", TEXT, HubView::address)
            .required("version", TEXT, HubView::version)
            .required("started", TIME, HubView::started)
            .optional("drained", TIME, HubView::drained)
            .optional("running", COUNT, HubView::running)
            .optional("waiting", COUNT, HubView::waiting)
            .optional("streams", COUNT, HubView::streams)
            .required("agents", COUNT, HubView::agents)
            .optional("database", MEMBERSHIP, HubView::database)
            .as(v -> new HubView(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next()));

    private static final Codec<Check> CHECKED = ObjectCodec.<Check>of()
            .required("check", TEXT, Check::check)
            .required("level", Codecs.words(Level.class), Check::level)
            .required("message", TEXT, Check::message)
            .optional("advice", TEXT, Check::advice)
            .optional("taskId", TEXT, Check::taskId)
            .optional("agent", TEXT, Check::agent)
            .optional("group", TEXT, Check::group)
            .as(v -> new Check(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<HealthView> HEALTH = ObjectCodec.<HealthView>of()
            .required("made", TIME, HealthView::made)
            .required("checks", Codecs.list(CHECKED), HealthView::checks)
            .as(v -> new HealthView(v.next(), v.next()));

    static final ExtensionMethod<ListHubs, List<HubView>> LIST = AdminRow.of(
            ListHubs.class,
            "GET /hubs",
            "List the hubs that run",
            ObjectCodec.<ListHubs>of().as(v -> new ListHubs()),
            ObjectCodec.list("hubs", HUB));

    static final ExtensionMethod<CheckHub, HealthView> CHECK = AdminRow.of(
            CheckHub.class,
            "GET /hubs/{hub}/health",
            "Check database, disk, queues and parts of a hub",
            hub(CheckHub::hub)
                    .always("fresh", TRUTH, false, CheckHub::fresh)
                    .help("", "Run the checks again, in place of the last result.")
                    .as(v -> new CheckHub(v.next(), v.next())),
            HEALTH);

    static final ExtensionMethod<DrainHub, HubView> DRAIN = AdminRow.of(
            DrainHub.class,
            "POST /hubs/{hub}/drain",
            "Refuse new tasks until the hub is resumed or restarted",
            hub(DrainHub::hub).as(v -> new DrainHub(v.next())),
            HUB);

    static final ExtensionMethod<ResumeHub, HubView> RESUME = AdminRow.of(
            ResumeHub.class,
            "POST /hubs/{hub}/resume",
            "Take new tasks again",
            hub(ResumeHub::hub).as(v -> new ResumeHub(v.next())),
            HUB);

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(LIST, CHECK, DRAIN, RESUME);

    private static <T> ObjectCodec.Builder<T> hub(Function<T, String> hub) {
        return ObjectCodec.<T>of()
                .required("hub", TEXT, hub)
                .argument("ID", "Id of the hub as the list has it; \"this\" for the one that answers.");
    }
}

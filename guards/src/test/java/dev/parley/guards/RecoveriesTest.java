package dev.parley.guards;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.parley.protocol.retry.Backoff;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Every recovery of the product, with its constants, and every class that waits for a time. A recovery repeats an attempt by itself. All of
 * them have one back-off ({@link Backoff}), whose pauses have a floor, grow and have a cap, and begin anew only after progress.
 */
final class RecoveriesTest {
    private static final JavaClasses CLASSES = ProductClasses.ALL;

    /** The constructors of a back-off, and its factory. */
    private static final Set<String> MAKING = Set.of("<init>", "around");

    private static final Set<String> SLEEPS = Set.of("sleep", "parkNanos");
    private static final Set<String> TIMED = Set.of(
            "await",
            "awaitNanos",
            "wait",
            "schedule",
            "scheduleAtFixedRate",
            "scheduleWithFixedDelay",
            "poll",
            "tryAcquire",
            "get",
            "orTimeout",
            "delayedExecutor");

    /** The bounds after one failure and after many, by the constant. The floor is half of the bound, or two thirds. */
    private static final String CONSTANTS = """
            activity.hub.WatchedChanges.READS PT1S PT30S
            cli.host.HubSuccession.STARTS PT1S PT30S
            engine.MessageAdmission.PENDING PT0.01S PT0.5S
            engine.Recovery.READS PT1S PT17M4S
            engine.Recovery.WRITES PT1S PT1M4S
            engine.Webhooks.PAUSES PT1S PT10M
            engine.Webhooks.STORE_PAUSES PT1S PT1M4S
            engine.scheduling.DeliveryRecords.PAUSES PT0.02S PT1S
            engine.scheduling.QueueClaims.PAUSES PT0.02S PT1S
            gateway.hub.Routes.READINGS PT1S PT1M
            gateway.push.Follower.PAUSES PT1S PT30S
            gateway.route.ReadEvents.PAUSES PT0.25S PT5S
            gateway.upstream.Replicas.PAUSES PT0.1S PT5S
            hub.extensions.DurableTimers.PAUSES PT1S PT10M
            hub.extensions.DurableTimers.READS PT10S PT1M
            knowledge.store.ChangeNumbers.PAUSES PT0.02S PT0.5S
            mcp.agent.ToolAgent.POLLS PT0.1S PT1S
            mcp.client.Pauses.BACKOFF PT0.5S PT5M
            mcp.hub.PolledTask.PAUSES PT0.1S PT5S
            mesh.RetryPolicy.EXPONENTIAL PT1.2S PT1M12S
            mesh.RetryPolicy.LINEAR PT1.2S PT1M12S
            mesh.client.OneClient.READS PT1S PT10S
            mesh.client.PlainAgent.READS PT0.2S PT5S
            mesh.workflow.StepCall.PAUSES PT0.05S PT10S
            registry.federation.PeerCopies.PAUSES PT30S PT10M
            registry.federation.Peers.PAUSES PT10S PT5M
            registry.shared.RowLock.PAUSES PT0.01S PT0.25S
            store.connection.Outage.PAUSES PT0.05S PT1S
            store.database.HubStart.RETRIES PT0.2S PT2S
            store.database.PostgresqlSystem.LOCKS PT0.05S PT0.2S
            store.database.Upgrades.LOCKS PT0.2S PT2S
            store.shared.KeyLocks.PAUSES PT0.01S PT1S
            store.tasks.TaskHints.CONNECTS PT0.1S PT5S
            """;

    /** Recoveries whose bounds come from a setting. */
    private static final Map<String, String> OF_SETTINGS = Map.of(
            "cli.task.TaskWait", "--poll-interval, growing by up to 15 s: a task that is read again",
            "client.AgentClientBuilder", "backoff(first, longest), 200 ms to 10 s: calls and streams of a client",
            "gateway.hub.Refreshes", "half a second to --gateway-refresh: the card of a route that waits",
            "gateway.upstream.Breaker", "pause of a route, 5 s, to a minute: the probe of a replica that has failed",
            "registry.health.Prober", "a fifth of --registry-probes to twelve times it: an agent that does not answer");

    /** Classes that let a thread sleep, with the reason. */
    private static final Map<String, String> SLEEPING = Map.ofEntries(
            entry("activity.hub.WatchedChanges", "20 ms in which changes gather; woken by the end of the hub"),
            entry("bench.MeasuredAgents", "work of an agent that is measured"),
            entry("bench.Neighbour", "pauses between two loads that are measured"),
            entry("bench.PriorityShares", "duration of a measurement"),
            entry("bench.Removals", "duration of a measurement"),
            entry("bench.StoreSize", "a measurement: 30 s for the end of a hub's stream, at most"),
            entry("cli.task.TaskWait", "a command, which Ctrl-C ends"),
            entry("client.login.OAuthLogin", "a command: the interval of RFC 8628, which slow_down lengthens"),
            entry(
                    "knowledge.store.ChangeNumbers",
                    "a caller whose change met the lock of another hub, for 10 s at most"),
            entry("load.LoadWorker", "a load of a given rate"),
            entry("mesh.workflow.RunTurn", "before a task of a step is read again, and until a step tells something"),
            entry("registry.shared.RowLock", "while another hub changes the registry, for 10 s at most"),
            entry("server.helidon.Http2Streams", "woken by the client's window"),
            entry("server.helidon.StreamThreads", "woken by the writer, up to a time limit"),
            entry("server.limits.Pace", "woken by the end of its stream"),
            entry("store.database.HubLease", "a second between two renewals of a lease"),
            entry(
                    "store.database.HubStart",
                    "before a hub registers again, while another one starts, or uses its tables"),
            entry("store.shared.Feeds", "for 5 ms, so that hints to other hubs are sent together"),
            entry("store.shared.KeyLocks", "before a key that another hub writes is tried again, for 10 s at most"),
            entry("store.tasks.TaskHints", "5 ms in which hints gather, and after a connection that has failed"),
            entry("store.database.PostgresqlSystem", "while a database is opened, for 3 s at most"),
            entry("store.database.Upgrades", "until a table that is to be changed is not in use"),
            entry("store.database.Writer", "the writer's own thread, while its database fails"));

    /** Further classes that wait for a time at most, or are called after one. None of them repeats an attempt that has failed. */
    private static final Map<String, String> WAITING = Map.ofEntries(
            entry("activity.hub.ActivityFeed", "end of the time in which calls gather"),
            entry("activity.hub.SharedAnswers", "time limit of a list that another caller reads"),
            entry("agenttools.AgentCall", "time limit of the end of a task when the caller is interrupted"),
            entry("bench.FanOut", "time limit of a measurement"),
            entry("client.calls.HttpElements", "time limit of the head of a stream"),
            entry("client.wire.HttpWire", "time limits of calls; pauses that its callers give it"),
            entry("dialect.grpc.GrpcFeed", "time limit of a reader"),
            entry("dialect.grpc.GrpcRemote", "time limit of a call"),
            entry("engine.Engine", "once a minute: tasks whose time is over are removed"),
            entry("engine.Runs", "time limit of runs when the engine closes"),
            entry("engine.mail.OwnerMail", "time limit of the answer of another engine"),
            entry(
                    "engine.scheduling.PostponedQueues",
                    "the next attempt to send events, after a pause of their webhook"),
            entry("engine.scheduling.TimeLimits", "begin of a run that a limit of its agent postpones"),
            entry("engine.tasks.LiveTask", "time limit of a reader"),
            entry("gateway.push.ShadowRuns", "a signal of a relay; looked at again after five minutes"),
            entry("hub.admin.Hubs", "time limit of the checks"),
            entry("knowledge.changes.RecentChanges", "time limit of a reader"),
            entry("knowledge.remote.SparqlClient", "time limit of an exchange"),
            entry("load.LoadHold", "duration of a load"),
            entry("load.LoadRun", "duration of a load"),
            entry("mcp.client.ClientExchange", "time limit of a request"),
            entry("mcp.agent.OpenCalls", "time limit of a call that goes on at another hub"),
            entry("mcp.client.QuestionRouter", "time limit of a question"),
            entry("mcp.client.StdioTransport", "time limit of the end of a process"),
            entry("mcp.server.Outbox", "time limit of a reader"),
            entry("mcp.server.McpSession", "time limit of a question"),
            entry("mesh.client.Following", "time limit of a reader"),
            entry("outbound.http.OutboundConnections", "closing of connections that are idle, while there are any"),
            entry("outbound.http.Http1Client", "time limit of an exchange"),
            entry("outbound.http.LimitedClient", "time limit of an exchange by any client"),
            entry("protocol.support.ChangeCount", "time limit of a reader"),
            entry("protocol.support.FairPool", "end of a lease"),
            entry("registry.hub.OwnAgents", "end of a publication"),
            entry("registry.reports.Usage", "a sum that is written a moment after its first call"),
            entry("server.MountedSite", "end of the calls of a site that closes"),
            entry("server.helidon.Connections", "tick of the time limits of connections"),
            entry("server.helidon.ReadAhead", "time limit of a body"),
            entry("server.limits.FairScheduler", "end of a share"),
            entry("server.limits.EmptyStream", "time limit of a reader"),
            entry("store.connection.Connector", "time limit of a connection that is opened for a read"),
            entry("store.connection.HangWatch", "time limit of a watched operation"),
            entry("store.database.DatabaseSession", "end of a connection whose statement goes on after its time limit"),
            entry("store.database.HubLease", "renewal of a lease, and looks of a hub that waits for its turn"),
            entry("store.database.Readers", "time limit of a read"),
            entry("store.database.WriteQueue", "time limit of a writer that waits for room"),
            entry("store.shared.BriefWait", "time limit of a write for another hub"),
            entry("store.shared.Epochs", "time limit of a change that another hub has not seen"),
            entry("store.database.Writer", "until the time that the back-off of an Outage gives"));

    private static String name(JavaClass type) {
        String name = type.getName();
        int inner = name.indexOf('$');
        return name.substring("dev.parley.".length(), inner < 0 ? name.length() : inner);
    }

    private static List<Field> constants(JavaClasses classes) {
        return classes.stream()
                .flatMap(type -> type.getFields().stream())
                .filter(field -> field.getRawType().isEquivalentTo(Backoff.class))
                .filter(field -> field.getModifiers().contains(JavaModifier.STATIC))
                .map(JavaField::reflect)
                .toList();
    }

    @Test
    @DisplayName("every recovery has its constant: the bound after one failure, and the longest one")
    void constantsOfAllRecoveries() throws IllegalAccessException {
        assertThat(String.join("\n", bounds(CLASSES))).isEqualTo(CONSTANTS.strip());
    }

    private static Set<String> bounds(JavaClasses classes) throws IllegalAccessException {
        var lines = new TreeSet<String>();
        for (Field constant : constants(classes)) {
            constant.setAccessible(true);
            Backoff backoff = (Backoff) constant.get(null);
            assertThat(backoff.first()).as(constant.toString()).isPositive();
            lines.add(constant.getDeclaringClass().getName().substring("dev.parley.".length()) + "."
                    + constant.getName() + " " + backoff.first() + " " + backoff.longest());
        }
        return lines;
    }

    @Test
    @DisplayName("no recovery makes a back-off while it runs, except from a setting")
    void backoffsAreConstants() {
        assertThat(makers(CLASSES)).isEqualTo(OF_SETTINGS.keySet());
    }

    private static Set<String> makers(JavaClasses classes) {
        return classes.stream()
                .flatMap(type -> type.getAccessesFromSelf().stream())
                .filter(call -> call.getTargetOwner().isEquivalentTo(Backoff.class))
                .filter(call -> MAKING.contains(call.getTarget().getName()))
                .filter(call -> !call.getOrigin().getName().equals("<clinit>"))
                .filter(call -> !call.getOriginOwner().isEquivalentTo(Backoff.class))
                .map(call -> name(call.getOriginOwner()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    @DisplayName("threads that sleep are listed with the reason")
    void sleepsAreListed() {
        assertThat(callers(CLASSES, SLEEPS, false)).isEqualTo(SLEEPING.keySet());
    }

    @Test
    @DisplayName("a class that waits for a time has a back-off, or is listed with the reason")
    void waitsHaveABackoffOrAreListed() {
        assertThat(waitersWithoutBackoff(CLASSES)).isEqualTo(WAITING.keySet());
    }

    private static Set<String> waitersWithoutBackoff(JavaClasses classes) {
        Set<String> recoveries = classes.stream()
                .filter(type -> type.getDirectDependenciesFromSelf().stream()
                        .anyMatch(use -> use.getTargetClass().isEquivalentTo(Backoff.class)
                                || use.getTargetClass().getName().equals("dev.parley.mcp.client.Pauses")))
                .map(RecoveriesTest::name)
                .collect(Collectors.toSet());
        Set<String> others = callers(classes, TIMED, true);
        others.removeAll(recoveries);
        return others;
    }

    @Test
    @DisplayName("planted recoveries, sleeps and waits are found")
    void plantedRecoveriesAreFound() throws IllegalAccessException {
        JavaClasses planted = new ClassFileImporter().importPackages("dev.parley.guards.planted.recoveries");

        assertThat(bounds(planted)).containsExactly("guards.planted.recoveries.Repeats.PAUSES PT0.1S PT5S");
        assertThat(makers(planted)).containsExactly("guards.planted.recoveries.Repeats");
        assertThat(callers(planted, SLEEPS, false)).containsExactly("guards.planted.recoveries.Repeats");
        assertThat(waitersWithoutBackoff(planted)).containsExactly("guards.planted.recoveries.Waits");
    }

    private static Set<String> callers(JavaClasses classes, Set<String> methods, boolean timed) {
        return classes.stream()
                .flatMap(type -> type.getMethodCallsFromSelf().stream())
                .filter(call -> methods.contains(call.getTarget().getName()))
                .filter(call -> call.getTargetOwner().getPackageName().startsWith("java."))
                .filter(call -> !call.getOriginOwner().getPackageName().startsWith("dev.parley.testkit"))
                .filter(call -> !timed || isTimed(call.getTarget()))
                .map(call -> name(call.getOriginOwner()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Whether a call of the JDK names a time. */
    private static boolean isTimed(AccessTarget.MethodCallTarget target) {
        return target.getRawParameterTypes().stream().anyMatch(type -> type.isEquivalentTo(long.class))
                        && Stream.of("java.util.concurrent", "java.lang")
                                .anyMatch(target.getOwner().getPackageName()::equals)
                || target.getOwner().getPackageName().startsWith("java.util.concurrent.locks");
    }
}

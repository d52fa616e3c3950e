package dev.parley.hub.admin;

import dev.parley.engine.Engine;
import dev.parley.engine.Engine.Load;
import dev.parley.extension.Handlers;
import dev.parley.hub.admin.HubOperation.Check;
import dev.parley.hub.admin.HubOperation.CheckHub;
import dev.parley.hub.admin.HubOperation.HealthView;
import dev.parley.hub.admin.HubOperation.HubView;
import dev.parley.hub.admin.HubOperation.Membership;
import dev.parley.hub.admin.HubOperation.Role;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.hubs.HubTable.LivingHub;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Handlers that list hubs, check them, and drain them. */
public final class Hubs {
    /** Id of the hub that answers. */
    public static final String THIS = "this";

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Engine engine;
    private final Intake intake;
    private final @Nullable AuditTrail audit;
    private final Parts parts;
    private final Instant started = Instant.now();
    /** The newest run of the checks, which all callers share that come while it runs. */
    private @Nullable CompletableFuture<HealthView> run;

    /**
     * Parts of the hub that its answers tell of.
     *
     * @param number of the hub in its database of PostgreSQL; 0 for none
     * @param living hubs that have that database open
     * @param checks runs the checks, which may take a minute
     */
    public record Parts(
            Supplier<String> url,
            Supplier<Integer> streams,
            Supplier<Integer> agents,
            Supplier<Long> number,
            Supplier<List<LivingHub>> living,
            Supplier<List<Check>> checks) {}

    /** @param audit null for none */
    public Hubs(Engine engine, Intake intake, @Nullable AuditTrail audit, Parts parts) {
        this.engine = engine;
        this.intake = intake;
        this.audit = audit;
        this.parts = parts;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(HubOperation.LIST, (list, by) -> all())
                .call(HubOperation.CHECK, (given, by) -> checked(given))
                .call(HubOperation.DRAIN, (given, by) -> drain(given.hub(), true, by))
                .call(HubOperation.RESUME, (given, by) -> drain(given.hub(), false, by));
    }

    /** The version of this program. */
    public static String version() {
        String version = Hubs.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /** This hub, and those that have its database open, too. */
    private List<HubView> all() {
        List<LivingHub> living = parts.living().get();
        return Stream.concat(
                        Stream.of(shown(living)),
                        living.stream().filter(hub -> !isThis(hub)).map(Hubs::other))
                .toList();
    }

    private boolean isThis(LivingHub hub) {
        return hub.number() == parts.number().get();
    }

    private HubView shown() {
        return shown(parts.living().get());
    }

    private static HubView other(LivingHub hub) {
        return new HubView(
                Long.toString(hub.number()),
                null,
                hub.version(),
                hub.begun(),
                null,
                null,
                null,
                null,
                hub.agents().size(),
                membership(hub));
    }

    private static Membership membership(LivingHub hub) {
        return new Membership(
                hub.number(),
                hub.name(),
                hub.level(),
                hub.isWorking() ? Role.WORKS : Role.WAITS,
                Math.max(0, hub.sinceBeat().toMillis()),
                hub.tasks());
    }

    private HubView shown(List<LivingHub> living) {
        return new HubView(
                THIS,
                parts.url().get(),
                version(),
                started,
                intake.drained(),
                (long) sum(Load::running),
                (long) sum(Load::waiting),
                (long) parts.streams().get(),
                parts.agents().get(),
                living.stream()
                        .filter(this::isThis)
                        .map(Hubs::membership)
                        .findFirst()
                        .orElse(null));
    }

    private int sum(ToIntFunction<Load> figure) {
        return engine.load().values().stream().mapToInt(figure).sum();
    }

    private static void requireThis(String hub) {
        if (!hub.equals(THIS)) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND, "hub \"" + hub + "\": does not answer here (expected: " + THIS + ")");
        }
    }

    private HubView drain(String hub, boolean begins, CallContext by) {
        requireThis(hub);
        if (intake.drain(begins, Instant.now()) && audit != null) {
            audit.note(new AuditEntry(
                    by.scope().group(),
                    by.caller(),
                    begins ? "hub.drained" : "hub.resumed",
                    THIS,
                    "",
                    "ok",
                    by.address(),
                    by.traceparent() == null ? "" : by.traceparent(),
                    Map.of(
                            "running",
                            sum(Load::running),
                            "streams",
                            parts.streams().get())));
        }
        return shown();
    }

    private HealthView checked(CheckHub given) {
        requireThis(given.hub());
        try {
            return run(given.fresh()).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException slow) {
            throw A2AException.unavailable("The checks of the hub still run", Duration.ofSeconds(5));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The hub stops", Duration.ofSeconds(5));
        } catch (ExecutionException failure) {
            throw new IllegalStateException("the checks failed", failure.getCause());
        }
    }

    /** The checks that run, or else those of before unless they are to be fresh or failed, or else new ones. */
    private synchronized CompletableFuture<HealthView> run(boolean isFresh) {
        CompletableFuture<HealthView> before = run;
        if (before != null && (!before.isDone() || !isFresh && !before.isCompletedExceptionally())) {
            return before;
        }
        var next = new CompletableFuture<HealthView>();
        run = next;
        Thread.ofPlatform().daemon().name("hub-check").start(() -> {
            try {
                List<Check> checks = parts.checks().get();
                next.complete(new HealthView(Instant.now(), checks));
            } catch (RuntimeException | Error failure) {
                next.completeExceptionally(failure);
            }
        });
        return next;
    }
}

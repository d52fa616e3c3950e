package dev.parley.hub.admin;

import dev.parley.engine.Engine;
import dev.parley.engine.Engine.Load;
import dev.parley.extension.Handlers;
import dev.parley.hub.admin.HubOperation.Check;
import dev.parley.hub.admin.HubOperation.CheckHub;
import dev.parley.hub.admin.HubOperation.HealthView;
import dev.parley.hub.admin.HubOperation.HubView;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
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
     * @param checks runs the checks, which may take a minute
     */
    public record Parts(
            Supplier<String> url, Supplier<Integer> streams, Supplier<Integer> agents, Supplier<List<Check>> checks) {}

    /** @param audit null for none */
    public Hubs(Engine engine, Intake intake, @Nullable AuditTrail audit, Parts parts) {
        this.engine = engine;
        this.intake = intake;
        this.audit = audit;
        this.parts = parts;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(HubOperation.LIST, (list, by) -> List.of(shown()))
                .call(HubOperation.CHECK, (given, by) -> checked(given))
                .call(HubOperation.DRAIN, (given, by) -> drain(given.hub(), true, by))
                .call(HubOperation.RESUME, (given, by) -> drain(given.hub(), false, by));
    }

    private HubView shown() {
        String version = Hubs.class.getPackage().getImplementationVersion();
        return new HubView(
                THIS,
                parts.url().get(),
                version == null ? "development" : version,
                started,
                intake.drained(),
                sum(Load::running),
                sum(Load::waiting),
                parts.streams().get(),
                parts.agents().get());
    }

    private int sum(ToIntFunction<Load> figure) {
        return engine.load().values().stream().mapToInt(figure).sum();
    }

    private static void requireThis(String hub) {
        if (!hub.equals(THIS)) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "hub \"" + hub + "\": unknown (expected: " + THIS + ")");
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

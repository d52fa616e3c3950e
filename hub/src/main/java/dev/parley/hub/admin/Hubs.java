package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.answer;
import static dev.parley.hub.admin.AdminOperations.HEALTH;
import static dev.parley.hub.admin.AdminOperations.HUB;

import dev.parley.engine.Engine;
import dev.parley.engine.Engine.Load;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Entry;
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
    private static final String THIS = "this";

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Engine engine;
    private final Intake intake;
    private final @Nullable AuditTrail audit;
    private final Parts parts;
    private final Instant started = Instant.now();
    /** The newest run of the checks, which all callers share that come while it runs. */
    private @Nullable CompletableFuture<Map<String, Object>> run;

    /**
     * Parts of the hub that its answers tell of.
     *
     * @param checks runs the checks, which may take a minute
     */
    public record Parts(
            Supplier<String> url,
            Supplier<Integer> streams,
            Supplier<Integer> agents,
            Supplier<List<Map<String, Object>>> checks) {}

    /** @param audit null for none */
    public Hubs(Engine engine, Intake intake, @Nullable AuditTrail audit, Parts parts) {
        this.engine = engine;
        this.intake = intake;
        this.audit = audit;
        this.parts = parts;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "hubs/list",
                (given, by) -> Map.of("hubs", List.of(shown())),
                "hubs/check",
                (given, by) -> checked(given),
                "hubs/drain",
                (given, by) -> drain(given, true, by),
                "hubs/resume",
                (given, by) -> drain(given, false, by));
    }

    private Map<String, Object> shown() {
        String version = Hubs.class.getPackage().getImplementationVersion();
        return answer(
                HUB,
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

    private static void requireThis(AdminParameters given) {
        if (!given.text("hub").equals(THIS)) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND, "hub \"" + given.text("hub") + "\": unknown (expected: " + THIS + ")");
        }
    }

    private Object drain(AdminParameters given, boolean begins, CallContext by) {
        requireThis(given);
        if (intake.drain(begins, Instant.now()) && audit != null) {
            audit.note(new Entry(
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

    private Object checked(AdminParameters given) {
        requireThis(given);
        try {
            return run(given.isTrue("fresh")).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
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
    private synchronized CompletableFuture<Map<String, Object>> run(boolean isFresh) {
        CompletableFuture<Map<String, Object>> before = run;
        if (before != null && (!before.isDone() || !isFresh && !before.isCompletedExceptionally())) {
            return before;
        }
        var next = new CompletableFuture<Map<String, Object>>();
        run = next;
        Thread.ofPlatform().daemon().name("hub-check").start(() -> {
            try {
                List<Map<String, Object>> checks = parts.checks().get();
                next.complete(answer(HEALTH, Instant.now(), checks));
            } catch (RuntimeException | Error failure) {
                next.completeExceptionally(failure);
            }
        });
        return next;
    }
}

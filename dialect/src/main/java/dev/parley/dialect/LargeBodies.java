package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.FairPool;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Threads on which large requests are parsed, and the answers to them written: on a virtual thread that would hold its carrier
 * for some 2 ms per MiB. The groups share them. Small requests are read on their own threads.
 */
final class LargeBodies {
    /** Bytes of a request that is parsed in about half a millisecond. */
    static final int LARGE = 256 << 10;

    /** Large requests of one group that wait; the memory of all bodies is limited as well. */
    private static final int MAX_WAITING = 64;

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LATER = Duration.ofSeconds(1);

    /** Of the process, as processors are. Its threads end when they are idle. */
    private static final FairPool POOL =
            new FairPool("json", Math.max(2, Runtime.getRuntime().availableProcessors()), MAX_WAITING);

    private LargeBodies() {}

    /**
     * Does work that takes as long as the body of a request is large.
     *
     * @throws A2AException UNAVAILABLE if too much work of the group waits, or the caller has gone
     */
    static <T> T compute(WireRequest request, CallContext caller, Supplier<T> work) {
        if (request.body().length < LARGE) {
            return work.get();
        }
        try {
            return POOL.call(caller.scope().group(), PATIENCE, work);
        } catch (RejectedExecutionException | TimeoutException busy) {
            throw A2AException.unavailable("Too many large requests", LATER);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The request was given up", LATER);
        }
    }
}

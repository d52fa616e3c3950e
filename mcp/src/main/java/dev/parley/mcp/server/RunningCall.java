package dev.parley.mcp.server;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.ServerNotification.Logged;
import dev.parley.mcp.wire.ServerNotification.Progress;
import dev.parley.protocol.CallContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A request that is being answered. Safe for any thread. */
final class RunningCall implements McpProvider.Exchange {
    /** Asks the client on its connection, as revisions with sessions do. */
    @FunctionalInterface
    interface Asker {
        Map<String, InputResponse> ask(Map<String, InputRequest> questions, Consumer<McpMessage> out)
                throws InterruptedException;
    }

    private final CallContext caller;
    private final McpPeer peer;
    private final @Nullable Object progressToken;
    private final @Nullable Asker asker;
    private final Consumer<McpMessage> out;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Runnable> actions = new ArrayList<>();
    private @Nullable Thread thread;
    private boolean canceled;
    private boolean ended;
    private boolean left;
    private double progress = Double.NEGATIVE_INFINITY;

    /**
     * @param progressToken of the request; null for no notifications of progress
     * @param asker null if the client can be asked by results only, or not at all
     * @param out takes notifications and requests to the client
     */
    RunningCall(
            CallContext caller,
            McpPeer peer,
            @Nullable Object progressToken,
            @Nullable Asker asker,
            Consumer<McpMessage> out) {
        this.caller = caller;
        this.peer = peer;
        this.progressToken = progressToken;
        this.asker = asker;
        this.out = out;
    }

    McpPeer peer() {
        return peer;
    }

    /** Whether the client can be asked while the call runs. */
    boolean asks() {
        return asker != null;
    }

    Map<String, InputResponse> ask(Map<String, InputRequest> questions) throws InterruptedException {
        if (asker == null) {
            throw new IllegalStateException("no connection for questions");
        }
        return asker.ask(questions, this::send);
    }

    /** Runs the call in this thread, which {@link #cancel} interrupts. */
    void run(Runnable work) {
        lock.lock();
        try {
            if (canceled || left) {
                return;
            }
            thread = Thread.currentThread();
        } finally {
            lock.unlock();
        }
        try {
            work.run();
        } finally {
            lock.lock();
            try {
                thread = null;
                ended = !left;
            } finally {
                lock.unlock();
            }
        }
    }

    /** Cancels the call. Nothing more is sent for it. */
    void cancel() {
        List<Runnable> due;
        lock.lock();
        try {
            if (canceled || ended) {
                return;
            }
            canceled = true;
            due = List.copyOf(actions);
            if (thread != null) {
                thread.interrupt();
            }
        } finally {
            lock.unlock();
        }
        due.forEach(Runnable::run);
    }

    /** Ends the wait of the call, whose client no longer reads the answer. What the call has begun goes on, until it is canceled. */
    void leave() {
        lock.lock();
        try {
            if (!canceled && !ended) {
                left = true;
                if (thread != null) {
                    thread.interrupt();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void send(McpMessage message) {
        lock.lock();
        try {
            if (!canceled && !ended && !left) {
                out.accept(message);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CallContext caller() {
        return caller;
    }

    @Override
    public Map<String, @Nullable Object> clientCapabilities() {
        return peer.capabilities();
    }

    @Override
    public void progress(double value, @Nullable Double total, @Nullable String message) {
        if (progressToken == null) {
            return;
        }
        lock.lock();
        try {
            if (!(value > progress)) {
                return;
            }
            progress = value;
            var report = new Progress(progressToken, number(value), total == null ? null : number(total), message);
            send(report.message(null));
        } finally {
            lock.unlock();
        }
    }

    private static Number number(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            return (long) value;
        }
        return value;
    }

    @Override
    public void log(String level, Object data) {
        if (peer.wants(level)) {
            send(new Logged(level, data).message(null));
        }
    }

    @Override
    public void onCancel(Runnable action) {
        lock.lock();
        try {
            if (!canceled) {
                actions.add(action);
                return;
            }
        } finally {
            lock.unlock();
        }
        action.run();
    }

    @Override
    public boolean isCanceled() {
        lock.lock();
        try {
            return canceled;
        } finally {
            lock.unlock();
        }
    }
}

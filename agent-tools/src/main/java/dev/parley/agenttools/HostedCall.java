package dev.parley.agenttools;

import dev.parley.engine.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;

/**
 * Call of an agent whose service may call tools. These calls run on threads of the model, which an interruption of the agent does not
 * reach: the end of this call interrupts them. Safe for any thread.
 */
final class HostedCall {
    private final Request request;
    private final Set<Thread> threads = new HashSet<>();
    private final List<Runnable> whenOver = new ArrayList<>();
    private boolean isOver;

    HostedCall(Request request) {
        this.request = request;
    }

    Request request() {
        return request;
    }

    String conversationId() {
        return ConversationHandler.conversationId(request);
    }

    /**
     * Says that this thread calls a tool, until {@link #leave}.
     *
     * @throws CancellationException if this call is over
     */
    synchronized void enter() {
        if (isOver) {
            throw new CancellationException("the task on whose behalf the tool is called has ended");
        }
        threads.add(Thread.currentThread());
    }

    /** Also ends the interruption of the thread by the end of this call, as the thread is that of the model. */
    synchronized void leave() {
        threads.remove(Thread.currentThread());
        if (isOver) {
            var unused = Thread.interrupted();
        }
    }

    synchronized boolean isOver() {
        return isOver;
    }

    /** Has {@code action} run at the end of this call, or at once if it is over. */
    synchronized void whenOver(Runnable action) {
        if (isOver) {
            action.run();
        } else {
            whenOver.add(action);
        }
    }

    synchronized void end() {
        isOver = true;
        threads.forEach(Thread::interrupt);
        whenOver.forEach(Runnable::run);
    }
}

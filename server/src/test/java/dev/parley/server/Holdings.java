package dev.parley.server;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.CallContext;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** What a server holds for its clients: connections, threads, memory of bodies, and calls that count against limits. */
record Holdings(int connections, int streamThreads, int unfinished, long bodyBytes, int calls, int streams) {
    /** Lets every caller in, and counts the calls that have not been left. */
    static final class Calls implements Authenticator {
        final AtomicInteger running = new AtomicInteger();

        @Override
        public AuthenticationResult admit(String agent, RequestHead arrival) {
            running.incrementAndGet();
            return new AuthenticationResult(CallContext.anonymous(), Map.of(), running::decrementAndGet, () -> true);
        }
    }

    static Holdings of(Server server, Calls calls) {
        var http = (HttpServer) server;
        var all = http.connections();
        return new Holdings(
                all.count(),
                all.streamThreads().get(),
                all.unfinished().count(),
                all.bodies().taken(),
                calls.running.get(),
                http.openStreams());
    }

    /** What a server holds for so many connections without calls. */
    static Holdings free(int connections) {
        return new Holdings(connections, 0, 0, 0, 0, 0);
    }
}

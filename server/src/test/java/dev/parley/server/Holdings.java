package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.CallContext;
import dev.parley.testkit.Eventually;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

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

    /** Waits until a server holds nothing but so many connections. */
    static void awaitFree(Server server, Calls calls, int connections) {
        var free = new Holdings(connections, 0, 0, 0, 0, 0);
        Eventually.asserted(
                "the server is free", () -> assertThat(of(server, calls)).isEqualTo(free));
    }

    /** Waits until a server holds so many calls. */
    static void awaitCalls(Server server, Calls calls, int count) {
        Eventually.asserted(
                "calls of the server",
                () -> assertThat(of(server, calls).calls()).isEqualTo(count));
    }

    /** Waits until so many threads run streams of HTTP/2. */
    static void awaitThreads(Server server, Calls calls, int count) {
        Eventually.asserted(
                "threads of streams",
                () -> assertThat(of(server, calls).streamThreads()).isEqualTo(count));
    }

    /** Waits until what a server holds is as wanted. */
    static void await(Server server, Calls calls, Predicate<Holdings> wanted) {
        Eventually.value("holdings of the server that fit", () -> of(server, calls), wanted);
    }
}

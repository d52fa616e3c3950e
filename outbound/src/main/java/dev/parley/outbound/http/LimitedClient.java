package dev.parley.outbound.http;

import java.io.Closeable;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** HTTP client that exchanges on the thread of its caller, and keeps a time limit there. */
public abstract class LimitedClient extends HttpClient {
    /** Partition of a request whose connection is used for no other one, before or after. */
    public static final Object ONCE = new Object();

    /**
     * Sends a request as {@link HttpClient#sendAsync(HttpRequest, BodyHandler)}.
     *
     * @param partition of the connections: only requests with an equal one use the same connection; null for none
     */
    public abstract <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable Object partition);

    /**
     * Sends a request and reads the whole answer. To be called on a virtual thread, which heeds an interruption while it reads.
     *
     * @throws HttpTimeoutException if there is no whole answer within {@code limit}
     */
    public abstract <T> HttpResponse<T> send(
            HttpRequest request, BodyHandler<T> handler, @Nullable Object partition, Duration limit)
            throws IOException, InterruptedException;

    /** Sends a request by any client; a client with partitions uses a connection of the partition. */
    public static <T> CompletableFuture<HttpResponse<T>> sending(
            HttpClient http, HttpRequest request, BodyHandler<T> handler, @Nullable Object partition) {
        return http instanceof LimitedClient limited
                ? limited.sendAsync(request, handler, partition)
                : http.sendAsync(request, handler);
    }

    /**
     * Sends a request by any client and reads the whole answer, from any thread: the time limit holds also while a host is looked up.
     *
     * @param partition as in {@link #sendAsync}, for clients with partitions
     * @throws HttpTimeoutException if there is no whole answer within {@code limit}
     */
    public static <T> HttpResponse<T> exchange(
            HttpClient http, HttpRequest request, BodyHandler<T> handler, @Nullable Object partition, Duration limit)
            throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<T>> exchange = sending(http, request, handler, partition);
        try {
            return exchange.get(Math.max(0, limit.toNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            giveUp(exchange);
            throw late(late);
        } catch (InterruptedException stop) {
            giveUp(exchange);
            throw stop;
        } catch (ExecutionException failed) {
            throw thrown(failed.getCause());
        }
    }

    private static <T> void giveUp(CompletableFuture<HttpResponse<T>> exchange) {
        exchange.cancel(true);
        var unused = exchange.thenAccept(late -> {
            if (late.body() instanceof Closeable open) { // the answer began before the cancellation, and has no reader
                try {
                    open.close();
                } catch (IOException closed) {
                    // the connection is closed in any case
                }
            }
        });
    }

    static HttpTimeoutException late(Exception problem) {
        var late = new HttpTimeoutException("no answer in time");
        late.initCause(problem);
        return late;
    }

    /** Throws the cause of a failure, or returns it if it is one of reading or writing. */
    static IOException thrown(@Nullable Throwable cause) {
        if (cause instanceof RuntimeException problem) {
            throw problem;
        }
        return cause instanceof IOException problem ? problem : new IOException(cause);
    }
}

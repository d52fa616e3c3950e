package dev.parley.outbound.http;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** HTTP client that exchanges on the thread of its caller, and keeps a time limit there. */
public abstract class LimitedClient extends HttpClient {
    /** Lane of a request whose connection is used for no other one, before or after. */
    public static final Object ONCE = new Object();

    /**
     * Sends a request as {@link HttpClient#sendAsync(HttpRequest, BodyHandler)}.
     *
     * @param lane its connection has been used for requests of an equal one only; null for none
     */
    public abstract <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable Object lane);

    /**
     * Sends a request and reads the whole answer. To be called on a virtual thread, which heeds an interruption while it reads.
     *
     * @throws HttpTimeoutException if there is no whole answer within {@code limit}
     */
    public abstract <T> HttpResponse<T> send(
            HttpRequest request, BodyHandler<T> handler, @Nullable Object lane, Duration limit)
            throws IOException, InterruptedException;
}

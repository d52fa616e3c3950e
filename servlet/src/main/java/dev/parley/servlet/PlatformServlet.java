package dev.parley.servlet;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.spi.ContainerCaller;
import dev.parley.hub.Platform;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves the agents of a platform at a mapping such as {@code /a2a/*}. The public URL of the platform has to be that of the
 * mapping.
 *
 * <p>A request for which the container supports asynchronous processing is answered on a virtual thread, so a stream of events
 * holds no thread of the container; any other request is answered on its thread.
 *
 * <p>The user of a request, {@link HttpServletRequest#getUserPrincipal}, is the caller of agents with the authentication {@code container}.
 *
 * <p>The servlet does not close the platform: its owner does, before the container stops.
 */
public final class PlatformServlet extends HttpServlet {
    private static final System.Logger LOG = System.getLogger("dev.parley.servlet");

    private final transient Supplier<@Nullable Platform> platform;
    private final transient Function<Principal, @Nullable ContainerCaller> callers;

    /** Serves {@code platform}. */
    public PlatformServlet(Platform platform) {
        this(() -> platform);
        requireNonNull(platform, "platform");
    }

    /**
     * Serves the platform that {@code platform} returns at each request, for containers that begin before it.
     *
     * @param platform returns null if there is none yet; requests are refused with 503 then. Called by any thread.
     */
    public PlatformServlet(Supplier<@Nullable Platform> platform) {
        this(platform, ContainerCaller::named);
    }

    /**
     * Serves the platform that {@code platform} returns at each request.
     *
     * @param callers returns the caller that the user of a request is, null for none; default: {@link
     *     ContainerCaller#named}. Called by the threads of the container.
     */
    public PlatformServlet(
            Supplier<@Nullable Platform> platform, Function<Principal, @Nullable ContainerCaller> callers) {
        this.platform = requireNonNull(platform, "platform");
        this.callers = requireNonNull(callers, "callers");
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Platform present = platform.get();
        if (present == null) {
            response.setHeader("Retry-After", "1");
            response.setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
            return;
        }
        // Filters may keep the user with the thread of the container.
        Principal user = request.getUserPrincipal();
        var exchange = new ServletExchange(request, response, user == null ? null : caller(user));
        if (request.isAsyncSupported()) {
            AsyncContext context = request.startAsync(request, response);
            context.setTimeout(0); // limits of calls and streams are those of the platform
            Thread.ofVirtual().name("parley-servlet").start(() -> answer(present, context, exchange));
        } else {
            present.handle(exchange);
        }
    }

    /** The caller that a user is; null if that cannot be told, so that only agents without authentication are open to it. */
    private @Nullable ContainerCaller caller(Principal user) {
        try {
            return callers.apply(user);
        } catch (RuntimeException fault) {
            LOG.log(System.Logger.Level.ERROR, "the rule of callers failed for a user of the container", fault);
            return null;
        }
    }

    private static void answer(Platform platform, AsyncContext context, ServletExchange exchange) {
        try {
            platform.handle(exchange);
        } catch (IOException gone) {
            LOG.log(System.Logger.Level.DEBUG, "a client has gone before its answer was written", gone);
        } catch (RuntimeException | Error fault) {
            LOG.log(System.Logger.Level.ERROR, "a request could not be answered", fault);
            if (!exchange.response().isCommitted()) {
                exchange.status(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            }
        } finally {
            complete(context);
        }
    }

    private static void complete(AsyncContext context) {
        try {
            context.complete();
        } catch (IllegalStateException ended) {
            // The container has noticed that the client has gone, and has completed the request.
            LOG.log(System.Logger.Level.DEBUG, "a request was completed by its container", ended);
        }
    }
}

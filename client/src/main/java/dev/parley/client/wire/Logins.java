package dev.parley.client.wire;

import dev.parley.client.keys.KeyManager;
import dev.parley.client.keys.KeyManager.Login;
import dev.parley.client.login.OAuthLogin;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Access tokens of kept logins, renewed by their refresh tokens once they have expired. However many threads want one, it is renewed
 * once; a process that finds the login renewed by another one takes that token. Safe for any thread.
 *
 * <p>Source: RFC 6749, section 6; RFC 9700, section 4.14 (rotation of refresh tokens).
 */
public final class Logins {
    private final InstantSource clock;
    private final ReentrantLock renewing = new ReentrantLock();
    /** The newest access token that an agent did not accept before it expired. */
    private volatile @Nullable String refused;

    private volatile @Nullable String newest;
    private final @Nullable SSLContext tls;

    /** @param tls trust in the certificates of authorization servers; null for the platform's */
    Logins(InstantSource clock, @Nullable SSLContext tls) {
        this.clock = clock;
        this.tls = tls;
    }

    /**
     * Returns the access token of a service.
     *
     * @param key of the service, which is its token if no login is kept
     * @throws ClientException LOGIN_EXPIRED if the user has to log in again; others if the server cannot be asked now
     */
    String token(KeyManager keys, String service, String key, Duration left) throws InterruptedException {
        Login login = keys.login(service, false).orElse(null);
        if (login == null) {
            return key;
        }
        if (!isOver(login)) {
            newest = login.token();
            return login.token();
        }
        if (!renewing.tryLock(left.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new ClientException(Problem.TIMED_OUT, "no token in time from " + login.tokenUrl());
        }
        try {
            String token = renewed(keys, service);
            newest = token;
            return token;
        } finally {
            renewing.unlock();
        }
    }

    /** Has the newest token renewed before its time: an agent did not accept it. */
    void refused() {
        refused = newest;
    }

    private boolean isOver(Login login) {
        Instant until = login.renewAt();
        // Without a refresh token the agent decides whether a token is good that it refused once.
        return until != null && !clock.instant().isBefore(until)
                || login.refresh() != null && login.token().equals(refused);
    }

    private String renewed(KeyManager keys, String service) throws InterruptedException {
        Login login = keys.login(service, true).orElseThrow(() -> expired(service, "it was removed", null));
        if (!isOver(login)) {
            return login.token();
        }
        String refresh = login.refresh();
        if (refresh == null) {
            throw expired(service, "there is no refresh token", null);
        }
        // Its origin was allowed at the login, and is kept with the tokens: no card can change it.
        var server = new OAuthLogin(login.clientId(), List.of(login.tokenUrl()), Duration.ZERO, tls);
        OAuthLogin.Token next;
        try {
            next = server.renew(login.tokenUrl(), refresh);
        } catch (ClientException failed) {
            if (failed.problem() != Problem.AUTHENTICATION_FAILED) {
                throw failed;
            }
            Login other = keys.login(service, true).orElse(login);
            if (!other.token().equals(login.token())) {
                return other.token(); // another process was faster, with the same refresh token
            }
            throw expired(service, String.valueOf(failed.getMessage()), failed);
        }
        keys.setLogin(service, next, clock.instant());
        return next.text();
    }

    private static ClientException expired(String service, String why, @Nullable Throwable cause) {
        return new ClientException(
                Problem.LOGIN_EXPIRED, "the login for " + service + " has expired and is not renewed: " + why, cause);
    }
}

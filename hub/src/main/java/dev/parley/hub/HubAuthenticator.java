package dev.parley.hub;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.CallChain;
import dev.parley.server.Authenticator;
import dev.parley.trust.Trust;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Authenticator of a hub: admission by {@link Trust}, with the chain of calls.
 *
 * @param begun chains of calls that begin at an agent, by its name
 */
record HubAuthenticator(Trust trust, Supplier<String> url, Map<String, CallChain> begun) implements Authenticator {
    @Override
    public AuthenticationResult admit(String agent, RequestHead arrival) {
        return through(trust.admit(agent, arrival), agent, arrival);
    }

    @Override
    public AuthenticationResult admitUnauthenticated(String agent, RequestHead arrival) {
        return through(trust.admitUnauthenticated(agent, arrival), agent, arrival);
    }

    private AuthenticationResult through(AuthenticationResult admission, String agent, RequestHead arrival) {
        CallChain before = CallChain.read(arrival.header(CallChain.HEADER));
        CallChain begins = begun.get(agent);
        if (begins == null) {
            begins = begun.computeIfAbsent(agent, name -> CallChain.NONE.then(url.get() + "/agents/" + name));
        }
        CallChain chain =
                before.agents().isEmpty() ? begins : before.then(begins.agents().getFirst());
        return new AuthenticationResult(
                admission.caller().through(chain), admission.headers(), admission.leave(), admission.stands());
    }

    @Override
    public boolean lacksCredentials(RequestHead arrival) {
        return trust.lacksCredentials(arrival);
    }

    @Override
    public Predicate<String> shown(RequestHead arrival, boolean protectCards) {
        return trust.shown(arrival, protectCards);
    }

    @Override
    public boolean isShownToAll(String agent) {
        return trust.isShownToAll(agent);
    }
}

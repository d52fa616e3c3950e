package dev.parley.outbound;

import static java.util.Objects.requireNonNull;

import dev.parley.outbound.AddressTable.Prefix;
import dev.parley.outbound.http.HostName;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.RefusedAddressException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.FairPool;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Rule for addresses that callers choose, such as those of webhooks: public addresses, and hosts that the operator has allowed.
 *
 * <p>Such an address makes this server send requests, so addresses that only this server can reach are refused. The rule is
 * applied when an address is registered, and again to the addresses of each connection, because a name may resolve to others by
 * then.
 *
 * <p>{@code http} passes under the same conditions as {@code https}. The specification wants https for webhooks (section
 * 13.2), but this server is protected by the check of the address, and receivers behind a TLS proxy of their own are common.
 *
 * <p>Safe for any thread.
 */
public final class AddressRule {
    private static final Logger LOG = System.getLogger("dev.parley.webhooks");
    private static final int MAX_URL_LENGTH = 2048;
    /** Longest wait for a look-up. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Pool of the process, as the resolver is. A group with silent name servers has at most half of the threads. */
    private static final FairPool LOOKUPS = new FairPool("webhook-lookup", 16, 256);
    /** Names that never lead to a public host; the answers of resolvers do not matter. Sources: RFC 6761, 6762, 8375; ICANN. */
    private static final List<String> LOCAL_NAMES =
            List.of("localhost", "localdomain", "local", "internal", "home.arpa", "lan", "intranet", "corp", "home");

    /** Turns a name into addresses, as {@link InetAddress#getAllByName} does. */
    @FunctionalInterface
    public interface Lookup {
        InetAddress[] addresses(String name) throws UnknownHostException;
    }

    private final Set<String> allowedNames = new HashSet<>();
    private final List<Prefix> allowedAddresses = new ArrayList<>();
    private final Lookup lookup;
    private final String setting;

    private AddressRule(Collection<String> allowed, Lookup lookup, String setting) {
        this.lookup = lookup;
        this.setting = setting;
        allowed.forEach(this::allow);
    }

    /**
     * A rule that also lets webhooks go to {@code allowed}: host names, addresses, or ranges of them ({@code
     * 10.1.0.0/16}). A name opens what it leads to; {@code localhost} opens all loopback addresses.
     *
     * @throws IllegalArgumentException if an entry is not a host name, an address or a range
     */
    public static AddressRule allowing(Collection<String> allowed) {
        return allowing(allowed, "webhook-allow");
    }

    /**
     * The same rule for other documents that callers choose.
     *
     * @param setting by which operators allow hosts, for errors
     * @throws IllegalArgumentException if an entry is not a host
     */
    public static AddressRule allowing(Collection<String> allowed, String setting) {
        return new AddressRule(allowed, InetAddress::getAllByName, setting);
    }

    /** The same with another resolver of names. */
    public static AddressRule allowing(Collection<String> allowed, String setting, Lookup lookup) {
        return new AddressRule(allowed, lookup, setting);
    }

    private void allow(String entry) {
        String text = entry.strip();
        String bare = text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
        if (bare.indexOf('/') >= 0 || HostName.literal(bare).isPresent()) {
            allowedAddresses.add(Prefix.of(bare));
            return;
        }
        try {
            String name = HostName.of(bare).name();
            allowedNames.add(name);
            if (name.equals("localhost")) {
                allowedAddresses.add(Prefix.of("127.0.0.0/8"));
                allowedAddresses.add(Prefix.of("::1/128"));
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    setting + ": " + entry + " (expected: a host name, an address or address/bits)", e);
        }
    }

    /**
     * Checks an address before it is stored. Looks its host up, for 5 seconds at most. A host that cannot be
     * found now is let pass: nothing is called there before it can be found, and then it is checked again.
     *
     * @param group of the caller, whose share of look-ups it uses
     * @throws A2AException INVALID_PARAMS for the field {@code url}
     */
    public void check(String group, String url) {
        HttpUrl target = target(url);
        try {
            addresses(group, target.host());
        } catch (RefusedAddressException e) {
            throw invalid(requireNonNull(e.getMessage())).causedBy(e);
        } catch (UnknownHostException e) {
            if (isLocal(target.host())) {
                throw invalid(target.host().name() + " is a local name, and cannot be found")
                        .causedBy(e);
            }
            LOG.log(
                    Level.INFO,
                    "webhook host {0} cannot be found now",
                    target.host().name());
        }
    }

    /**
     * Reads an address without looking anything up.
     *
     * @throws A2AException INVALID_PARAMS if no webhook could be there
     */
    public HttpUrl target(String url) {
        if (url.length() > MAX_URL_LENGTH) {
            throw invalid("is " + url.length() + " characters long (expected: at most " + MAX_URL_LENGTH + ")");
        }
        try {
            return HttpUrl.of(url);
        } catch (IllegalArgumentException e) {
            throw invalid(requireNonNull(e.getMessage())).causedBy(e);
        }
    }

    /**
     * Returns the addresses of a host, if requests may go to all of them. One that leads to a public and a private
     * address is refused: which of them is dialled would be chance.
     *
     * @param group whose share of look-ups it uses
     * @throws RefusedAddressException if requests may not go there
     * @throws UnknownHostException if it cannot be found in time
     */
    InetAddress[] addresses(String group, HostName host) throws UnknownHostException {
        return addresses(group, host, PATIENCE);
    }

    /** The same in less time. */
    InetAddress[] addresses(String group, HostName host, Duration patience) throws UnknownHostException {
        InetAddress literal = host.address();
        InetAddress[] addresses = literal != null ? new InetAddress[] {literal} : lookUp(group, host.name(), patience);
        if (addresses.length == 0) {
            throw new UnknownHostException(host.name());
        }
        if (!allowedNames.contains(host.name())) {
            for (InetAddress address : addresses) {
                refuseUnlessOpen(host, address);
            }
        }
        return addresses;
    }

    /**
     * Resolvers block in native code, so each look-up has a thread of the pool, and its caller does not wait for the
     * resolver.
     */
    private InetAddress[] lookUp(String group, String name, Duration patience) throws UnknownHostException {
        Answer answer;
        try {
            answer = LOOKUPS.call(group, patience, () -> {
                try {
                    return new Answer(lookup.addresses(name), null);
                } catch (UnknownHostException unknown) {
                    return new Answer(new InetAddress[0], unknown);
                }
            });
        } catch (RejectedExecutionException | TimeoutException late) {
            throw new UnknownHostException(name + " within " + patience.toSeconds() + " s");
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new UnknownHostException(name + ": interrupted");
        }
        if (answer.failure() != null) {
            throw answer.failure();
        }
        return answer.addresses();
    }

    private record Answer(InetAddress[] addresses, @Nullable UnknownHostException failure) {}

    private void refuseUnlessOpen(HostName host, InetAddress address) throws RefusedAddressException {
        if (allowedAddresses.stream().anyMatch(prefix -> prefix.holds(address.getAddress()))) {
            return;
        }
        String kind = AddressTable.refusal(address).orElse(null);
        if (kind == null && !isLocal(host)) {
            return;
        }
        // The message omits the resolved address: it would tell callers about names of the internal network.
        String reason = isLocal(host) ? "is a local name" : host.address() == null ? "is not public" : "is " + kind;
        if (host.address() == null && kind != null) {
            LOG.log(Level.DEBUG, "webhook host {0} leads to {1}", host.name(), kind);
        }
        throw new RefusedAddressException(host.name() + " " + reason
                + " (expected: a public host, or one that the operator allows by " + setting + ")");
    }

    private static boolean isLocal(HostName host) {
        return LOCAL_NAMES.stream().anyMatch(host::isWithin);
    }

    private static A2AException invalid(String problem) {
        return A2AException.invalidParams("url", problem);
    }
}

package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The agents through which a call goes, by their addresses, the first one first. It is what callers say, so it grants nothing
 * and proves nothing: a caller that omits it begins a new chain.
 *
 * <p>Sent as a member of W3C Baggage, which proxies and other programs pass on.
 */
public final class CallChain {
    /** The header, or metadata, that tells it. */
    public static final String HEADER = "baggage";

    /** Chain of a call that goes through no agent. */
    public static final CallChain NONE = new CallChain(List.of());

    private static final String MEMBER = "parley.agents";
    /** More than any hub admits, so that the omitted part of a longer chain makes no difference. */
    private static final int MOST = 100;

    private static final int LONGEST = 300;

    private final List<String> agents;
    /** Made when it is first asked for, by any thread. */
    private @Nullable String header;

    public CallChain(List<String> agents) {
        this.agents = List.copyOf(agents);
    }

    /** Reads a chain from the header; an invalid or too long member counts as absent. */
    public static CallChain read(@Nullable String baggage) {
        if (baggage == null) {
            return NONE;
        }
        for (String member : baggage.split(",", -1)) {
            int equals = member.indexOf('=');
            if (equals > 0 && member.substring(0, equals).strip().equals(MEMBER)) {
                return parse(member.substring(equals + 1).split(";", 2)[0].strip());
            }
        }
        return NONE;
    }

    private static CallChain parse(String value) {
        try {
            String[] agents = URLDecoder.decode(value, StandardCharsets.UTF_8).split(" ", -1);
            for (String agent : agents) {
                if (agent.isEmpty()
                        || agent.length() > LONGEST
                        || !agent.chars().allMatch(c -> c > ' ' && c < 127)) {
                    return NONE;
                }
            }
            return new CallChain(List.of(agents).subList(0, Math.min(agents.length, MOST)));
        } catch (IllegalArgumentException malformed) {
            return NONE;
        }
    }

    /** Value of the header; null for none. */
    public @Nullable String baggage() {
        if (agents.isEmpty()) {
            return null;
        }
        String made = header;
        if (made == null) {
            made = MEMBER + "="
                    + URLEncoder.encode(String.join(" ", agents), StandardCharsets.UTF_8)
                            .replace("+", "%20");
            header = made;
        }
        return made;
    }

    public List<String> agents() {
        return agents;
    }

    /** Returns this chain with one more agent. */
    public CallChain then(String agent) {
        var more = new ArrayList<>(agents);
        more.add(requireNonNull(agent, "agent"));
        return new CallChain(more);
    }

    /** True for a call that goes through an agent to another one. */
    public boolean isPassedOn() {
        return agents.size() > 1;
    }

    /**
     * @param most agents, the one that is called included
     * @throws A2AException UNSUPPORTED_OPERATION if there are more, or the last one has been there before
     */
    public void check(int most) {
        if (agents.size() > most) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION,
                    "The call goes through " + agents.size() + " agents (expected: at most " + most + ")");
        }
        if (isPassedOn() && agents.subList(0, agents.size() - 1).contains(agents.getLast())) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION, "The call comes back to an agent that waits for it: " + this);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CallChain chain && agents.equals(chain.agents);
    }

    @Override
    public int hashCode() {
        return agents.hashCode();
    }

    @Override
    public String toString() {
        return String.join(" -> ", agents);
    }
}

package dev.parley.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.protocol.CardVerifier.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** One run of a command: its arguments, its peer, and its output. */
public interface CommandCall extends RowParameters.Typed {
    /**
     * Value of an option as a number; null if it is not given.
     *
     * @throws CommandException if it is not a number from {@code least} to {@code most}
     */
    @Nullable
    Integer number(String name, int least, int most);

    /** An argument; null if it is not given. */
    @Nullable
    String argument(int index);

    /** Value of a setting of the program by its flag, such as {@code --task-id}; null if it has none. */
    @Nullable
    String setting(String flag);

    /** Judges a payload and its detached JWS by the keys of the setting {@code --trust}; null if there are none. */
    @Nullable
    BiFunction<byte[], String, Verdict> verifier();

    CommandOutput output();

    InputStream in();

    PrintStream out();

    PrintStream err();

    /** True if {@link #err} is a terminal. */
    boolean isTerminal();

    /** Resolves a path that the user typed. */
    Path path(String typed);

    /**
     * The text of an argument: {@code -} stands for standard input, {@code @FILE} for a file.
     *
     * @throws CommandException if it cannot be read
     */
    default String text(String typed) {
        try {
            if (typed.equals("-")) {
                return new String(in().readAllBytes(), UTF_8);
            }
            return typed.startsWith("@") ? Files.readString(path(typed.substring(1))) : typed;
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read " + typed + ": " + unreadable.getMessage(), null);
        }
    }

    /** Work with an agent. */
    @FunctionalInterface
    interface Work {
        /** Returns the exit status. */
        int run(AgentClient agent) throws InterruptedException;
    }

    /** Connects to the agent of the settings, with their credentials, and returns the exit status of {@code work}. */
    int connect(Work work) throws InterruptedException;

    /**
     * Connects to another agent than that of the settings, as {@link #connect(Work)} does.
     *
     * @param agent a host, URL or card file
     */
    int connect(String agent, Work work) throws InterruptedException;

    /**
     * Connects to a built-in agent of the hub of the setting {@code --agent-card} if that is the address of a hub, else to the agent of the
     * setting.
     *
     * @param name of the built-in agent
     */
    default int connectToBuiltIn(String name, Work work) throws InterruptedException {
        String agent = setting("--agent-card");
        return agent != null && agent.matches("(https?://)?[^/?#]+/?") && !Files.exists(path(agent))
                ? connect(agent + (agent.endsWith("/") ? "" : "/") + name, work)
                : connect(work);
    }

    /** Returns the trust in certificates of {@code --ca} and {@code --insecure}; null for that of Java. */
    @Nullable
    SSLContext sslContext();

    /** Returns a client of agents without headers and credentials, with the trust in certificates of the settings. */
    AgentClientBuilder clients();

    /**
     * Reads a JSON document with the headers, the trust in certificates and the other conditions of the settings.
     *
     * @return the body of an answer 200; empty for other answers
     * @throws dev.parley.client.spi.ClientException if no server answers
     */
    Optional<byte[]> document(String url);

    /**
     * Calls an operation of the administration of the hub that {@code --url} names.
     *
     * @param operation name of its row after {@code admin/}, such as {@code keys/create}
     * @param values of its parameters by their names; null for none
     * @param hint for the user if the hub refuses the request or has no such operation
     * @return the answer, a JSON object
     */
    Map<?, ?> admin(String operation, Map<String, ? extends @Nullable Object> values, String hint)
            throws InterruptedException;
}

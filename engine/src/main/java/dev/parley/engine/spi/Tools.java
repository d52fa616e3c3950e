package dev.parley.engine.spi;

import dev.parley.protocol.Part;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tools that a hub offers to the handlers of its agents, such as those of MCP servers, for the caller of one request. Calls are made on
 * behalf of that caller, under the rules for it. Safe for any thread.
 */
public interface Tools {
    /**
     * A tool.
     *
     * @param server name of the server that has it
     * @param description text of that server, for people and models; untrusted
     * @param inputSchema JSON Schema of the arguments
     */
    record Description(String server, String name, String description, Map<String, @Nullable Object> inputSchema) {}

    /** Outcome of a call. */
    enum Outcome {
        COMPLETED,
        FAILED,
        /** The tool asks the user; {@link Tools#answer} or {@link Tools#decline} continues the call. */
        QUESTION
    }

    /**
     * Result of a call.
     *
     * @param parts content of the tool, its reason for a failure, or its question
     * @param id of the call, for {@link Tools#answer} and {@link Tools#decline}
     */
    record Result(Outcome outcome, List<Part> parts, String id) {
        /** The texts, one below the other. */
        public String text() {
            return parts.stream()
                    .filter(Part.Text.class::isInstance)
                    .map(part -> ((Part.Text) part).text())
                    .collect(Collectors.joining("\n"));
        }

        /** The structured content; empty if there is none. */
        public Optional<Object> data() {
            return parts.stream()
                    .filter(Part.Data.class::isInstance)
                    .flatMap(part -> Optional.ofNullable(((Part.Data) part).data()).stream())
                    .findFirst();
        }
    }

    /** The tools that the caller of the request may know of, by servers. */
    List<Description> list();

    /** The first tool of a name. */
    default Optional<Description> find(String name) {
        return list().stream().filter(tool -> tool.name().equals(name)).findFirst();
    }

    /**
     * Calls a tool and waits for its end. Its progress is shown as that of the task of the request; the call is canceled with that task.
     *
     * @throws dev.parley.protocol.A2AException if there is no such server, or the caller may not call it
     * @throws InterruptedException if the task of the request is canceled, or its time is over
     */
    Result call(String server, String tool, Map<String, ? extends @Nullable Object> arguments)
            throws InterruptedException;

    /** As {@link #call(String, String, Map)}. */
    default Result call(Description tool, Map<String, ? extends @Nullable Object> arguments)
            throws InterruptedException {
        return call(tool.server(), tool.name(), arguments);
    }

    /**
     * Answers a question of a tool, and waits for the end of the call.
     *
     * @param question result of the call so far
     * @param content members that the question wants
     */
    Result answer(Description tool, Result question, Map<String, ? extends @Nullable Object> content)
            throws InterruptedException;

    /**
     * Declines a question of a tool, as its user did, and waits for the end of the call.
     *
     * @param question result of the call so far
     */
    Result decline(Description tool, Result question) throws InterruptedException;
}

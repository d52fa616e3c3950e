package dev.parley.mcp;

import dev.parley.protocol.CallContext;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Offer of an MCP server: tools, and if it has them resources, prompts and tasks. It knows no revision of the protocol and no transport:
 * the server carries questions to users as each revision does. Safe for any thread; methods may block.
 */
public interface McpProvider {
    /** Kinds of objects on offer: some of {@code tools}, {@code resources}, {@code prompts}, {@code completions}. Methods of others are unknown. */
    default Set<String> offers() {
        return Set.of("tools", "resources", "prompts", "completions");
    }

    /** Tools that the caller may call, in a stable order. */
    List<Tool> tools(CallContext caller);

    /** The tool of a name; null if the caller may call none of that name. */
    default @Nullable Tool tool(String name, CallContext caller) {
        return tools(caller).stream()
                .filter(tool -> tool.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /**
     * Calls a tool. Questions to the user end the call with {@link Outcome.Questions}; it is called again with the answers.
     *
     * @throws McpException for an unknown tool, or a failure of the server; failures of the tool are results
     */
    Outcome<CallResult> call(Invocation call, Exchange exchange) throws InterruptedException;

    /** A call of a tool, or the reading of a resource or prompt with questions. */
    record Invocation(
            String name,
            Map<String, @Nullable Object> arguments,
            Map<String, InputResponse> answers,
            @Nullable String state,
            Map<String, @Nullable Object> meta) {}

    /** Outcome of a request whose result is an {@code R}. */
    sealed interface Outcome<R> {
        record Complete<R>(R result) implements Outcome<R> {}

        /**
         * Questions to the user, by keys of the provider's choice. The server seals the state before the client gets it.
         *
         * @param <R> type of the result
         * @param state for the next {@link Invocation}; null for none
         */
        record Questions<R>(
                Map<String, InputRequest> requests,
                @Nullable String state) implements Outcome<R> {}

        record Begun<R>(McpTask task) implements Outcome<R> {}
    }

    /** The running call, as the provider sees it. */
    interface Exchange {
        CallContext caller();

        /** Capabilities that the client declared for this call, such as {@code elicitation}, {@code extensions}. */
        Map<String, @Nullable Object> clientCapabilities();

        /** Reports progress to a client that wants it. Values that do not grow are dropped. */
        void progress(double progress, @Nullable Double total, @Nullable String message);

        /**
         * Sends a log message to a client that wants messages of the level.
         *
         * @param level {@code debug}, {@code info}, {@code notice}, {@code warning}, {@code error}, {@code critical}, {@code alert} or
         *     {@code emergency}
         * @param data a text or an object, without secrets
         */
        default void log(String level, Object data) {}

        /** Runs an action once when the client cancels the call, or leaves; at once if it has. */
        void onCancel(Runnable action);

        boolean isCanceled();
    }

    /** Resources that the caller may read. */
    default List<Resource> resources(CallContext caller) {
        return List.of();
    }

    /** Templates of resources that the caller may read. */
    default List<Resource> resourceTemplates(CallContext caller) {
        return List.of();
    }

    /**
     * Reads a resource.
     *
     * @throws McpException if there is none of that URI for the caller
     */
    default List<ResourceContent> read(String uri, CallContext caller) throws InterruptedException {
        throw McpException.notFound("resource", uri);
    }

    /** Prompts that the caller may get. */
    default List<Prompt> prompts(CallContext caller) {
        return List.of();
    }

    /** A prompt with its messages; may ask the user, as {@link #call}. */
    default Outcome<PromptResult> prompt(Invocation call, Exchange exchange) throws InterruptedException {
        throw McpException.notFound("prompt", call.name());
    }

    /** Prompt or template whose argument is completed. */
    sealed interface Reference {
        String PROMPT = "ref/prompt";
        String TEMPLATE = "ref/resource";

        /** The type in JSON. */
        default String type() {
            return switch (this) {
                case ToPrompt prompt -> PROMPT;
                case ToTemplate template -> TEMPLATE;
            };
        }

        record ToPrompt(String name) implements Reference {}

        /** @param uri template of the URIs of resources */
        record ToTemplate(String uri) implements Reference {}
    }

    /**
     * Values that complete an argument, the likeliest first.
     *
     * @param argument name of the argument
     * @param value begin of the value
     * @param known arguments with values
     */
    default List<String> complete(
            Reference reference, String argument, String value, Map<String, String> known, CallContext caller) {
        return List.of();
    }

    /** Tasks of the extension {@code io.modelcontextprotocol/tasks}; null for a provider without. */
    default @Nullable McpTasks tasks() {
        return null;
    }

    /**
     * Adds a listener for changes of the offer. Closing the result removes the listener.
     *
     * @param listener receives {@code tools}, {@code prompts}, {@code resources}, or {@code resource:URI}
     */
    default AutoCloseable onChange(CallContext caller, Consumer<String> listener) {
        return () -> {};
    }
}

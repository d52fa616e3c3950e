package dev.parley.langchain4j;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.service.TokenStream;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Passes the tokens of one stream on as pieces of an artifact. Tokens arrive on threads of the model, one at a time. */
final class TokenForwarding {
    private final Request request;
    private final Reply reply;
    private final Reply.ArtifactWriter answer;
    private final CompletableFuture<ChatResponse> end = new CompletableFuture<>();
    private volatile boolean isStopped;
    private volatile boolean isBegun;

    TokenForwarding(Request request, Reply reply) {
        this.request = request;
        this.reply = reply;
        this.answer = reply.stream("answer");
    }

    /**
     * Starts a stream, waits for its end, and completes the task.
     *
     * @throws InterruptedException if the task has been canceled, or its time is over; further tokens are dropped
     * @throws Exception the error of the stream
     */
    void run(TokenStream tokens) throws Exception {
        try {
            tokens.onPartialResponseWithContext((token, context) -> forward(token.text(), context))
                    .beforeToolExecution(tool -> requireTask())
                    .onCompleteResponse(end::complete)
                    .onError(end::completeExceptionally)
                    .start();
            complete(end.get());
        } catch (ExecutionException failed) {
            if (request.isCanceled()) {
                return;
            }
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        } finally {
            isStopped = true;
        }
    }

    /** Ends the stream before a tool that would be called after the end of the task. */
    private void requireTask() {
        if (isStopped || request.isCanceled()) {
            throw new CancellationException("the task has ended");
        }
    }

    private void forward(String token, PartialResponseContext context) {
        if (isStopped || request.isCanceled()) {
            stop(context);
            return;
        }
        if (token.isEmpty()) {
            return;
        }
        try {
            answer.append(token);
            isBegun = true;
        } catch (TaskEndedException over) {
            end.completeExceptionally(over);
            stop(context);
        }
    }

    /** Closes the connection to the model. */
    private void stop(PartialResponseContext context) {
        isStopped = true;
        try {
            context.streamingHandle().cancel();
        } catch (RuntimeException unsupported) {
            // The model cannot be stopped; its further tokens are dropped.
        }
    }

    private void complete(ChatResponse response) {
        if (request.isCanceled()) {
            return;
        }
        String text = response.aiMessage().text();
        if (isBegun || text == null || text.isEmpty()) {
            answer.close();
            reply.complete();
        } else {
            reply.complete(text); // a model that sends no tokens
        }
    }
}

package shop;

import com.google.adk.agents.RunConfig;
import com.google.adk.agents.RunConfig.StreamingMode;
import com.google.adk.events.Event;
import com.google.adk.runner.Runner;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.CallContext;
import java.util.stream.Stream;

/** Passes the text of each message to an agent of ADK, in the session with the id of the context. */
final class AdkHandler implements AgentHandler {
    private static final RunConfig STREAMED = RunConfig.builder()
            .streamingMode(StreamingMode.SSE)
            .autoCreateSession(true)
            .build();

    private final Runner runner;

    AdkHandler(Runner runner) {
        this.runner = runner;
    }

    @Override
    public void handle(Request request, Reply reply) {
        CallContext.Scope caller = request.context().scope();
        String user = caller.group() + "/" + caller.owner();
        Content message = Content.fromParts(Part.fromText(request.text()));
        boolean hasParts = false;
        try (var answer = reply.stream("answer");
                Stream<Event> events = runner.runAsync(user, request.contextId(), message, STREAMED)
                        .blockingStream()) { // whose end is that of the run
            for (Event event : (Iterable<Event>) events::iterator) {
                event.errorMessage().ifPresent(problem -> {
                    throw new IllegalStateException(problem);
                });
                String text = event.content().map(Content::text).orElse("");
                boolean isPart = event.partial().orElse(false);
                if (text != null && !text.isEmpty() && (isPart || !hasParts)) { // an event after parts repeats them
                    answer.append(text);
                }
                hasParts = isPart;
            }
        }
        reply.complete();
    }
}

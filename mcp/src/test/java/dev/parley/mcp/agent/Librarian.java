package dev.parley.mcp.agent;

import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.Tools;
import java.util.Map;

/** Sample of the documentation. */
final class Librarian implements AgentHandler {
    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        Tools tools = request.tools();
        Tools.Description search = tools.find("search").orElseThrow();
        Tools.Result result = tools.call(search, Map.of("text", request.text()));
        if (result.outcome() == Tools.Outcome.COMPLETED) {
            reply.complete(result.text());
        } else {
            reply.fail(result.text());
        }
    }
}

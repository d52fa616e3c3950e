package dev.parley.pipelines.repair;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.pipelines.step.StepInput;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Part;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Tells the stock of a part, and takes orders. */
final class PartsSupplier implements AgentHandler {
    private static final Pattern NUMBER = Pattern.compile("#?(\\d{3,10})");
    private static final int LEAD_DAYS = 5;

    private final Map<String, Integer> stock;

    /** @param stock pieces by the numbers of parts */
    private PartsSupplier(Map<String, Integer> stock) {
        this.stock = stock;
    }

    static Agent agent(Map<String, Integer> stock) {
        return Agent.named("parts-supplier", "Knows the stock of parts and takes orders. Follows rules, uses no model.")
                .skill(new Skill(
                        "parts",
                        "Parts",
                        "Tells the stock of a part by its number, and takes orders",
                        List.of("parts", "order"),
                        List.of("Is part #12345 for a Camry 2018 in stock?", "Order part #12345"),
                        List.of(),
                        List.of(),
                        List.of()))
                .outputModes("application/json", "text/plain")
                .resumable(true)
                .handle(new PartsSupplier(stock));
    }

    @Override
    public void handle(Request request, Reply reply) {
        Map<String, @Nullable Object> data = StepInput.of(request).parameters();
        Matcher number = NUMBER.matcher(data.get("part") instanceof String part ? part : request.text());
        if (!number.find()) {
            reply.reject("part: no number (expected: a number such as #12345, in the text or as the member \"part\")");
            return;
        }
        String part = number.group(1);
        Integer pieces = stock.get(part);
        if (pieces == null) {
            reply.reject("part #" + part + ": unknown");
            return;
        }
        boolean isOrder = "order".equals(data.get("request"))
                || data.isEmpty()
                        && request.text().strip().toLowerCase(Locale.ROOT).startsWith("order");
        var answer = new LinkedHashMap<String, @Nullable Object>();
        answer.put("part", part);
        answer.put("inStock", pieces);
        if (pieces == 0) {
            answer.put("expectedInDays", LEAD_DAYS);
        } else if (isOrder) {
            // The id of the task: an order that is sent again under its message id leads to the same task.
            answer.put("order", "ORDER-" + request.taskId());
        }
        String text = pieces == 0
                ? "Part #" + part + " is out of stock, expected in " + LEAD_DAYS + " days"
                : isOrder
                        ? "Order " + answer.get("order") + " for part #" + part + " is placed"
                        : "Part #" + part + " is in stock: " + pieces;
        reply.complete(Part.text(text), Part.data(answer));
    }

    /** Stock of the demo. */
    static Map<String, Integer> stock(boolean isEmpty) {
        return Map.of("12345", isEmpty ? 0 : 3, "67890", 1);
    }
}

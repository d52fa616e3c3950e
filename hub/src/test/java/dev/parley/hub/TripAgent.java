package dev.parley.hub;

import dev.parley.engine.Agent;

/** The agent of {@code docs/calling.md} and {@code docs/testing.md}. */
final class TripAgent {
    static Agent agent() {
        return Agent.named("trips", "Plans trips by train")
                .skill("plan", "Plans a trip to the place that the first message names", "travel")
                .resumable(true)
                .handle((request, reply) -> {
                    if (request.history().isEmpty()) {
                        reply.askForInput("For how many days?");
                        return;
                    }
                    String place = request.history().getFirst().text();
                    reply.progress(50, "looking for trains");
                    reply.complete(request.text() + " days in " + place);
                });
    }
}

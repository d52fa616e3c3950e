package dev.parley.hub.observation;

import dev.parley.engine.Request;
import dev.parley.engine.RunObserver;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import java.util.List;
import java.util.function.Function;

/**
 * Runs of agents as the hub and the extensions of each agent observe them, the hub outermost.
 *
 * @param extensions those of an agent
 * @param observers of the whole hub
 */
public record ObservedRuns(
        RunObserver hub, Function<String, List<HubExtension>> extensions, List<HubObserver> observers)
        implements RunObserver {
    @Override
    public void observe(String agent, Request request, Runnable work) {
        Runnable observed = work;
        for (HubExtension extension : extensions.apply(agent)) {
            RunObserver observer = extension.observer();
            if (observer != null) {
                Runnable inner = observed;
                observed = () -> observer.observe(agent, request, inner);
            }
        }
        long begun = System.nanoTime();
        hub.observe(agent, request, observed);
        observers.forEach(one -> one.ran(agent, request, System.nanoTime() - begun));
    }

    @Override
    public void dropped(String agent, Request request, long events) {
        hub.dropped(agent, request, events);
    }
}

package dev.parley.hub;

import dev.parley.engine.Agent;

/** The shortest way to an agent that can be called. */
public final class Parley {
    private Parley() {}

    /**
     * Hosts agents on a port of this machine until the process is stopped, and prints the address. Tasks are kept in the
     * directory {@code .parley} below the working directory, as {@link HubBuilder#data} says. The first agent also answers at the root.
     *
     * @param port 0 for any free one
     * @return the hub, which serves already; closing it earlier is possible
     */
    public static Hub serve(int port, Agent... agents) {
        Hub hub = Hub.builder().port(port).agents(agents).start();
        hub.closeOnShutdown();
        System.out.println(hub.url());
        return hub;
    }
}

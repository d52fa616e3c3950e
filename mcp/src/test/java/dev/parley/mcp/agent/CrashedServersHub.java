package dev.parley.mcp.agent;

import dev.parley.hub.Hub;
import java.nio.file.Path;

/** A hub with MCP servers in a process of its own, to be killed. Says "ready URL" once it runs. */
final class CrashedServersHub {
    private CrashedServersHub() {}

    public static void main(String[] args) throws InterruptedException {
        Hub hub = Hub.builder()
                .data(Path.of(args[0]))
                .port(0)
                .set("mcp-servers", args[1])
                .start();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }
}

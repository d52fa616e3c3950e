package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Lines of the log of the gateways in this process, to wait for. */
final class HostingLog extends Handler implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger("dev.parley.gateway");

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    HostingLog() {
        LOG.addHandler(this);
    }

    @Override
    public void publish(LogRecord line) {
        lines.add(new SimpleFormatter().formatMessage(line));
    }

    /** Waits until a gateway has hosted a route in a state; each line counts once. */
    void await(String route, String state) throws InterruptedException {
        String line;
        do {
            line = lines.poll(30, TimeUnit.SECONDS);
            assertThat(line)
                    .as("the line that tells that " + route + " is " + state)
                    .isNotNull();
        } while (!("route " + route + ": hosted, " + state).equals(line));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        LOG.removeHandler(this);
    }
}

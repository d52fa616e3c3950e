package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hub that {@code parley up} runs in this process, until it is closed. */
class RunningHub implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("^URL: (\\S+)$", Pattern.MULTILINE);

    private final Shell own;
    private final CountDownLatch announced = new CountDownLatch(1);
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream() {
        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            super.write(bytes, offset, length);
            String soFar = toString(StandardCharsets.UTF_8);
            boolean isWhole = soFar.contains("parley send -a") || soFar.contains("No agents yet");
            if (isWhole && soFar.endsWith("\n")) {
                announced.countDown();
            }
        }
    };
    final CompletableFuture<Integer> command;

    RunningHub(Path directory, Map<String, String> environment, String... more) throws InterruptedException {
        own = new Shell(directory);
        environment.forEach(own::with);
        own.with("PARLEY_PORT", environment.getOrDefault("PARLEY_PORT", "0"));
        var args = new ArrayList<>(List.of("up"));
        args.addAll(List.of(more));
        // On a thread of its own: a command that waits would take the common pool from the HTTP client.
        command = CompletableFuture.supplyAsync(
                        () -> own.run(out, err, args.toArray(String[]::new)), Thread.ofPlatform()::start)
                .whenComplete((status, failure) -> announced.countDown());
        assertThat(announced.await(60, TimeUnit.SECONDS)).isTrue();
    }

    String announcement() {
        return out.toString(StandardCharsets.UTF_8);
    }

    String url() {
        Matcher url = URL.matcher(announcement());
        assertThat(url.find()).as(announcement() + err).isTrue();
        return url.group(1);
    }

    int stop() {
        return own.interruption().signal();
    }

    @Override
    public void close() {
        stop();
        assertThat(command.join()).isZero();
    }
}

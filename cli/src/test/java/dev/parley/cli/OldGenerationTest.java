package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.host.OldGeneration;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class OldGenerationTest {
    /** Program that makes 1 GB of garbage, all of which lives long enough to be promoted, and prints the size of its heap. */
    static final class Garbage {
        private static final int BLOCK = 100_000;
        private static final int LIVE = 200;

        public static void main(String[] arguments) {
            OldGeneration.bound();
            var live = new ArrayDeque<byte[]>();
            for (int i = 0; i < 10_000; i++) {
                live.add(new byte[BLOCK]);
                if (live.size() > LIVE) {
                    live.remove();
                }
                if (i % 20 == 0) {
                    LockSupport.parkNanos(
                            1_000_000); // about as fast as a busy hub, so that the JVM's thread for notifications runs
                }
            }
            System.out.println(
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted() >> 20);
        }
    }

    @Test
    void garbageThatGrewOldDoesNotFillTheLargestHeap() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmn8m",
                        "-Xmx1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Garbage.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
            assertThat(Integer.parseInt(output.strip())).isLessThan(400);
        } finally {
            process.destroyForcibly();
        }
    }
}

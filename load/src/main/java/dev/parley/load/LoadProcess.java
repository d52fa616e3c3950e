package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The process of a server on the same machine, as Linux tells of it. */
record LoadProcess(long pid) {
    private static final int MILLIS_PER_TICK = 10;

    LoadProcess {
        if (!Files.isReadable(Path.of("/proc/" + pid + "/status"))) {
            throw new LoadProblem(
                    Kind.USAGE, "pid: " + pid + " (expected: a running process of a machine that has /proc)");
        }
    }

    /** Memory that the process holds, in bytes; empty once it has ended. */
    OptionalLong residentBytes() {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst();
        } catch (IOException ended) {
            return OptionalLong.empty();
        }
    }

    /** Processor time that a process has used; zero once it has ended. */
    static Duration processorTime(ProcessHandle process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Processor time that the process has used; zero once it has ended. */
    Duration processorTime() {
        return ProcessHandle.of(pid).map(LoadProcess::processorTime).orElse(Duration.ZERO);
    }

    /** Processor time that everything on this machine has used since it started; zero if it does not say. */
    static Duration machineTime() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/stat"))) {
            // cpu user nice system idle iowait irq softirq steal
            String[] ticks = lines.findFirst().orElse("").split(" +", -1);
            long busy = 0;
            for (int i = 1; i < ticks.length && i <= 8; i++) {
                busy += i == 4 || i == 5 ? 0 : Long.parseLong(ticks[i]);
            }
            return Duration.ofMillis(busy * MILLIS_PER_TICK);
        } catch (IOException notLinux) {
            return Duration.ZERO;
        }
    }
}

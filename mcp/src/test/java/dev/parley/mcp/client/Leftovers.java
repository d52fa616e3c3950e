package dev.parley.mcp.client;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Threads of clients, of the platform and virtual ones. */
public final class Leftovers {
    private static final Pattern THREAD = Pattern.compile("\"name\": \"((?:mcp-|http-call)[^\"]*)\"");

    private Leftovers() {}

    /** Waits for the end of the threads of closed clients. */
    public static void assertNone(Path directory) throws IOException {
        Eventually.value("no threads of closed clients", () -> threads(directory), List::isEmpty);
    }

    private static List<String> threads(Path directory) throws IOException {
        Path dump = directory.resolve("threads.json");
        Files.deleteIfExists(dump);
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(dump.toAbsolutePath().toString(), ThreadDumpFormat.JSON);
        return THREAD.matcher(Files.readString(dump))
                .results()
                .map((MatchResult thread) -> thread.group(1))
                .toList();
    }
}

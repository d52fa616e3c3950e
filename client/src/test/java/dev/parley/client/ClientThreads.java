package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test that leaves threads of clients, of the platform or virtual ones. */
final class ClientThreads implements BeforeEachCallback, AfterEachCallback {
    private static final Pattern THREAD =
            Pattern.compile("\"tid\": \"?(\\d+)\"?,[^{}]*?\"name\": \"((?:http-|parley-|idle-)[^\"]*)\"");

    private List<String> ofOthers = List.of();

    @Override
    public void beforeEach(ExtensionContext test) throws IOException {
        ofOthers = threads();
    }

    @Override
    public void afterEach(ExtensionContext test) throws IOException {
        Eventually.asserted(
                "threads of closed clients end", () -> assertThat(left()).isEmpty());
    }

    private List<String> left() throws IOException {
        return threads().stream().filter(thread -> !ofOthers.contains(thread)).toList();
    }

    private static List<String> threads() throws IOException {
        Path directory = Files.createTempDirectory("threads");
        Path dump = directory.resolve("threads.json");
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(dump.toAbsolutePath().toString(), ThreadDumpFormat.JSON);
            return THREAD.matcher(Files.readString(dump))
                    .results()
                    .map((MatchResult thread) -> thread.group(1) + " " + thread.group(2))
                    .toList();
        } finally {
            Files.deleteIfExists(dump);
            Files.delete(directory);
        }
    }
}

package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Kills the hub's part of updates whose statements are on a server. */
@Tag("heavy")
class FusekiCrashTest extends GraphCrashTest {
    private @Nullable FusekiServer server;

    @BeforeEach
    void start(@TempDir Path directory) throws IOException {
        server = new FusekiServer(directory);
    }

    @AfterEach
    void stop() {
        requireNonNull(server).close();
    }

    @Override
    @Nullable
    String sparql() {
        return requireNonNull(server).dataset().toString();
    }

    @Override
    int kills() {
        return 10; // kills between two servers; GraphCrashTest kills a process with one database twenty times
    }

    @Override
    int updates() {
        return 50; // each takes several requests
    }
}

package dev.parley.store.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class NotOpenedExceptionTest {
    static Object[][] problems() {
        return new Object[][] {
            {new NoSuchFileException("/proc/data"), "/proc/data does not exist"},
            {new AccessDeniedException("/proc/data"), "no permission for /proc/data"},
            {new FileAlreadyExistsException("/proc/data"), "/proc/data is not a directory"},
            {new FileSystemException("/proc/data", null, "No space left"), "/proc/data: No space left"},
        };
    }

    @ParameterizedTest
    @MethodSource("problems")
    void theMessageStatesTheProblemWithoutNamesOfClasses(Exception cause, String problem) {
        assertThat(NotOpenedException.directory(Path.of("/proc/data"), cause))
                .hasMessage("data directory \"/proc/data\": " + problem
                        + " (expected: a directory that this user may read and write)");
    }
}

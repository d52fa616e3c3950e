package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Results of {@code bin/release api}, with a program in place of japicmp that prints its lines and has its exit status. */
@Timeout(30)
final class ReleaseComparisonTest {
    private static final String CHANGE = "---! REMOVED METHOD: PUBLIC(-) int y()";
    private static final String INCOMPATIBLE =
            CHANGE + "\nE: There is at least one incompatibility: p.A.y():METHOD_REMOVED";
    private static final String FAILED = "E: File 'parley-client.jar' does not exist.";

    /** Output of a comparison, and its exit status. */
    private record Compared(int status, String output) {}

    private static Compared compared(String old, String version, String lines, int status) throws Exception {
        Process process = new ProcessBuilder("python3", "-B", "-c", """
                        import build, compatibility, sys
                        old, new, lines, status = sys.argv[1:]
                        program = ["sh", "-c", 'echo "$1"; exit "$2"', "japicmp", lines, status]
                        try:
                            compatibility.compare(program, old, new)
                        except build.ReleaseError as failure:
                            sys.exit(f"release: {failure}")
                        """, old, version, lines, String.valueOf(status))
                .directory(Path.of("../deploy/release").toFile())
                .redirectErrorStream(true)
                .start();
        String output = process.inputReader().lines().collect(Collectors.joining("\n"));
        return new Compared(process.waitFor(), output);
    }

    @Test
    void theSameApiPasses() throws Exception {
        Compared result = compared("1.0.0", "1.0.1", "No changes.", 0);

        assertThat(result.output()).contains("the API is compatible with that of 1.0.0");
        assertThat(result.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1.0.0, 2.0.0", "0.1.0, 0.2.0"})
    void incompatibleChangesArePrintedIfTheVersionPermitsThem(String old, String version) throws Exception {
        Compared result = compared(old, version, INCOMPATIBLE, 1);

        assertThat(result.output()).contains(CHANGE, version + " may change the API of " + old);
        assertThat(result.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1.0.0, 1.1.0", "0.1.0, 0.1.1"})
    void incompatibleChangesFailIfTheVersionDoesNotPermitThem(String old, String version) throws Exception {
        Compared result = compared(old, version, INCOMPATIBLE, 1);

        assertThat(result.output()).contains(CHANGE, "the API is not compatible with that of " + old);
        assertThat(result.status()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"1.0.0, 2.0.0", "0.1.0, 0.2.0", "1.0.0, 1.0.1"})
    void aFailureOfTheComparisonItselfFailsWhateverTheVersion(String old, String version) throws Exception {
        Compared result = compared(old, version, FAILED, 1);

        assertThat(result.output()).contains("japicmp failed with exit status 1", FAILED);
        assertThat(result.status()).isEqualTo(1);
    }
}

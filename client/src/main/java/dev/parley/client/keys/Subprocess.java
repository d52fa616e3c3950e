package dev.parley.client.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs the small programs that operating systems have for their keyrings. Secrets are passed by standard input, because
 * every user of the machine can read command lines.
 *
 * @param environment of the program, besides that of this process
 */
record Subprocess(Map<String, String> environment) {
    /** Result of a program; {@code out} may be a secret. */
    record Ended(int status, String out, String complaint) {
        @Override
        public String toString() {
            return "Ended[status=" + status + "]";
        }
    }

    /** Long enough for a person to find and type the password that unlocks a keyring. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final int MAX_BYTES = 1024 * 1024;

    /** @throws ClientException if the program is not there or does not end */
    Ended run(List<String> command, String input) {
        String program = command.getFirst();
        try {
            // Into a file, because two pipes would need two readers; no program here writes a secret to it.
            Path complaints = Files.createTempFile("parley-keyring", ".txt");
            try {
                return run(command, input, complaints);
            } finally {
                Files.delete(complaints);
            }
        } catch (IOException e) {
            throw new ClientException(
                    Problem.KEYS, program + " cannot be run: is it installed? It gives access to the keyring", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for " + program, e);
        }
    }

    private Ended run(List<String> command, String input, Path complaints) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).redirectError(Redirect.to(complaints.toFile()));
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            var alarm = Thread.ofVirtual().start(() -> endLate(process));
            try (OutputStream in = process.getOutputStream()) {
                in.write(input.getBytes(UTF_8));
            } catch (IOException e) {
                // It ended without reading; its status says why.
            }
            String out = new String(process.getInputStream().readNBytes(MAX_BYTES), UTF_8);
            int status = process.waitFor();
            alarm.interrupt();
            return new Ended(status, out, Files.readString(complaints).strip());
        } finally {
            process.destroyForcibly();
        }
    }

    private static void endLate(Process process) {
        try {
            if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it has ended in time
        }
    }

    /** Returns the exception for a program that failed at {@code task}. */
    static ClientException failure(String task, Ended ended) {
        String why = ended.complaint().lines().findFirst().orElse("exit status " + ended.status());
        return new ClientException(Problem.KEYS, "the keyring cannot " + task + ": " + why);
    }
}

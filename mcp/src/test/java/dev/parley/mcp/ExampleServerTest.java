package dev.parley.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program with a tool of {@code docs/mcp.md}, compiled from the page and started as a process. */
@Timeout(60)
class ExampleServerTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("the lift of the documentation asks before it moves, in both eras, and ends with its input")
    void lift() throws Exception {
        Path source = Files.createDirectories(directory.resolve("example")).resolve("Lift.java");
        Matcher block = Pattern.compile("```java\n(package example;.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("..", "docs", "mcp.md")));
        assertThat(block.find()).isTrue();
        Files.writeString(source, block.group(1));
        String path = System.getProperty("java.class.path");
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-proc:none", "-cp", path, source.toString()))
                .isZero();

        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        directory + File.pathSeparator + path,
                        "example.Lift")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (OutputStream in = program.getOutputStream();
                var out = new BufferedReader(new InputStreamReader(program.getInputStream(), UTF_8))) {
            String meta = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                    + "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{}}}";
            String call =
                    "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'raise','arguments':{'meters':2},";
            assertThat(answer(in, out, call + meta + "}}")).contains("input_required", "Is the area clear?");
            assertThat(answer(in, out, call + "'inputResponses':{'consent':{'action':'accept'}}," + meta + "}}"))
                    .contains("Raised by 2 m");

            answer(
                    in,
                    out,
                    "{'jsonrpc':'2.0','id':2,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
                            + "'capabilities':{'elicitation':{}}}}");
            String question = answer(
                    in,
                    out,
                    "{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'raise',"
                            + "'arguments':{'meters':2}}}");
            Matcher id = Pattern.compile("\"id\":\"([^\"]+)\"").matcher(question);
            assertThat(id.find()).as(question).isTrue();
            assertThat(answer(in, out, "{'jsonrpc':'2.0','id':'" + id.group(1) + "','result':{'action':'decline'}}"))
                    .contains("Not raised");
            in.close();

            assertThat(program.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(program.exitValue()).isZero();
        } finally {
            program.destroyForcibly();
        }
    }

    private static String answer(OutputStream in, BufferedReader out, String message) throws Exception {
        in.write((message.replace('\'', '"') + "\n").getBytes(UTF_8));
        in.flush();
        return out.readLine();
    }
}

package dev.parley.bench;

import dev.parley.dialect.Json;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Cost of reading and writing the model as JSON. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class CodecBenchmark {
    private final Message message = Samples.message();
    private final Task task = Samples.task();
    private final TaskEvent statusUpdate = Samples.statusUpdate();
    private final TaskEvent artifactUpdate = Samples.artifactUpdate();
    private final byte[] messageJson = Json.write(message);
    private final byte[] taskJson = Json.write(task);
    private final byte[] segmentJson = segment();

    private byte[] segment() {
        String events = String.join(
                ",",
                text(Json.writeEvent(task)),
                text(Json.writeEvent(statusUpdate)),
                text(Json.writeEvent(artifactUpdate)));
        return ("[" + events + "]").getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] json) {
        return new String(json, StandardCharsets.UTF_8);
    }

    @Benchmark
    public Message readMessage() {
        return Json.read(messageJson, Message.class);
    }

    @Benchmark
    public byte[] writeMessage() {
        return Json.write(message);
    }

    @Benchmark
    public Task readTask() {
        return Json.read(taskJson, Task.class);
    }

    @Benchmark
    public byte[] writeTask() {
        return Json.write(task);
    }

    @Benchmark
    public byte[] writeStatusUpdate() {
        return Json.writeEvent(statusUpdate);
    }

    @Benchmark
    public byte[] writeArtifactUpdate() {
        return Json.writeEvent(artifactUpdate);
    }

    /** Three events, as a row of the log holds them. */
    @Benchmark
    public List<TaskEvent> readSegment() {
        return Json.readEvents(segmentJson);
    }
}

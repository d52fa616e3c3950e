package dev.parley.testkit;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import java.time.InstantSource;

final class MemoryTaskLogTest extends TaskLogContract {
    @Override
    protected TaskLog open(InstantSource clock, Once once) {
        return new MemoryTaskLog(clock, once);
    }
}

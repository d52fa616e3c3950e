package dev.parley.testkit;

import dev.parley.engine.spi.MemoryTaskLog;
import java.time.InstantSource;

final class MemoryPushStoreTest extends PushStoreContract {
    @Override
    protected Stores open(InstantSource clock) {
        var log = new MemoryTaskLog(clock);
        return new Stores(log, log.webhooks());
    }
}

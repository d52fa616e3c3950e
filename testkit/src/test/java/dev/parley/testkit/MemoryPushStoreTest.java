package dev.parley.testkit;

import dev.parley.engine.MemoryPushStore;
import dev.parley.engine.MemoryTaskLog;
import java.time.InstantSource;

final class MemoryPushStoreTest extends PushStoreContract {
    @Override
    protected Stores open(InstantSource clock) {
        return new Stores(new MemoryTaskLog(clock), new MemoryPushStore());
    }
}

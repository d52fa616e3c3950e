package dev.parley.cli.host;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import javax.management.NotificationEmitter;

/**
 * Bound on the garbage in the old generation of SerialGC, which by itself enlarges it up to the largest heap, a quarter of
 * the machine, before it collects it once. See ADR 24.
 *
 * <p>For the program only: the heap of a process that embeds a hub is the business of that process.
 */
public final class OldGeneration {
    /** Name of the pool in the JVM's management beans; other collectors have none of this name. */
    private static final String POOL = "Tenured Gen";

    /** Garbage that is always allowed, so that small heaps are not collected all the time. */
    private static final long LEAST = 96L << 20;

    private final MemoryPoolMXBean pool;

    private OldGeneration(MemoryPoolMXBean pool) {
        this.pool = pool;
    }

    /** Has the old generation collected whenever it has doubled, and no less than 96 MiB were added. */
    public static void bound() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals(POOL) && pool.isUsageThresholdSupported()) {
                new OldGeneration(pool).watch();
            }
        }
    }

    private void watch() {
        if (ManagementFactory.getMemoryMXBean() instanceof NotificationEmitter emitter) {
            emitter.addNotificationListener(
                    (notification, none) -> collect(),
                    notification -> notification.getType().equals(MemoryNotificationInfo.MEMORY_THRESHOLD_EXCEEDED),
                    null);
            allowGarbage();
        }
    }

    /** Called on the JVM's thread for notifications, one at a time. */
    private void collect() {
        System.gc();
        allowGarbage();
    }

    private void allowGarbage() {
        MemoryUsage usage = pool.getUsage();
        long threshold = usage.getUsed() + Math.max(usage.getUsed(), LEAST);
        // Beyond the largest heap the JVM collects by itself; 0 stands for no threshold.
        pool.setUsageThreshold(usage.getMax() >= 0 && threshold > usage.getMax() ? 0 : threshold);
    }
}

package dev.parley.gateway.push;

import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.extension.HubTasks;
import dev.parley.gateway.push.RelayTable.Relay;
import dev.parley.gateway.push.SharedRuns.Run;
import dev.parley.protocol.TaskState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Runs of shadows whose hub has ended. The engine takes over shadows that work; this has one hub go on with those that wait for their
 * caller: if the gateway follows their tasks, or has events that are not emitted yet. Safe for any thread.
 */
final class EndedRuns {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");

    /** One of so many looks is made also if no other hub is known to have ended. */
    private static final int LOOKS = 10;

    private static final int BATCH = 64;

    private final HubTasks tasks;
    private final SharedRuns shared;
    private final RelayTable relays;
    private final ShadowRuns runs;
    private final Consumer<Relay> goOn;
    private final AtomicBoolean isBusy = new AtomicBoolean();

    // Only for the thread that looks.
    private int hubs;
    private int looks;
    private boolean isUnfinished;

    /** @param goOn has a shadow run at this hub; fails if it cannot at present */
    EndedRuns(HubTasks tasks, SharedRuns shared, RelayTable relays, ShadowRuns runs, Consumer<Relay> goOn) {
        this.tasks = tasks;
        this.shared = shared;
        this.relays = relays;
        this.runs = runs;
        this.goOn = goOn;
    }

    /** Looks for hubs that have ended, once a second at most, and takes their runs on a thread of its own. For one thread. */
    void look() {
        int known = hubs;
        hubs = shared.hubs();
        looks++;
        if (!isUnfinished && known == hubs && looks % LOOKS != 0 || isBusy.get()) {
            return;
        }
        List<Long> ended = shared.ended();
        isUnfinished = !ended.isEmpty();
        if (isUnfinished && isBusy.compareAndSet(false, true)) {
            Thread.ofVirtual().name("gateway-push").start(() -> {
                try {
                    ended.forEach(this::takeAll);
                } catch (RuntimeException failure) {
                    if (!runs.isStopping()) {
                        LOG.log(Level.WARNING, "webhooks of a hub that has ended wait for the next attempt", failure);
                    }
                } finally {
                    isBusy.set(false);
                }
            });
        }
    }

    private void takeAll(long hub) {
        String last = "";
        for (List<Run> page = shared.of(hub, last, BATCH); !page.isEmpty(); page = shared.of(hub, last, BATCH)) {
            for (Run run : page) {
                if (runs.isStopping()) {
                    return;
                }
                take(run);
            }
            last = page.getLast().shadow();
        }
    }

    private void take(Run run) {
        Relay relay = relays.ofShadow(run.shadow()).orElse(null);
        TaskState state = relay == null
                ? null
                : tasks.find(relay.scope().group(), run.shadow())
                        .map(Head::state)
                        .orElse(null);
        if (relay == null || state == null || state.isTerminal()) {
            boolean unused = shared.remove(run, "", 0);
        } else if (state.isInterrupted()) {
            // The next notification leads to a run, if nothing is left of the earlier ones.
            long emitted = runs.emitted(relay.scope(), run.shadow());
            if ((relay.isFollowed() || !shared.remove(run, relay.id(), emitted)) && shared.take(run)) {
                goOn(run, relay);
            }
        }
    }

    private void goOn(Run run, Relay relay) {
        try {
            goOn.accept(relay);
        } catch (RuntimeException failure) {
            shared.giveBack(run);
            throw failure;
        }
    }

    /** Removes rows of this hub whose relays and runs are gone. */
    void sweep() {
        if (!shared.isShared()) {
            return;
        }
        String last = "";
        for (List<Run> page = shared.own(last, BATCH); !page.isEmpty(); page = shared.own(last, BATCH)) {
            for (Run run : page) {
                if (!runs.has(run.shadow()) && relays.ofShadow(run.shadow()).isEmpty()) {
                    shared.end(run.shadow());
                }
            }
            last = page.getLast().shadow();
        }
    }
}

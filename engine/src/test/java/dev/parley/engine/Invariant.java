package dev.parley.engine;

/** What always holds, as ARCHITECTURE.md lists it, as far as a {@link Simulation} can tell. */
enum Invariant {
    NUMBERED("A task is the fold of its events; events are numbered from 1 without gaps and never change."),
    DURABLE("No event is visible outside before it is on disk."),
    ONE_READ("A blocking send, a stream, a resumption and a webhook are the same operation"),
    ONE_LIVE_TASK("At most one `LiveTask` exists for a task"),
    ONE_TASK("A message leads to one task. Where several engines write to a log, its agent starts after a claim"),
    SCOPED("Every read names a scope (group and owner) and an agent"),
    READ_BEFORE_ASKING("A task waits for its caller on disk only if no accepted message waits for its agent."),
    WORKED_AT("A task that has not ended, and does not wait for its caller, has a run that is active or waits"),
    SUBMITTED("A task that waits for a slot of its agent is in state submitted on disk"),
    WRITER("Nothing on the log's writer thread waits for a lock that is held during I/O."),
    CLOSED("No handler begins once the engine closes"),
    WEBHOOK_WITH_MESSAGE("A webhook that came with a message is on disk if and only if the message is."),
    ONE_SENDER("One engine at a time sends the events of a webhook"),
    SEEDED("A seed decides the order of everything in the simulation"),
    HEALED("The hub recovers from a fault of the disk without a restart");

    private final String beginning;

    Invariant(String beginning) {
        this.beginning = beginning;
    }

    /** How its sentence in ARCHITECTURE.md begins. */
    String beginning() {
        return beginning;
    }
}

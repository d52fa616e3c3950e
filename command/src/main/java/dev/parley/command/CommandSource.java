package dev.parley.command;

import java.util.List;

/** Provides commands of the program {@code parley}; found by {@link java.util.ServiceLoader}. */
@FunctionalInterface
public interface CommandSource {
    /** The commands, in the order of the help. A group of a name that exists has its commands added to that group. */
    List<CommandEntry> commands();
}

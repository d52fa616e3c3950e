/**
 * Commands that extensions add to the program {@code parley}.
 *
 * <pre>{@code
 * public final class Rooms implements CommandSource {
 *     public List<CommandEntry> commands() {
 *         return List.of(CommandEntry.of("rooms", "List the rooms of a thermometer", ListRooms::new));
 *     }
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.command;

import org.jspecify.annotations.NullMarked;

/**
 * Web console of a hub: its page, the files of the page, and sessions of browsers. Hubs find it by itself; {@code --console off} turns it
 * off:
 *
 * <pre>{@code
 * Hub.builder().agents(agent).extension(new ConsoleSource()).start();
 * }</pre>
 */
@NullMarked
package dev.parley.console;

import org.jspecify.annotations.NullMarked;

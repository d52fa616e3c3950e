/** The console of a hub in a real Chromium: what a reader sees, can do, and is kept from. */
@NullMarked
package dev.parley.interop.console;

import org.jspecify.annotations.NullMarked;

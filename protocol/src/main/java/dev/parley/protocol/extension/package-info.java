/** Operations of extensions: their rows on the wire, and the forms of their values. */
@NullMarked
package dev.parley.protocol.extension;

import org.jspecify.annotations.NullMarked;

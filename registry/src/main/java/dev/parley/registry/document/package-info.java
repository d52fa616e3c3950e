/** Documents of entries: what they say, their differences, and addresses and secrets in them. */
@NullMarked
package dev.parley.registry.document;

import org.jspecify.annotations.NullMarked;

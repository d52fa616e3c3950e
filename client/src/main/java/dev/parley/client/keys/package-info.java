/** Keys of services, and where they are kept. */
@NullMarked
package dev.parley.client.keys;

import org.jspecify.annotations.NullMarked;

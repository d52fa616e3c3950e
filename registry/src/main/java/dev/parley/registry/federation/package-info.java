/** Other registries that a registry asks and copies. */
@NullMarked
package dev.parley.registry.federation;

import org.jspecify.annotations.NullMarked;

/** Reports on the use and the reliability of the agents of a hub. */
@NullMarked
package dev.parley.registry.reports;

import org.jspecify.annotations.NullMarked;

/** Health of registered agents. */
@NullMarked
package dev.parley.registry.health;

import org.jspecify.annotations.NullMarked;

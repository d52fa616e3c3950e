@NullMarked
package dev.parley.agents;

import org.jspecify.annotations.NullMarked;

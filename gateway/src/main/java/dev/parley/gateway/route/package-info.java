/** Routes to remote agents: their rows, the owners of their tasks, and the endpoint that passes operations on. */
@NullMarked
package dev.parley.gateway.route;

import org.jspecify.annotations.NullMarked;

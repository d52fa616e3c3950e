/** The replicas of a route: choice, health, retries and timeouts of calls to a remote agent. */
@NullMarked
package dev.parley.gateway.upstream;

import org.jspecify.annotations.NullMarked;

/** Credentials of a gateway at remote agents. */
@NullMarked
package dev.parley.gateway.credentials;

import org.jspecify.annotations.NullMarked;

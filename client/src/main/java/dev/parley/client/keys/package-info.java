/** Keys of services, where they are kept, and logins by OAuth 2.0. */
@NullMarked
package dev.parley.client.keys;

import org.jspecify.annotations.NullMarked;

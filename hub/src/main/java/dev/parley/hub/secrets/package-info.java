/** Files with the secrets of a hub, their match with the database, and their way to another hub. */
@NullMarked
package dev.parley.hub.secrets;

import org.jspecify.annotations.NullMarked;

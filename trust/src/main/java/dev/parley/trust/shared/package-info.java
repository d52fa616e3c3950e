/** Facts about calls that the hubs of one database have in common. */
@NullMarked
package dev.parley.trust.shared;

import org.jspecify.annotations.NullMarked;

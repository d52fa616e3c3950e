/** Logins of users by OAuth 2.0. */
@NullMarked
package dev.parley.client.login;

import org.jspecify.annotations.NullMarked;

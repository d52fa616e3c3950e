/** Requests of OAuth 2.0 clients, and the answers to them. Sends nothing itself. */
@NullMarked
package dev.parley.client.oauth;

import org.jspecify.annotations.NullMarked;

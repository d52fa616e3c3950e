/**
 * Who calls, and what they have to show; and by which keys cards are signed ({@link CardKeys}) and believed ({@link
 * CardTrust}).
 *
 * <pre>{@code
 * Callers callers = Callers.builder()
 *         .apiKey("alice", System.getenv("ALICES_KEY"))
 *         .oauthClient("shop", "shop-client", System.getenv("SHOPS_SECRET"))
 *         .build();
 * Trust trust = Trust.builder(callers)
 *         .everywhere(Authentication.of(Scheme.API_KEY, Scheme.OAUTH2))
 *         .agent("public", Authentication.NONE)
 *         .hub(() -> "https://agents.example.com")
 *         .build();
 * CallContext caller = trust.caller("echo", request.headers());
 * }</pre>
 */
@NullMarked
package dev.parley.trust;

import org.jspecify.annotations.NullMarked;

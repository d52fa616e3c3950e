/**
 * HTTP/1.1, HTTP/2 and TLS by Helidon, and all repairs of it. The only package that sees Helidon's types; the rest of the module
 * sees {@link dev.parley.server.helidon.HelidonServer} and its {@link dev.parley.server.helidon.Exchange}s.
 *
 * <p>The repairs rely on how Helidon behaves inside, so they are reviewed for one version of it:
 * {@link dev.parley.server.helidon.HelidonVersion}. See docs/adr/0005 and docs/adr/0030.
 */
@NullMarked
package dev.parley.server.helidon;

import org.jspecify.annotations.NullMarked;

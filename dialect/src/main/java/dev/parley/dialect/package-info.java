/**
 * Codec of the wire: JSON-RPC, REST and SSE of each A2A version, their errors and cards, in both directions.
 *
 * <p>Bytes become operations, results and events become bytes. Nothing here opens a socket:
 *
 * <pre>{@code
 * WireAnswer answer = new Dialects(DialectSettings.DEFAULTS).answer(request, agent, CallContext.anonymous());
 * }</pre>
 */
@NullMarked
package dev.parley.dialect;

import org.jspecify.annotations.NullMarked;

/** What {@code status.proto} is in Java, made at build time. */
@NullMarked
package dev.parley.dialect.grpc.rpc;

import org.jspecify.annotations.NullMarked;

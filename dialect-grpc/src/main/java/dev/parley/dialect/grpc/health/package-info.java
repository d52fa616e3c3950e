/** What {@code health.proto} is in Java, made at build time. */
@NullMarked
package dev.parley.dialect.grpc.health;

import org.jspecify.annotations.NullMarked;

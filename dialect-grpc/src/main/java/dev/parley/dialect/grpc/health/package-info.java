/** Messages of the gRPC health service, generated from {@code health.proto}. */
@NullMarked
package dev.parley.dialect.grpc.health;

import org.jspecify.annotations.NullMarked;

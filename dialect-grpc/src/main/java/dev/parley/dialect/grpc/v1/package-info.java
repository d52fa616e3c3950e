/** Messages of A2A 1.0, generated from {@code a2a_v1.proto}. */
@NullMarked
package dev.parley.dialect.grpc.v1;

import org.jspecify.annotations.NullMarked;

/** Messages of A2A 0.3, generated from {@code a2a_v03.proto}. */
@NullMarked
package dev.parley.dialect.grpc.v03;

import org.jspecify.annotations.NullMarked;

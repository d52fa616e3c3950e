/** Status messages of gRPC, generated from {@code status.proto}. */
@NullMarked
package dev.parley.dialect.grpc.rpc;

import org.jspecify.annotations.NullMarked;

/** A2A over gRPC. */
@NullMarked
package dev.parley.dialect.grpc;

import org.jspecify.annotations.NullMarked;

/** Messages of gRPC server reflection, generated from {@code reflection.proto}. */
@NullMarked
package dev.parley.dialect.grpc.reflection;

import org.jspecify.annotations.NullMarked;

/** What {@code reflection.proto} is in Java, made at build time. */
@NullMarked
package dev.parley.dialect.grpc.reflection;

import org.jspecify.annotations.NullMarked;

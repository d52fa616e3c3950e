/** Messages of gRPC of the knowledge graph extension. */
@NullMarked
package dev.parley.knowledge.grpc;

import org.jspecify.annotations.NullMarked;

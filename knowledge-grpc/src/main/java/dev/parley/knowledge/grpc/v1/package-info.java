/** Messages of the knowledge graph extension, generated from {@code knowledge_v1.proto}. */
@NullMarked
package dev.parley.knowledge.grpc.v1;

import org.jspecify.annotations.NullMarked;

/** Messages of the knowledge graph extension, generated from {@code knowledge_v1.proto}. */
@NullMarked
package dev.parley.dialect.grpc.knowledge;

import org.jspecify.annotations.NullMarked;

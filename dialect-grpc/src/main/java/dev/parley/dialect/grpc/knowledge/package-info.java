/** What {@code knowledge_v1.proto} is in Java: the messages of the knowledge graph extension, made at build time. */
@NullMarked
package dev.parley.dialect.grpc.knowledge;

import org.jspecify.annotations.NullMarked;

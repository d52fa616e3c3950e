/**
 * A knowledge graph that agents share: statements with certainty, age and provenance.
 *
 * <pre>{@code
 * try (Graph graph = Graph.open(Path.of("graph"))) {
 *     graph.update(Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of("active")))), context);
 *     QueryResult found = graph.query(Query.graphql("{ entity(id: \"ex:p1\") { value(predicate: \"ex:status\") } }", Map.of()), context);
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.knowledge;

import org.jspecify.annotations.NullMarked;

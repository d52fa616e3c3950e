/** Queries and subscriptions in GraphQL. */
@NullMarked
package dev.parley.knowledge.graphql;

import org.jspecify.annotations.NullMarked;

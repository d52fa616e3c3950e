/** The store of statements on a SPARQL 1.1 server. */
@NullMarked
package dev.parley.knowledge.remote;

import org.jspecify.annotations.NullMarked;

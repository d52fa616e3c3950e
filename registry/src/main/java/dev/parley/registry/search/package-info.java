/** Search in the entries of a registry by words, filters and facets, with the reasons of each result. */
@NullMarked
package dev.parley.registry.search;

import org.jspecify.annotations.NullMarked;

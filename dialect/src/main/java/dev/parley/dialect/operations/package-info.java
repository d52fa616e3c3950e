/** Tables of operations, their places over JSON-RPC and REST. */
@NullMarked
package dev.parley.dialect.operations;

import org.jspecify.annotations.NullMarked;

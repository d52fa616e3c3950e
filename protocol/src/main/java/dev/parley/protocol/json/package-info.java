/** Codecs of JSON: values from and to streams of tokens. */
@NullMarked
package dev.parley.protocol.json;

import org.jspecify.annotations.NullMarked;

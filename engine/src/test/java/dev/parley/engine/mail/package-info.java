@NullMarked
package dev.parley.engine.mail;

import org.jspecify.annotations.NullMarked;

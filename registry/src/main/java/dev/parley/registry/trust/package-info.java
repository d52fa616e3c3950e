/** Verification of documents: signatures, trust manifests, attestations, revocations. */
@NullMarked
package dev.parley.registry.trust;

import org.jspecify.annotations.NullMarked;

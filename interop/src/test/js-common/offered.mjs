/** Thrown where a release of the SDK has no way to ask for something. */
export class NotOffered extends Error {}

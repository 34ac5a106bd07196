/** A name of the browser's library that declarations of the AI SDK use; Node's own types lack it. */
type HeadersInit = ConstructorParameters<typeof Headers>[0];
